"""Tables for the terminal: a title, headings, no lines."""

from __future__ import annotations

from rich.table import Table


def plain_table(title: str) -> Table:
    """An empty table with its title on the left."""
    return Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), pad_edge=False
    )
