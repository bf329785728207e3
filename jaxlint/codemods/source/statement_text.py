"""The text of a statement: other code on its lines, its comment, its block."""

from __future__ import annotations

import ast
import re

from jaxlint.codemods.source.edited_file import comments
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Span

_SILENCES_BELOW = re.compile(r"jaxlint\s*:\s*ignore", re.IGNORECASE)


def siblings(site: Site, statement: ast.stmt) -> list[ast.stmt]:
    """The block that contains `statement`."""
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


def taken_out(site: Site, statement: ast.stmt) -> tuple[Span, str]:
    """The lines of `statement`, which it shares with no other, and what remains of them: its comments, a line for
    each.

    Raises Refused for a comment that would suppress findings in the statement below.
    """
    span = site.span(statement)
    indent = site.lines.lines[span.line - 1][: span.column - 1]
    kept = [text for text, line, _ in comments(site.source.text) if span.line <= line <= span.end_line]
    if any(_SILENCES_BELOW.search(text) for text in kept):
        raise Refused("a suppression comment on the statement would move to the next one")
    whole = whole_lines(site, statement, set()) if not kept else Span(span.line, 1, span.end_line + 1, 1)
    return whole, "".join(f"{indent}{text}{site.lines.newline}" for text in kept)


def whole_lines(site: Site, statement: ast.stmt, inserted: set[int]) -> Span:
    """The lines of `statement`, with a blank line that its removal would leave doubled."""
    span = site.span(statement)
    lines = site.lines.lines
    first, last = span.line, span.end_line  # 1-based, inclusive
    above_blank = first == 1 or not lines[first - 2].strip()
    if above_blank and first not in inserted and last < len(lines) - 1 and not lines[last].strip():
        last += 1
    if last >= len(lines):  # the last line has no line end
        return Span(first, 1, len(lines), len(lines[-1]) + 1)
    return Span(first, 1, last + 1, 1)
