"""Benchmarks replace the figures of a page, and leave its prose alone."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from benchmarks.pages import END, START, page_of_figures, put

ROOT = Path(__file__).resolve().parents[2]
PAGE = f"# A page\n\nProse.\n\n{START}\n\nold\n\n{END}\n\n## More\n\n<!-- others -->\n\nthese\n\n{END}\n\nAt the end.\n"


def test_figures_are_replaced_and_prose_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    put(page_of_figures(str(page)), "new\n")
    assert page.read_text() == PAGE.replace("old", "new")
    put(page, "those", "<!-- others -->")
    assert page.read_text() == PAGE.replace("old", "new").replace("these", "those")


@pytest.mark.parametrize("text", [None, "# Prose\n", f"{START}\n", f"{END}\n{START}\n"])
def test_a_page_without_marks_is_refused_before_anything_is_measured(
    tmp_path: Path, text: str | None
) -> None:
    page = tmp_path / "page.md"
    if text is not None:
        page.write_text(text)
    with pytest.raises(argparse.ArgumentTypeError, match=r"page\.md"):
        page_of_figures(str(page))


@pytest.mark.parametrize("name", ["arrays", "cluster", "robustness", "speed", "staging"])
def test_pages_of_commands_that_write_have_marks(name: str) -> None:
    page_of_figures(str(ROOT / "benchmarks" / "results" / f"{name}.md"))
