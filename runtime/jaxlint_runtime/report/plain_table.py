"""Tables for the terminal, with a title, headings and no lines, and reports without a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

_WIDTH = 120


def plain_table(title: str) -> Table:
    """An empty table with its title on the left."""
    return Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), pad_edge=False
    )


def plain_text(parts: Iterable[RenderableType]) -> str:
    """The parts of a report as text of a fixed width, without colours."""
    buffer = io.StringIO()
    console = plain_console(file=buffer, width=_WIDTH, color_system=None)
    for part in parts:
        console.print(part)
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def plain_console(**how: Any) -> Console:
    """Names and messages come from the program: none of them is interpreted as markup, an emoji or a terminal
    command."""
    return Console(highlight=False, markup=False, emoji=False, **how)
