"""Pages of results: prose that people write, and figures that a command replaces, which stand between two marks."""

from __future__ import annotations

import argparse
from pathlib import Path

START, END = "<!-- figures -->", "<!-- end of figures -->"


def page_of_figures(name: str) -> Path:
    """A page that has both marks, as the type of an option: another one is refused before hours of measuring."""
    page = Path(name)
    if not page.is_file():
        raise argparse.ArgumentTypeError(
            f"{name}: no such file; write the page first, with {START} and {END}"
        )
    _, found, rest = page.read_text(encoding="utf-8").partition(START)
    if not found or END not in rest:
        raise argparse.ArgumentTypeError(f"{name}: has no marks {START} and {END}")
    return page


def put(page: Path, figures: str, start: str = START) -> None:
    """Replaces what stands between a mark and the end of figures after it."""
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{start}\n\n{figures.strip()}\n\n{END}{after}", encoding="utf-8")
