"""The donated buffers that the compiler really reuses for outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alias:
    """Output number `output` is written into the buffer of parameter number `parameter`."""

    output: int
    parameter: int


_HEADER = re.compile(r"input_output_alias=\{(.*?)\}, entry_computation_layout", re.DOTALL)
_ENTRY = re.compile(r"\{(\d*)[\d, ]*\}:\s*\((\d+),")


def aliases(hlo: str) -> tuple[Alias, ...]:
    """The aliases stated in the header of an optimised HLO module."""
    header = hlo.split("\n", 1)[0]
    found = _HEADER.search(header)
    if not found:
        return ()
    return tuple(Alias(int(output or 0), int(parameter)) for output, parameter in _ENTRY.findall(found[1]))
