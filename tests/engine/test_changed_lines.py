"""Which lines of a module are not as they were."""

from __future__ import annotations

import difflib
import random

import pytest

from jaxlint.narrowing.changed import _former, changed_lines


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


def test_the_former_self_of_a_renamed_file() -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    edited = text.replace("line 3", "another")
    assert difflib.SequenceMatcher(None, text, edited).ratio() > 0.9
    assert _former(["x\ny", text], edited) == text
    assert _former(["x\ny"], edited) is None
    assert _former([], edited) is None
