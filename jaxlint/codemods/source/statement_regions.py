"""The lines of each statement of a file, and the smallest region around a place that can be parsed separately."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from jaxlint.finding import Span


class Region:
    """Whole lines that hold one statement, or several that share lines: 1-based, the last inclusive.

    `body` completes a header whose block is left out.
    """

    __slots__ = ("body", "first", "indented", "last")

    def __init__(self, first: int, last: int, *, indented: bool, body: str = "") -> None:
        self.first = first
        self.last = last
        self.indented = indented
        self.body = body


def smallest_region(tree: ast.Module, lines: Sequence[str], span: Span) -> Region | None:
    """The smallest region that can be parsed separately and contains all of `span`; None if only the whole file does."""
    found: Region | None = None
    block: Sequence[ast.stmt] | None = tree.body
    while block is not None:
        here = _sharing(block, span.line, span.end_line)
        if not here:
            return found
        first, last = first_line(here[0]), _last_line(here[-1])
        if first > span.line or last < span.end_line:
            return found
        before = lines[here[0].lineno - 1].encode()[: here[0].col_offset]
        if before.strip():
            return found  # the block stands on the line of its header
        if not lines[here[0].lineno - 1].lstrip().startswith("elif"):
            found = Region(first, last, indented=bool(before))
        if len(here) > 1:
            return found
        [statement] = here
        body = getattr(statement, "body", None)
        if found is not None and found.first == first and body and _is_header(statement, body, span, lines):
            below = lines[body[0].lineno - 1]
            indent = below[: len(below) - len(below.lstrip())]
            return Region(first, first_line(body[0]) - 1, indented=bool(before), body=f"{indent}pass")
        block = next((one for one in _blocks(statement) if one and _covers(one, span)), None)
    return found


def _is_header(statement: ast.stmt, body: Sequence[ast.stmt], span: Span, lines: Sequence[str]) -> bool:
    """Whether `span` ends before the first line of the block of `statement`, which begins its line."""
    if isinstance(statement, ast.Try | ast.TryStar) or span.end_line >= first_line(body[0]):
        return False
    return not lines[body[0].lineno - 1].encode()[: body[0].col_offset].strip()


def _sharing(block: Sequence[ast.stmt], first: int, last: int) -> list[ast.stmt]:
    """The adjacent statements of a block on these lines, and those that share a line with one of them."""
    start = bisect_left(block, first, key=_last_line)
    end = bisect_right(block, last, key=first_line)
    if start >= end:
        return []
    while start > 0 and _last_line(block[start - 1]) >= first_line(block[start]):
        start -= 1
    while end < len(block) and first_line(block[end]) <= _last_line(block[end - 1]):
        end += 1
    return list(block[start:end])


def _covers(block: Sequence[ast.stmt], span: Span) -> bool:
    return first_line(block[0]) <= span.line and span.end_line <= _last_line(block[-1])


def _blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, ())
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def first_line(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    return min([statement.lineno, *(part.lineno for part in getattr(statement, "decorator_list", ()))])


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno
