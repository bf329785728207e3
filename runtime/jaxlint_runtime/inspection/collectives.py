"""Bytes that a compiled program sends between devices, read from its HLO."""

from __future__ import annotations

import math
import re
from collections import Counter

_WIDTHS = {"pred": 1, "s4": 0.5, "u4": 0.5, "c64": 8, "c128": 16, "bf16": 2}
_KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|ragged-all-to-all|collective-broadcast"
_OPERATION = re.compile(rf"^\s*(?:ROOT )?%?[\w.-]+ = (.+?) (?:{_KINDS})(-start)?\(", re.MULTILINE)
_KIND = re.compile(rf" ({_KINDS})(?:-start)?\(")
_SHAPE = re.compile(r"\b([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]")


def collective_bytes(hlo: str) -> float:
    """Bytes of the results of all collectives, each instruction once; 0 in a program for one device."""
    total = 0.0
    for shapes, start in _OPERATION.findall(hlo):
        sizes = [_bytes(dtype, dims) for dtype, dims in _SHAPE.findall(shapes)]
        # The start of an asynchronous pair yields (operand, result, ...): the result is the largest of them.
        total += max(sizes, default=0.0) if start else sum(sizes)
    return total


def _bytes(dtype: str, dims: str) -> float:
    width = _WIDTHS.get(dtype)
    if width is None:
        digits = re.match(r"[a-z]+(\d+)", dtype)
        width = int(digits[1]) / 8 if digits else 0
    return width * math.prod(int(n) for n in dims.split(",") if n)


def collective_counts(hlo: str) -> dict[str, int]:
    """How many collectives of each kind a compiled program holds, each instruction once."""
    return dict(Counter(_KIND.findall(hlo)))
