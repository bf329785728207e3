"""The notation of expected findings is read as it says, and what is not well formed is refused with its place."""

from __future__ import annotations

import pytest

from tests.helpers.marks import BadMark, Mark, plain, read_marks

PROGRAM = """\
# source: google/flax#4085
# missed: the length: only known at the call

import jax
if x > 0:  # finding
    f(x)\t# finding: tracer-branch, key-reuse
g(x)  # noqa  # finding-also
h(x)  # finding-other
i(x)  # finding-missed
# findings in prose, and a word: no mark
"""
HEADER = ("source", "missed")


def test_marks_say_where_of_which_kind_and_of_which_rules() -> None:
    marked = read_marks(PROGRAM, header=HEADER)
    assert marked.marks == (
        Mark(5, "finding"),
        Mark(6, "finding", ("tracer-branch", "key-reuse")),
        Mark(7, "finding-also"),
        Mark(8, "finding-other"),
        Mark(9, "finding-missed"),
    )
    assert marked.lines() == {5, 6}
    assert marked.lines("finding-other") == {8}


def test_a_header_ends_with_the_first_line_that_is_none() -> None:
    about = {"source": "google/flax#4085", "missed": "the length: only known at the call"}
    assert read_marks(PROGRAM, header=HEADER).about == about
    assert read_marks(PROGRAM).about == {}
    assert read_marks("# A comment.\n# source: a#1\n", header=HEADER).about == {}


def test_without_marks_lines_stay_where_they_are() -> None:
    text = plain(PROGRAM)
    assert text.splitlines()[4:] == [
        "if x > 0:",
        "    f(x)",
        "g(x)  # noqa",
        "h(x)",
        "i(x)",
        "# findings in prose, and a word: no mark",
    ]
    assert plain(text) == text


@pytest.mark.parametrize(
    "line",
    [
        "x  # finding here",
        "x  # finding:",
        "x  # finding: Tracer-Branch",
        "x  # finding: tracer-branch,key-reuse",
        "x  # finding-elsewhere",
        "x  # finding-also-",
        "x  #finding : a",
        "x  # finding  # noqa",
    ],
)
def test_what_is_no_mark_is_refused_with_its_place(line: str) -> None:
    with pytest.raises(BadMark, match=r"pkg/program\.py:2: `# finding"):
        read_marks(f"import jax\n{line}\n", "pkg/program.py")


@pytest.mark.parametrize(
    "line", ["# sauce: a#1", "# source:", "# source: ", "# missed: a\n# missed: b", "# family: prng"]
)
def test_what_is_no_header_is_refused_with_its_place(line: str) -> None:
    with pytest.raises(BadMark, match=r"pkg/program\.py:\d: `# "):
        read_marks(f"{line}\nimport jax\n", "pkg/program.py", header=HEADER)
