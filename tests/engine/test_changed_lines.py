"""Which lines of a module are not as they were."""

from __future__ import annotations

import difflib
import random
import time

import pytest

from jaxlint.narrowing.changed import _Gone, changed_lines


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc", "a\nb\nc", set()),
        ("a\nb\nc", "a\nx\nc", {2}),
        ("a\nb", "x\na\nb\ny", {1, 4}),
        ("a\nb\nc", "a\nc", set()),
        ("a\r\nb\r\n", "a\nb\n", set()),
        ("a\na", "a\na\na", {3}),
        ("", "a\nb", {1, 2}),
        (None, "a\nb", {1, 2}),
    ],
)
def test_changed_lines(before: str | None, after: str, lines: set[int]) -> None:
    assert changed_lines(before, after) == lines


def test_what_is_not_changed_can_be_taken_from_before() -> None:
    draw = random.Random(3)
    for _ in range(200):
        before = [draw.choice("abcd") for _ in range(draw.randrange(12))]
        after = [draw.choice("abcd") for _ in range(draw.randrange(12))]
        changed = changed_lines("\n".join(before), "\n".join(after))
        kept = [
            line for number, line in enumerate("\n".join(after).split("\n"), start=1) if number not in changed
        ]
        rest = iter("\n".join(before).split("\n"))
        assert all(line in rest for line in kept)  # in this order


ALIKE = {
    "one line, twenty thousand times": (["x = 1"] * 20_000, 0),
    "seven lines, in another order": ([f"x = {number % 7}" for number in range(20_000)], 20_000),
    "each line twice": ([f"x = {number // 2}" for number in range(20_000)], 0),
    "other lines": ([f"x = {number}" for number in range(50_000)], 0),
}


@pytest.mark.parametrize("name", ALIKE)
def test_lines_that_are_alike_are_compared_in_seconds(name: str) -> None:
    """`difflib` takes hours for twenty thousand equal lines."""
    lines, also = ALIKE[name]
    before = ["first", *lines, "a", "b", "last"]
    after = ["new", *(lines[also // 2 :] + lines[: also // 2]), "c", "a", "b", "new"]
    started = time.process_time()
    changed = changed_lines("\n".join(before), "\n".join(after))
    assert time.process_time() - started < 5
    assert {1, len(after) - 3, len(after)} <= changed
    assert name == "one line, twenty thousand times" or len(changed) <= 3 + also


def test_a_moved_function_is_new_where_it_stands_now() -> None:
    one, two = (["", "", f"def {name}(x):", "    y = x", f"    return {name} + y"] for name in "ab")
    rest = [f"line {number}" for number in range(30)]
    assert changed_lines("\n".join([*one, *rest, *two]), "\n".join([*rest, *two, *one])) == {
        36,
        37,
        38,
        39,
        40,
    }


def test_many_new_and_many_deleted_files_are_compared_in_seconds() -> None:
    gone = _Gone(["\n".join(f"x{file}_{line} = 1" for line in range(2_000)) for file in range(200)])
    started = time.process_time()
    found = [
        gone.former("\n".join(f"x{file}_{line} = 1" for line in range(100, 2_100))) for file in range(200)
    ]
    assert time.process_time() - started < 20
    assert found[0] == gone.texts[0]
    assert found[-1] is None  # that many are not compared


def test_the_former_self_of_a_renamed_file() -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    edited = text.replace("line 3", "another")
    assert difflib.SequenceMatcher(None, text, edited).ratio() > 0.9
    assert _Gone(["x\ny", text]).former(edited) == text
    assert _Gone(["x\ny"]).former(edited) is None
    assert _Gone([]).former(edited) is None
