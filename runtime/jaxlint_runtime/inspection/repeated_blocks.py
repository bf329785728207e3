"""Repeated blocks of a traced program: runs of equations that repeat, such as the layers of a network.

Only the equations matter, so any framework or loop may have written them. A cut between any two equations is always
correct; its place only decides what must be stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from jaxlint_runtime.compat import DropVar, Literal, is_jaxpr, open_jaxpr, user_frames
from jaxlint_runtime.lowering.avals import nbytes

_LEAST_EQUATIONS = 3  # equations in a block: fewer are an operation, not a layer
_REMATERIALISED = frozenset({"remat", "remat2", "checkpoint"})
_ADDRESS = re.compile(r"0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Block:
    """Equations `start` to `stop` (exclusive) of a jaxpr."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Stack:
    """Consecutive repeated blocks, all of `period` equations except perhaps the first and the last."""

    blocks: tuple[Block, ...]
    period: int


def stacks(jaxpr: Any) -> list[Stack]:
    """The stacks of repeated blocks in a jaxpr, in program order; empty if nothing repeats."""
    parts = open_jaxpr(jaxpr)
    numbers: dict[Any, int] = {}
    sequence = np.array(
        [numbers.setdefault(_signature(eqn), len(numbers)) for eqn in parts.eqns], dtype=np.int64
    )
    made = np.array([sum(nbytes(var.aval) for var in eqn.outvars) for eqn in parts.eqns], dtype=np.float64)
    return _search(parts, sequence, made, 0, len(sequence))


def is_rematerialised(eqn: Any) -> bool:
    """Whether an equation calls a function under `jax.checkpoint`."""
    return eqn.primitive.name in _REMATERIALISED


def call_site(equations: Sequence[Any]) -> tuple[str, int, str] | None:
    """(file, line, function) of the innermost user frame that all these equations have in common."""
    own = call_sites(equations)
    return own[0] if own else None


def call_sites(equations: Sequence[Any]) -> list[tuple[str, int, str]]:
    """The user frames that all these equations have in common, the innermost first."""
    common: list[tuple[str, int, str]] | None = None
    for eqn in equations:
        frames = user_frames(eqn)[::-1]
        if not frames:
            continue
        if common is None:
            common = frames
            continue
        length = 0
        while length < min(len(common), len(frames)) and common[length] == frames[length]:
            length += 1
        common = common[:length]
    return [frame for frame in reversed(common or []) if "site-packages" not in Path(frame[0]).parts]


def _signature(eqn: Any) -> Any:
    return (
        eqn.primitive.name,
        tuple(str(var.aval) for var in (*eqn.invars, *eqn.outvars)),
        tuple(sorted((name, _digest(value)) for name, value in eqn.params.items())),
    )


def _digest(value: Any) -> str:
    if is_jaxpr(value):
        return str([_signature(eqn) for eqn in open_jaxpr(value).eqns])
    if callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return _ADDRESS.sub("", repr(value))


def _search(parts: Any, sequence: np.ndarray, made: np.ndarray, low: int, high: int) -> list[Stack]:
    """The run of repeats with most bytes, then recursively on both sides of it."""
    best: tuple[float, int, int, int] | None = None  # bytes, -period, start, stop
    for period in range(_LEAST_EQUATIONS, (high - low) // 2 + 1):
        same = sequence[low : high - period] == sequence[low + period : high]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], same.view(np.int8), [0]))))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            if stop - start >= period:
                first, last = low + int(start), low + int(stop) + period
                found = (float(made[first:last].sum()), -period, first, last)
                best = found if best is None else max(best, found)
    if best is None:
        return []
    _, negative, first, last = best
    middle = _cut(parts, -negative, first, last)
    return [
        *_search(parts, sequence, made, low, first),
        middle,
        *_search(parts, sequence, made, last, high),
    ]


def _cut(parts: Any, period: int, first: int, last: int) -> Stack:
    """Cuts the run where least must be stored across the cuts."""
    crossing = _crossing_bytes(parts)
    offsets = range(min(period, last - first - 2 * period + 1))

    def kept(offset: int) -> tuple[float, int, int]:
        cuts = range(first + offset, last + 1, period)
        return sum(crossing[cut] for cut in cuts) / len(cuts), -len(cuts), offset

    inner = list(range(first + min(offsets, key=kept), last + 1, period))
    blocks = [Block(a, b) for a, b in pairwise(inner)]
    # A remainder belongs to the stack if it is most of a block, cut at another place than the author's.
    if 2 * (inner[0] - first) >= period:
        blocks.insert(0, Block(first, inner[0]))
    if 2 * (last - inner[-1]) >= period:
        blocks.append(Block(inner[-1], last))
    return Stack(tuple(blocks), period)


def _crossing_bytes(parts: Any) -> list[int]:
    """For each place between equations, the bytes computed before it and used after it."""
    defined: dict[Any, int] = {}
    used: dict[Any, int] = {}
    for index, eqn in enumerate(parts.eqns):
        for var in eqn.invars:
            if not isinstance(var, Literal) and var in defined:
                used[var] = index
        for var in eqn.outvars:
            if not isinstance(var, DropVar):
                defined[var] = index
    steps = np.zeros(len(parts.eqns) + 2, dtype=np.int64)
    for var in parts.outvars:
        if not isinstance(var, Literal) and var in defined:
            used[var] = len(parts.eqns)
    for var, index in used.items():
        steps[defined[var] + 1] += nbytes(var.aval)
        steps[index + 1] -= nbytes(var.aval)
    return list(np.cumsum(steps))
