"""Edits of a text, applied together."""

import pytest

from jaxlint.codemods.source.text_edits import apply_edits
from jaxlint.finding import Edit, Span


def _inserted(*contents: str, text: str = "import a\nx = 1\n") -> str:
    return apply_edits(text, [Edit("a.py", Span(2, 1, 2, 1), content) for content in contents])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_two_functions_at_one_place_share_the_blank_lines_between_them(newline: str) -> None:
    functions = [f"\n\ndef {name}(): ...\n\n\n".replace("\n", newline) for name in "fg"]
    text = "import a\n\n\ndef f(): ...\n\n\ndef g(): ...\n\n\nx = 1\n".replace("\n", newline)
    assert _inserted(*functions, text="import a\nx = 1\n".replace("\n", newline)) == text


def test_the_longer_of_two_gaps_stays() -> None:
    assert _inserted("f()\n", "\ng()\n") == "import a\nf()\n\ng()\nx = 1\n"
    assert _inserted("f()\n\n", "\n\ng()\n") == "import a\nf()\n\n\ng()\nx = 1\n"
    assert _inserted("f()\n\n\n", "\ng()\n") == "import a\nf()\n\n\ng()\nx = 1\n"


def test_an_insertion_that_ends_inside_a_line_keeps_its_line_end() -> None:
    assert _inserted("f()", "\ng()\n") == "import a\nf()\ng()\nx = 1\n"
