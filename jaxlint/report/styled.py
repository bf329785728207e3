"""Text with styles, printed plainly or through rich.

Importing rich takes a tenth of a second, which output without colours, for a pipe or an editor, does not need.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from typing import TextIO

# A piece of a line and its style, "" for none.
Piece = tuple[str, str]


class Printer:
    """Writes lines of styled pieces to a stream, with colours if the stream is a terminal that supports them."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.styled = wants_colour(stream)
        self._console = None
        if self.styled:
            from rich.console import Console

            self._console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)

    def line(self, pieces: Iterable[Piece] = ()) -> None:
        if self._console is None:
            self.stream.write("".join(text for text, _ in pieces) + "\n")
            return
        from rich.text import Text

        self._console.print(Text.assemble(*pieces))


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set or the terminal is dumb; FORCE_COLOR overrides the
    terminal test."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width(text: str) -> int:
    """The number of terminal cells that `text` takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
