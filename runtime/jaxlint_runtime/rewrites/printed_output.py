"""Whether two versions of a program print the same lines, as far as its output is repeatable."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

RELATIVE = 1e-3  # of a number, always allowed
COARSE = 0.03  # the same for 16-bit computations
SPREAD = 4.0  # times the effect of rounding alone
_REPEATS = 0.1  # a number that varies more between runs is not compared
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w.])")
# numbers in lines about time differ between versions, as they should
_CLOCK = re.compile(
    r"\b(?:time|took|elapsed|seconds|secs?|ms|us|µs|throughput|fps|it/s|/s|s/step|steps/s|speed|duration)\b|\d\s?s\b",
    re.IGNORECASE,
)
# time stamps: a date, a time of day, seconds since 1970
_STAMP = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b|(?<![\w.])1[6-9]\d{8}(?:\.\d+)?(?![\w.])"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first differing line, in both versions; `lines` has the numbers of lines if these differ."""

    new: str = ""
    old: str = ""
    lines: tuple[int, int] | None = None


def differs(reference: str, others: Sequence[str], found: str, *, coarse: bool = False) -> str | None:
    """The first difference that neither repetition nor rounding explains; None if there is none.

    `others` are the outputs of the original's other runs, one of them with other rounding. `coarse`: 16-bit rounding
    is allowed.
    """
    other = first_difference(reference, others, found, coarse=coarse, bounded=True)
    if other is None:
        return None
    if other.lines is not None:
        return f"it prints {other.lines[0]} lines instead of {other.lines[1]}"
    return f"it prints {other.new[:80]!r} instead of {other.old[:80]!r}"


def first_difference(
    reference: str, others: Sequence[str], found: str, *, coarse: bool = False, bounded: bool = False
) -> Difference | None:
    """The same for any text, in parts. The first of `others` rounds like `reference`: a number that varies there is
    not compared.

    `bounded`: such a number must still not vary more than several times as far.
    """
    lines, again = _lines(reference), [_lines(text) for text in others]
    if any(len(one) != len(lines) for one in again):
        return None  # the program does not repeat what it prints
    ours = _lines(found)
    if len(ours) != len(lines):
        return Difference(lines=(len(ours), len(lines)))
    moving = _moving(lines, again[0]) if again and not bounded else set()
    for number, (left, right) in enumerate(zip(lines, ours, strict=True)):
        repeats = [one[number] for one in again]
        shape = _shape(left)
        if _CLOCK.search(left) or not all(_shape(one) == shape for one in repeats):
            continue
        if shape != _shape(right):
            return Difference(right.strip(), left.strip())
        for place, (a, b) in enumerate(zip(_numbers(left), _numbers(right), strict=True)):
            if (shape, place) in moving:
                continue
            spread = max((abs(float(_numbers(one)[place]) - float(a)) for one in repeats), default=0.0)
            if not _close(a, b, spread, COARSE if coarse else RELATIVE):
                return Difference(right.strip(), left.strip())
    return None


def compared_lines(reference: str, others: Sequence[str]) -> tuple[int, int]:
    """The number of repeatable printed lines, and how many of these contain repeatable numbers."""
    lines, again = _lines(reference), [_lines(text) for text in others]
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


def _moving(lines: Sequence[str], again: Sequence[str]) -> set[tuple[tuple[str, ...], int]]:
    """Numbers that vary between two runs with equal rounding, by the form of their lines: clocks, process ids,
    unseeded draws."""
    return {
        (_shape(left), place)
        for left, right in zip(lines, again, strict=True)
        if _shape(left) == _shape(right)
        for place, (a, b) in enumerate(zip(_numbers(left), _numbers(right), strict=True))
        if not _close(a, b, 0.0, RELATIVE)
    }


def _lines(text: str) -> list[str]:
    return [_STAMP.sub("<when>", line) for line in text.splitlines() if line.strip()]


def _close(a: str, b: str, spread: float, relative: float) -> bool:
    x, y = float(a), float(b)
    if not (math.isfinite(x) and math.isfinite(y)):
        return a.lower() == b.lower()
    if x == y:
        # a Python number that became an array, or an array of another type
        return _is_whole(a) == _is_whole(b)
    if _is_whole(a) and _is_whole(b):
        return abs(x - y) <= spread
    allowed = max(relative * abs(x), 1.5 * max(_last_place(a), _last_place(b)), SPREAD * spread)
    return abs(x - y) <= allowed


def _is_whole(number: str) -> bool:
    return "." not in number and "e" not in number.lower()


def _last_place(number: str) -> float:
    """The value of one unit in the last printed place."""
    mantissa, _, exponent = number.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def _numbers(line: str) -> list[str]:
    return _NUMBER.findall(line)


def _shape(line: str) -> tuple[str, ...]:
    """The line without its numbers and the width of its blanks."""
    return tuple(_NUMBER.sub("#", line).split())
