"""How claims about arrays are held against a recording."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.arrays.score import Score, scored, size_of

Case = tuple[str, list[str] | None]
Seen = tuple[str, list[int], dict[str, int]]


def score(cases: list[Case], seen: list[Seen], others: int = 0, complete: bool = True) -> Score:
    dtypes = {dtype for dtype, _ in cases}
    claim: dict[str, Any] = {
        "path": "a.py",
        "line": 1,
        "column": 0,
        "name": "x",
        "complete": complete,
        "dtype": dtypes.pop() if len(dtypes) == 1 else "",
        "shape": cases[0][1] if len(cases) == 1 else None,
        "cases": [{"dtype": dtype, "shape": shape} for dtype, shape in cases]
        if len(cases) > 1 or not complete
        else [],
    }
    place = {
        "place": ["a.py", 1, 0, "x"],
        "seen": len(seen),
        "arrays": len(seen),
        "others": others,
        "kept": seen,
    }
    return scored([claim], [place])


def test_one_array() -> None:
    said = score([("float32", ["3", "B"])], [("float32", [3, 4], {"B": 4})])
    assert (said.places, said.dtype_and_rank, said.all_sizes, said.of_one, said.wrong) == (1, 1, 1, 1, [])


@pytest.mark.parametrize(
    "seen", [("int32", [3], {}), ("float32", [3, 1], {}), ("float32", [4], {}), ("float32", [], {})]
)
def test_another_array_is_wrong(seen: Seen) -> None:
    assert score([("float32", ["3"])], [("float32", [3], {}), seen]).wrong


def test_a_symbol_is_worked_out_of_the_call() -> None:
    seen: Seen = ("float32", [8, 3], {"B": 4, "x.1": 3})
    assert not score([("float32", ["2*B", "x.1"])], [seen]).wrong
    assert score([("float32", ["B", "x.1"])], [seen]).wrong
    unknown = score([("float32", ["self.features", "3"])], [seen])
    assert not unknown.wrong
    assert unknown.unchecked == 1


def test_of_several_arrays_each_has_to_be_known() -> None:
    both = score([("float32", ["3"]), ("int32", ["2", "2"])], [("int32", [2, 2], {}), ("float32", [3], {})])
    assert (both.dtype_and_rank, both.all_sizes, both.of_one, both.wrong) == (1, 1, 0, [])
    part = score([("float32", ["3"]), ("", ["2", "2"])], [("int32", [2, 2], {})])
    assert (part.dtype_and_rank, part.all_sizes, part.wrong) == (0, 1, [])


def test_an_array_that_is_none_of_several_is_wrong() -> None:
    assert score([("float32", ["3"]), ("int32", ["2"])], [("int32", [3], {})]).wrong


def test_a_variable_that_was_no_array_once_does_not_count() -> None:
    assert score([("float32", ["3"])], [("float32", [3], {})], others=1).places == 0


def test_each_dtype_and_shape_of_a_place_is_one_value() -> None:
    seen: list[Seen] = [
        ("float32", [3], {}),
        ("float32", [3], {"B": 2}),
        ("int32", [2, 2], {}),
        ("int32", [5], {}),
    ]
    said = score([("float32", ["3"]), ("int32", ["?", "2"])], seen, complete=False)
    assert (said.values, said.ranked_values, said.sized_values) == (3, 2, 1)
    assert (said.places, said.dtype_and_rank, said.claims, said.open) == (1, 0, 0, 1)


def test_an_open_claim_is_wrong_where_no_array_is_one_of_its_cases() -> None:
    seen: list[Seen] = [("float32", [3], {}), ("int32", [2], {})]
    assert not score([("float32", ["3"])], seen, complete=False).wrong_open
    assert score([("float32", ["4"])], seen, complete=False).wrong_open
    assert score([("float32", ["4"])], seen, complete=False).all_right == 0


def test_sizes() -> None:
    assert size_of("(x.0 // 2)*B + 1", {"x.0": 7, "B": 2}) == 7
    assert size_of("n", {}) is None
    assert size_of("x.0 / 2", {"x.0": 7}) is None
