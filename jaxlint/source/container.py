"""A source file that is a container of parts: a notebook of cells, a Markdown page of code blocks.

The parts, concatenated, form one Python module. The analysis, the rules and the codemods see only that. This file
maps between the two: places in the module to places in the file, and edits of the module to edits of the parts.
Untouched lines stay byte for byte as they were.

In the module a blank line follows each part. It belongs to the part, so that text inserted after a part's last
statement has its own line, and no place is in two parts.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jaxlint.finding import Edit, Span


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a part: `code` as Python sees it, `text` as a reader sees it, `raw` as the file spells it.

    `indent` columns of `text` precede the code. A line is masked if its code is not what the reader sees, such as a
    shell command, which Python sees as blank.
    """

    code: str
    text: str
    raw: str
    indent: int = 0
    file_line: int = 0  # 1-based, 0 for a new line

    @property
    def masked(self) -> bool:
        return self.text[self.indent :] != self.code


_END = Line("", "", "")  # the blank line after a part


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of Python in a file. `spell` writes its lines as the file spells them, and `fresh` creates a new line
    of code.

    `gap` is the number of blank lines before it in the module, `cell` its 1-based number in a notebook. A part
    without `fresh` accepts no new lines.
    """

    lines: tuple[Line, ...]
    verbatim: str
    spell: Callable[[Sequence[Line]], str]
    fresh: Callable[[str], Line] | None
    gap: int = 0
    cell: int | None = None

    def edited(self, edits: Iterable[Edit]) -> Part:
        """The part after `edits`, whose lines count from the first line of the part. Raises ValueError."""
        lines = [*self.lines, _END]
        # From the end to the beginning, so that places before an edit stay valid.
        for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
            span = edit.span
            first, last = lines[span.line - 1], lines[span.end_line - 1]
            codes = (first.code[: span.column - 1] + edit.content + last.code[span.end_column - 1 :]).split(
                "\n"
            )
            old = lines[span.line - 1 : span.end_line]
            new = self._lines(codes, first, last, old)
            if any(line.masked and not any(line is kept for kept in new) for line in old):
                raise ValueError("the rewrite would touch a line that is not Python")
            lines[span.line - 1 : span.end_line] = new
        if lines[-1] is _END or (not lines[-1].text and len(lines) > 1):
            lines.pop()
        result = tuple(lines) or (Line("", "", ""),)
        return dataclasses.replace(self, lines=result, verbatim=self.spell(result))

    def _lines(self, codes: list[str], first: Line, last: Line, old: Sequence[Line]) -> list[Line]:
        """The lines with these codes, which replace the lines `old`. Unchanged lines are kept."""
        new: list[Line | None] = [None] * len(codes)
        if codes[-1] == last.code:
            new[-1] = last
        if codes[0] == first.code and (len(codes) > 1 or new[0] is None) and not (first is last and new[-1]):
            new[0] = first
        if self.fresh is None and len(codes) != len(old):
            raise ValueError("the rewrite would add or remove lines of an interactive session")
        made: list[Line] = []
        for index, (line, code) in enumerate(zip(new, codes, strict=True)):
            if line is not None:
                made.append(line)
            elif self.fresh is not None:
                made.append(self.fresh(code))
            else:
                prompt = old[index].text[: old[index].indent]
                made.append(Line(code, prompt + code, prompt + code, len(prompt)))
        return made


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is for a reader: the cell, if any, and the lines of the file."""

    span: Span
    cell: int | None
    file_line: int
    file_end_line: int


