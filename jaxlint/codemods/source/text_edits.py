"""Text edits: converting positions to offsets, applying edits, and finding overlaps; and source text for messages."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Sequence

from jaxlint.finding import Edit, Span
from jaxlint.syntax.parse import split_lines

_BLANK_LINES_AT_THE_END = re.compile(r"(?:\r?\n)+\Z")
_BLANK_LINES_AT_THE_TOP = re.compile(r"(?:\r?\n)*")


def shown_source(node: ast.AST) -> str:
    """The first line of an expression or statement, cut to a length that fits a message."""
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= 40 else f"{text[:37]}..."


@functools.lru_cache(maxsize=8)
def lines_of(text: str) -> Lines:
    """The lines of a text, which thousands of fixes ask for one after the other."""
    return Lines(text)


class Lines:
    """Converts the spans of one text to offsets. Lines end as in Python's tokenizer: CRLF, CR or LF."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = split_lines(text)
        self.starts = [0]
        offset = 0
        for line in self.lines[:-1]:
            offset += len(line)
            offset += 2 if text.startswith("\r\n", offset) else 1
            self.starts.append(offset)

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based line and column. A place past the end of the text is its end."""
        if line > len(self.starts):
            return len(self.text)
        return min(self.starts[line - 1] + column - 1, len(self.text))

    def range(self, span: Span) -> tuple[int, int]:
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    def slice(self, span: Span) -> str:
        start, end = self.range(span)
        return self.text[start:end]

    def span(self, start: int, end: int) -> Span:
        """The span of a range of offsets."""
        return Span(*self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self.starts[middle] <= offset:
                low = middle
            else:
                high = middle
        return low + 1, offset - self.starts[low] + 1

    @property
    def newline(self) -> str:
        """The line end of this text, that of its first line."""
        if len(self.starts) == 1:
            return "\n"
        return self.text[len(self.lines[0]) : self.starts[1]]


def overlaps(one: Span, other: Span) -> bool:
    """Whether two edits exclude each other. Insertions at one place are compatible, in order; so are neighbours."""
    first, second = sorted((one, other))
    end = (first.end_line, first.end_column)
    start = (second.line, second.column)
    if (first.line, first.column) == end or start == (second.end_line, second.end_column):
        return (first.line, first.column) < start < end
    return start < end


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` after `edits`. Identical edits count once. Raises ValueError if two overlap."""
    lines = lines_of(text)
    ordered = _unique_sorted(edits)
    for before, after in itertools.pairwise(ordered):
        if overlaps(before.span, after.span):
            raise ValueError(f"edits overlap at line {after.span.line} of {after.path}")
    parts: list[str] = []
    position = 0
    for edit in ordered:
        start, end = lines.range(edit.span)
        between = text[position:start]
        parts += [between, edit.content if between or not parts else _below(parts[-1], edit.content)]
        position = end
    return "".join([*parts, text[position:]])


def _below(above: str, content: str) -> str:
    """`content` without the blank lines at its top that `above`, inserted at the same place, has at its end already."""
    ends, starts = _BLANK_LINES_AT_THE_END.search(above), _BLANK_LINES_AT_THE_TOP.match(content)
    if not ends or not starts:
        return content
    shared = min(ends[0].count("\n") - 1, starts[0].count("\n"))
    return content.split("\n", shared)[-1]


def _unique_sorted(edits: Iterable[Edit]) -> Sequence[Edit]:
    """In the order of the text; at one place insertions first, in the order given."""
    unique = dict.fromkeys(edits)
    return sorted(unique, key=lambda edit: edit.span)
