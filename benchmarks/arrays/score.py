"""What jaxlint said of arrays, held against a recording."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

MOST_EXAMPLES = 3
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
Wrong = tuple[list[Any], dict[str, Any], list[str]]


@dataclass(slots=True)
class Score:
    """Places where a variable was an array whenever it was bound and not None, and the values that were seen there:
    at one place each dtype and shape is one value.

    A place is known where a complete claim says it of each of its cases. A value is known where a case, of a complete
    or an open claim, says it and fits.
    """

    places: int = 0
    dtype_and_rank: int = 0
    all_sizes: int = 0
    of_one: int = 0  # of those with dtype and rank: one array, not one of several
    claims: int = 0  # complete ones, of which anything is said
    open: int = 0  # claims that leave other arrays open
    unchecked: int = 0  # with a size that the recording lacks
    values: int = 0
    ranked_values: int = 0
    sized_values: int = 0
    wrong: list[Wrong] = field(default_factory=list)  # complete claims: an array is none of the cases
    wrong_open: list[Wrong] = field(default_factory=list)  # open claims: no array is one of the cases

    @property
    def right(self) -> float:
        return 1 - len(self.wrong) / self.claims if self.claims else 1.0

    @property
    def all_right(self) -> float:
        """Of complete and open claims together."""
        claims = self.claims + self.open
        return 1 - (len(self.wrong) + len(self.wrong_open)) / claims if claims else 1.0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Score)))


def counted(place: Mapping[str, Any]) -> bool:
    """Whether the variable was an array whenever it was seen."""
    return bool(place["arrays"]) and not place["others"]


def cases_of(claim: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Each array that the variable may be."""
    return claim["cases"] or [claim]


def is_ranked(case: Mapping[str, Any]) -> bool:
    return bool(case["dtype"]) and case["shape"] is not None


def is_sized(case: Mapping[str, Any]) -> bool:
    return case["shape"] is not None and "?" not in case["shape"]


def scored(claims: list[dict[str, Any]], places: list[dict[str, Any]]) -> Score:
    """A claim of several cases says as much as the least of them. It is wrong where one array that was seen is none of
    them; an open claim where all are."""
    by_key = {(c["path"], c["line"], c["column"], c["name"]): c for c in claims}
    score = Score()
    for place in filter(counted, places):
        score.places += 1
        values = {(dtype, tuple(shape)) for dtype, shape, _ in place["kept"]}
        score.values += len(values)
        claim = by_key.get(tuple(place["place"]))
        if claim is None:
            continue
        cases = cases_of(claim)
        wrong, unchecked = _wrong(cases, place["kept"])
        score.unchecked += unchecked
        score.ranked_values += _described(list(filter(is_ranked, cases)), place["kept"])
        score.sized_values += _described(list(filter(is_sized, cases)), place["kept"])
        if not claim.get("complete", True):
            score.open += 1
            if len(wrong) == len(place["kept"]):
                score.wrong_open.append((place["place"], claim, wrong[:MOST_EXAMPLES]))
            continue
        score.claims += 1
        score.dtype_and_rank += all(map(is_ranked, cases))
        score.all_sizes += all(map(is_sized, cases))
        score.of_one += is_ranked(claim)
        if wrong:
            score.wrong.append((place["place"], claim, wrong[:MOST_EXAMPLES]))
    return score


def _described(cases: list[Mapping[str, Any]], kept: list[Any]) -> int:
    """How many of the arrays that were seen are one of `cases` whenever they were seen."""
    found: dict[object, bool] = {}
    for dtype, shape, numbers in kept:
        fits = any(_fits(case, dtype, shape, numbers) is not False for case in cases)
        value = (dtype, tuple(shape))
        found[value] = found.get(value, True) and fits
    return sum(found.values())


def _wrong(cases: list[Mapping[str, Any]], kept: list[Any]) -> tuple[list[str], bool]:
    """The arrays that are none of `cases`, and whether a size could not be checked."""
    wrong: list[str] = []
    unchecked = False
    for dtype, shape, numbers in kept:
        answers = [_fits(case, dtype, shape, numbers) for case in cases]
        if True not in answers:
            unchecked = unchecked or None in answers
            if None not in answers:
                wrong.append(f"{dtype}{shape}")
    return wrong, unchecked


def _fits(case: Mapping[str, Any], dtype: str, shape: list[int], numbers: Mapping[str, int]) -> bool | None:
    """Whether a case describes this array; None if a size of it is not in the recording."""
    if case["dtype"] and case["dtype"] != dtype:
        return False
    if case["shape"] is None:
        return True
    if len(case["shape"]) != len(shape):
        return False
    sizes = [
        (size_of(text, numbers), size) for text, size in zip(case["shape"], shape, strict=True) if text != "?"
    ]
    if any(said is not None and said != size for said, size in sizes):
        return False
    return None if any(said is None for said, _ in sizes) else True


def size_of(text: str, numbers: Mapping[str, int]) -> int | None:
    """What a size stands for in one call; None where the recording does not say it."""
    try:
        found = eval(
            _NAME.sub(lambda name: str(numbers[name[0]]), text), {"__builtins__": {}}
        )  # a sum of products
    except (KeyError, SyntaxError, TypeError, NameError, ArithmeticError):
        return None
    return found if type(found) is int else None
