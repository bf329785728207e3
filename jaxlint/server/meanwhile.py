"""Diagnostics to show while the files that use a document are checked: those of its text alone, and those that the
files gave for the previous text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jaxlint.finding import Finding, Span
from jaxlint.places import shown
from jaxlint.server.checking import Checked
from jaxlint.server.positions import changed_block
from jaxlint.syntax.parse import split_lines


@dataclass(frozen=True, slots=True)
class Known:
    """The findings of a text: all of them, and those of the text alone (of that text, or of a later one)."""

    whole: Checked
    alone: Checked


def beside(alone: Checked, before: Known | None) -> Checked:
    """The findings of a text alone, and those that other files gave for lines of the previous text that still exist; if
    the former are a part, all of the previous text."""
    source = alone.source
    if before is None or before.whole.source is None or source is None:
        return alone
    moved = _moved(split_lines(before.whole.source.text), split_lines(source.text))
    own = {_said(one) for one in alone.in_module}
    if not alone.partial:
        own |= {_said(one) for one in before.alone.in_module}
    kept = []
    for finding in before.whole.in_module:
        span = moved(finding.span) if _said(finding) not in own else None
        if span is not None:
            kept.append(dataclasses.replace(finding, span=span, fix=None))
    in_module = sorted([*alone.in_module, *kept], key=lambda one: one.sort_key)
    return Checked(source, shown(in_module, {source.display: source}), in_module, alone.errors)


def _said(finding: Finding) -> tuple[str, str, str | None]:
    """What identifies a finding when its line has moved."""
    return finding.code, finding.message, finding.function


def _moved(old: Sequence[str], new: Sequence[str]) -> Callable[[Span], Span | None]:
    """Maps a line of one text to a line of another that differs in one block of lines; None inside that block."""
    first, last, _ = changed_block(old, new)

    def move(span: Span) -> Span | None:
        if span.end_line <= first:
            return span
        if span.line <= last:
            return None
        by = len(new) - len(old)
        return Span(span.line + by, span.column, span.end_line + by, span.end_column)

    return move
