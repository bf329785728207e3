"""Finds the new lines of a text, in time proportional to its length, not to the square of it.

A file may hold the same line twenty thousand times, for which `difflib` takes hours. The algorithm first
matches lines that occur once in both texts, or equally often, in an order that both have; then it matches the
lines between them. The remaining lines are new.
"""

from __future__ import annotations

import bisect
import difflib
from collections import Counter
from collections.abc import Iterator, Sequence

_DEEPEST = 40  # rounds of matching lines between matched lines
_MOST_PAIRS = 20_000  # equal pairs in a part that `difflib` compares, which takes milliseconds

Part = tuple[int, int, int, int]  # lines of the old text from, to; of the new text from, to


def new_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[int]:
    """The lines of `new`, from 0, that are not in `old`, or are elsewhere."""
    parts: list[tuple[Part, int]] = [((0, len(old), 0, len(new)), 0)]
    while parts:
        part, depth = parts.pop()
        first, last, start, end = _trimmed(old, new, part)
        if first == last or start == end:
            yield from range(start, end)
            continue
        inner = first, last, start, end
        matched = (_matched(old, new, inner, 1) or _matched(old, new, inner)) if depth < _DEEPEST else []
        if matched:
            for one, other in [*matched, (last, end)]:
                parts.append(((first, one, start, other), depth + 1))
                first, start = one + 1, other + 1
        else:
            yield from _compared(old, new, (first, last, start, end))


def _trimmed(old: Sequence[str], new: Sequence[str], part: Part) -> Part:
    """Without the equal lines at both ends, which are most of a file."""
    first, last, start, end = part
    while first < last and start < end and old[first] == new[start]:
        first, start = first + 1, start + 1
    while first < last and start < end and old[last - 1] == new[end - 1]:
        last, end = last - 1, end - 1
    return first, last, start, end


def _matched(
    old: Sequence[str], new: Sequence[str], part: Part, most: int | None = None
) -> list[tuple[int, int]]:
    """The longest list of lines that occur equally often in each part, at most `most` times, and in the same order."""
    first, last, start, end = part
    counts = [Counter(old[first:last]), Counter(new[start:end])]
    places: dict[str, list[int]] = {}
    for number in range(last - 1, first - 1, -1):
        count = counts[0][old[number]]
        if count == counts[1][old[number]] and (most is None or count <= most):
            places.setdefault(old[number], []).append(number)
    pairs = [(places[new[number]].pop(), number) for number in range(start, end) if new[number] in places]
    # The longest increasing part: `ends[n]` is the pair that ends the best list of n + 1 pairs.
    ends: list[int] = []
    values: list[int] = []
    before: list[int | None] = []
    for number, (place, _) in enumerate(pairs):
        at = bisect.bisect_left(values, place)
        values[at : at + 1] = [place]
        ends[at : at + 1] = [number]
        before.append(ends[at - 1] if at else None)
    found = []
    at_pair = ends[-1] if ends else None
    while at_pair is not None:
        found.append(pairs[at_pair])
        at_pair = before[at_pair]
    return found[::-1]


def _compared(old: Sequence[str], new: Sequence[str], part: Part) -> Iterator[int]:
    """Lines that occur several times: `difflib` compares them if they are few; otherwise all are new."""
    first, last, start, end = part
    counts = [Counter(old[first:last]), Counter(new[start:end])]
    pairs = sum(count * counts[1][line] for line, count in counts[0].items())
    if pairs > _MOST_PAIRS:
        yield from range(start, end)
        return
    matcher = difflib.SequenceMatcher(None, old[first:last], new[start:end], autojunk=False)
    for kind, _, _, begin, stop in matcher.get_opcodes():
        if kind in ("replace", "insert"):
            yield from range(start + begin, start + stop)
