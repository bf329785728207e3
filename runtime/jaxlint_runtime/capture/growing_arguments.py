"""Arguments that grow with each compile, such as a decoder's cache that is appended to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jaxlint_runtime.capture.signature import Signature

_LEAST = 4  # compiles that count as growth


@dataclass(frozen=True, slots=True)
class Growth:
    """An argument array whose axis grew from `first` to `last` over `compiles` compiles."""

    place: str
    axis: int
    first: int
    last: int
    compiles: int


def growing(signatures: Sequence[Signature]) -> list[Growth]:
    """The arrays that grew over a function's compiles, in order; none for an axis that ever shrank or stayed."""
    if len(signatures) < _LEAST:
        return []
    return list(_growths(signatures))


def _growths(signatures: Sequence[Signature]) -> Iterator[Growth]:
    for place in signatures[0].leaves:
        found = [one.leaves.get(place) for one in signatures]
        shapes = [one.shape for one in found if one is not None and one.shape is not None]
        if len(shapes) < len(signatures) or len({len(shape) for shape in shapes}) > 1:
            continue
        changed = [axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1]
        if len(changed) != 1:
            continue
        sizes = [shape[changed[0]] for shape in shapes]
        if all(a < b for a, b in pairwise(sizes)):
            yield Growth(place, changed[0], sizes[0], sizes[-1], len(sizes))
