"""Whether two versions of a program print the same, as far as the program prints the same from run to run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w.])")
# numbers in lines that speak of time differ from version to version, which is what is wanted
_CLOCK = re.compile(
    r"\b(?:time|took|elapsed|seconds|secs?|ms|us|µs|throughput|fps|it/s|/s|s/step|steps/s|speed|duration)\b|\d\s?s\b",
    re.IGNORECASE,
)
_RELATIVE = 1e-3  # of a number, in any case
_COARSE = 0.03  # the same where it computes in 16 bits
_REPEATS = 0.1  # what moves by more from run to run says nothing
_SPREAD = 4.0  # times what rounding alone does to it


def differs(reference: str, others: Sequence[str], found: str, *, coarse: bool = False) -> str | None:
    """The first difference that neither repetition nor rounding explains; None when there is none.

    `others` are what the original printed in its other runs, one of them with other rounding. `coarse`: 16 bits are allowed to round.
    """
    lines = [line for line in reference.splitlines() if line.strip()]
    again = [[line for line in text.splitlines() if line.strip()] for text in others]
    if any(len(one) != len(lines) for one in again):
        return None  # the program does not repeat what it prints
    ours = [line for line in found.splitlines() if line.strip()]
    if len(ours) != len(lines):
        return f"it prints {len(ours)} lines instead of {len(lines)}"
    for number, (left, right) in enumerate(zip(lines, ours, strict=True)):
        repeats = [one[number] for one in again]
        if _CLOCK.search(left) or not all(_shape(one) == _shape(left) for one in repeats):
            continue
        if _shape(left) != _shape(right):
            return f"it prints {right.strip()[:80]!r} instead of {left.strip()[:80]!r}"
        for place, (a, b) in enumerate(zip(_numbers(left), _numbers(right), strict=True)):
            spread = max((abs(float(_numbers(one)[place]) - float(a)) for one in repeats), default=0.0)
            if not _close(a, b, spread, _COARSE if coarse else _RELATIVE):
                return f"it prints {right.strip()[:80]!r} instead of {left.strip()[:80]!r}"
    return None


def compared_lines(reference: str, others: Sequence[str]) -> tuple[int, int]:
    """How many printed lines repeat from run to run, and how many of these hold numbers that do."""
    lines = [line for line in reference.splitlines() if line.strip()]
    again = [[line for line in text.splitlines() if line.strip()] for text in others]
    if any(len(one) != len(lines) for one in again):
        return 0, 0
    repeating = numeric = 0
    for number, line in enumerate(lines):
        repeats = [one[number] for one in again]
        if _CLOCK.search(line) or not all(_shape(one) == _shape(line) for one in repeats):
            continue
        repeating += 1
        pairs = [pair for one in repeats for pair in zip(_numbers(line), _numbers(one), strict=True)]
        numeric += bool(_numbers(line)) and all(
            math.isclose(float(a), float(b), rel_tol=_REPEATS) for a, b in pairs
        )
    return repeating, numeric


def _close(a: str, b: str, spread: float, relative: float) -> bool:
    x, y = float(a), float(b)
    if not (math.isfinite(x) and math.isfinite(y)):
        return a.lower() == b.lower()
    if "." not in a and "e" not in a.lower():
        return x == y or abs(x - y) <= spread
    allowed = max(relative * abs(x), 1.5 * max(_last_place(a), _last_place(b)), _SPREAD * spread)
    return abs(x - y) <= allowed


def _last_place(number: str) -> float:
    """What one unit in the last printed place is worth."""
    mantissa, _, exponent = number.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def _numbers(line: str) -> list[str]:
    return _NUMBER.findall(line)


def _shape(line: str) -> tuple[str, ...]:
    """The line without its numbers and the width of its blanks."""
    return tuple(_NUMBER.sub("#", line).split())