@dataclass(frozen=True, eq=False)
class Container:
    """The parts of a file, and `outside`, the text before, between and after them. `prelude` is one line of code
    before all parts, for names that a page does not import."""

    parts: tuple[Part, ...]
    outside: tuple[str, ...]
    prelude: str = ""

    @functools.cached_property
    def code(self) -> str:
        """The Python module that the parts form."""
        pieces = []
        for number, part in enumerate(self.parts):
            gap = "\n" * part.gap
            if number == 0 and self.prelude:
                gap = gap[:-1] + self.prelude + "\n"
            pieces += [gap, "\n".join(line.code for line in part.lines), "\n\n"]
        return "".join(pieces)

    @property
    def file_text(self) -> str:
        """The text of the file itself."""
        pieces = [self.outside[0]]
        for part, after in zip(self.parts, self.outside[1:], strict=True):
            pieces += [part.verbatim, after]
        return "".join(pieces)

    def cell_lines(self, cell: int) -> list[str]:
        """The lines of a notebook cell, as a reader sees them."""
        return [line.text for part in self.parts if part.cell == cell for line in part.lines]

    @functools.cached_property
    def last_lines(self) -> frozenset[int]:
        """The module lines that end notebook cells: the value of an expression there is displayed."""
        ends = []
        for part, (first, _) in zip(self.parts, self._ranges, strict=True):
            if part.cell is not None:
                code = [number for number, line in enumerate(part.lines) if _has_code(line.code)]
                ends += [first + code[-1]] if code else []
        return frozenset(ends)

    @functools.cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        """The first line of each part in the module, and the blank line after it."""
        ranges, line = [], 1
        for part in self.parts:
            first = line + part.gap
            line = first + len(part.lines) + 1
            ranges.append((first, line - 1))
        return ranges

    def _part_at(self, line: int) -> int | None:
        number = bisect.bisect_right(self._ranges, line, key=lambda one: one[0]) - 1
        return number if number >= 0 and line <= self._ranges[number][1] else None

    def place(self, span: Span) -> Place:
        """The place of the module's `span` in the file. A span outside the parts keeps its line."""
        number = self._part_at(span.line)
        if number is None:
            return Place(span, None, span.line, span.end_line)
        part, (first, end) = self.parts[number], self._ranges[number]
        last_line = min(span.end_line, end)
        begin = self._line(number, span.line)
        finish = self._line(number, last_line)
        base = first - 1 if part.cell is not None else 0
        shown = Span(
            span.line - base,
            span.column + begin.indent,
            last_line - base,
            span.end_column + finish.indent if span.end_line <= end else 1,
        )
        if part.cell is None:
            return Place(shown, None, shown.line, shown.end_line)
        return Place(shown, part.cell, begin.file_line or 1, finish.file_line or begin.file_line or 1)

    def _line(self, number: int, line: int) -> Line:
        lines = self.parts[number].lines
        index = line - self._ranges[number][0]
        return lines[index] if index < len(lines) else _END

    def own_edits(self, edits: Iterable[Edit]) -> list[tuple[int, Edit]]:
        """Each edit with the number of its part, without blank lines beyond the part. Raises ValueError if an edit
        spans two parts or lies outside all of them."""
        return [self._own(edit) for edit in edits]

    def _own(self, edit: Edit) -> tuple[int, Edit]:
        start, end = (edit.span.line, edit.span.column), (edit.span.end_line, edit.span.end_column)
        number = self._part_at(start[0])
        if start < end and (number is None or start[0] == self._ranges[number][1]):
            # It begins in the blank lines before its part.
            following = [n for n, (first, _) in enumerate(self._ranges) if start[0] < first <= end[0]]
            number = following[0] if following else number
            if following:
                start = (self._ranges[following[0]][0], 1)
        if number is None and self.prelude and start == end and start[0] < self._ranges[0][0]:
            # An edit at the implied imports: insert where the page itself can have an import.
            number, start, end = 0, (self._ranges[0][0], 1), (self._ranges[0][0], 1)
        if number is None:
            raise ValueError("the rewrite lies outside of the code")
        last = self._ranges[number][1]
        if end > (last, 1):
            others = [n for n, (first, _) in enumerate(self._ranges) if n > number and (first, 1) < end]
            # Only whole lines can be removed along with the blank ones; otherwise the next part would join this one.
            whole = edit.content.endswith("\n") or (not edit.content and start[1] == 1)
            if others or not whole:
                raise ValueError("the rewrite would span two parts of the file")
            end = (last, 1)
        return number, dataclasses.replace(edit, span=Span(*start, *end))

    def edited(self, edits: Iterable[Edit]) -> Container:
        """The container after `edits` of the module, which do not overlap. Raises ValueError if one is impossible in
        the file."""
        by_part: dict[int, list[Edit]] = {}
        for number, edit in self.own_edits(edits):
            shift = self._ranges[number][0] - 1
            span = edit.span
            moved = Span(span.line - shift, span.column, span.end_line - shift, span.end_column)
            by_part.setdefault(number, []).append(dataclasses.replace(edit, span=moved))
        parts = tuple(
            part.edited(by_part[number]) if number in by_part else part
            for number, part in enumerate(self.parts)
        )
        return dataclasses.replace(self, parts=parts)


def _has_code(line: str) -> bool:
    """Whether a line of Python is neither blank nor a comment."""
    bare = line.strip()
    return bool(bare) and not bare.startswith("#")
