"""How a statement lies in its text: what shares its lines, its comment, its block."""

from __future__ import annotations

import ast

from jaxlint.codemods.site import Site
from jaxlint.finding import Span


def siblings(site: Site, statement: ast.stmt) -> list[ast.stmt]:
    """The block of statements that `statement` stands in."""
    parent = site.names.parents[statement]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def is_alone(site: Site, statement: ast.stmt) -> bool:
    """Whether no other statement shares a line with `statement`."""
    span = site.span(statement)
    before = site.lines.lines[span.line - 1][: span.column - 1]
    after = site.lines.lines[span.end_line - 1][span.end_column - 1 :].lstrip()
    return not before.strip() and (not after or after.startswith("#"))


def trailing_comment(site: Site, statement: ast.stmt) -> str:
    span = site.span(statement)
    after = site.lines.lines[span.end_line - 1][span.end_column - 1 :].strip()
    return after if after.startswith("#") else ""


def whole_lines(site: Site, statement: ast.stmt, inserted: set[int]) -> Span:
    """The lines of `statement`, and a blank line that its removal would leave doubled."""
    span = site.span(statement)
    lines = site.lines.lines
    first, last = span.line, span.end_line  # 1-based, inclusive
    above_blank = first == 1 or not lines[first - 2].strip()
    if above_blank and first not in inserted and last < len(lines) - 1 and not lines[last].strip():
        last += 1
    if last >= len(lines):  # the last line has no end of its own
        return Span(first, 1, len(lines), len(lines[-1]) + 1)
    return Span(first, 1, last + 1, 1)
