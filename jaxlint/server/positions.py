"""Positions of findings as editors count them: from 0, in UTF-16 units or the unit that the editor requested."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types
from pygls.workspace import PositionCodec

from jaxlint.finding import Finding, Span
from jaxlint.places import lines_shown
from jaxlint.source import SourceFile
from jaxlint.syntax.parse import split_lines


@dataclass(frozen=True, slots=True)
class Text:
    """The lines that spans count in, and the editor's unit for columns."""

    lines: Sequence[str]
    codec: PositionCodec

    def position(self, line: int, column: int) -> types.Position:
        """`line` and `column` count from 1, columns in code points."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return types.Position(line - 1, self.codec.client_num_units(text[: max(column - 1, 0)]))

    def range(self, span: Span) -> types.Range:
        return types.Range(
            self.position(span.line, span.column), self.position(span.end_line, span.end_column)
        )

    def column(self, position: types.Position) -> int:
        """The column of an editor's position, from 0, in code points."""
        text = self.lines[position.line] if position.line < len(self.lines) else ""
        column = units = 0
        while column < len(text) and units < position.character:
            units += self.codec.client_num_units(text[column])
            column += 1
        return column


def lines_in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of equal lines at the start of both."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def changed_block(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """The block of lines in which two texts differ: its beginning in both, and its end in each, counted from 0."""
    first = lines_in_common(old, new)
    same = min(lines_in_common(old[::-1], new[::-1]), len(old) - first, len(new) - first)
    return first, len(old) - same, len(new) - same


def text_of_finding(finding: Finding, source: SourceFile, codec: PositionCodec) -> Text:
    return Text(lines_shown(finding, source), codec)


def text_of_cell(source: SourceFile, cell: int | None, codec: PositionCodec) -> Text:
    """The lines of the file, or of one cell."""
    if source.container is not None and cell is not None:
        return Text(source.container.cell_lines(cell), codec)
    return Text(split_lines(source.file_text), codec)
