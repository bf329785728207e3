"""The edited file, and its guarantees: it parses, its line ends are unchanged, and no comment is lost.

Every write goes through here: the fixes of findings, and the edits that `verify` has proven.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Sequence

from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.text_edits import apply_edits, lines_of
from jaxlint.finding import Edit, Span
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.syntax.comments import comments_in
from jaxlint.syntax.parse import parse_source

_LINE_END = re.compile(r"\r\n|\r|\n")
_SHOWN = 60  # characters of a comment in a message


def edited(source: SourceFile, edits: Sequence[Edit], meant: Collection[Span] = ()) -> SourceFile:
    """`source` after `edits`, which may lose the comments at the places in `meant` and no others.

    Raises Refused if edits overlap, if the file's container rejects them, if the parser rejects the result, or if a
    comment would be lost.
    """
    try:
        result = _replaced(source, edits)
    except ValueError as error:
        raise Refused(str(error)) from None
    _check_parses(result)
    lost = lost_comments(source.text, result.text)
    if meant and lost:
        lost -= _touched(source.text, meant)
    if lost:
        raise Refused(f"the rewrite would lose a comment: {_short(min(lost))}")
    return result


def lost_comments(before: str, after: str) -> Counter[str]:
    """The comments of one text that the other lacks, with their counts."""
    if before == after or "#" not in before:
        return Counter()
    return Counter(text for text, _, _ in comments(before)) - Counter(text for text, _, _ in comments(after))


def comments(text: str) -> tuple[tuple[str, int, int], ...]:
    """The comments of a module, without trailing white space, each with its 1-based line and column. Raises Refused."""
    try:
        return comments_in(text)
    except (tokenize.TokenError, SyntaxError) as error:
        raise Refused(f"Python's tokenizer rejects the file: {error}") from None


def _replaced(source: SourceFile, edits: Sequence[Edit]) -> SourceFile:
    """Raises ValueError."""
    text = apply_edits(source.text, edits)
    if source.container is None:
        return dataclasses.replace(source, text=text, missed=None)
    container = source.container.edited(edits)
    return dataclasses.replace(source, text=container.code, container=container)


def with_line_ends_of(text: str, edit: Edit) -> Edit:
    """The edit with the line ends of the file, if these are uniform."""
    if "\n" not in edit.content and "\r" not in edit.content:
        return edit
    kinds = _line_ends(text)
    if len(kinds) != 1:
        return edit
    [newline] = kinds
    return dataclasses.replace(edit, content=_LINE_END.sub(newline, edit.content))


@functools.lru_cache(maxsize=8)
def _line_ends(text: str) -> frozenset[str]:
    return frozenset(_LINE_END.findall(text)) if "\r" in text else frozenset("\n")


def _check_parses(source: SourceFile) -> None:
    """Raises Refused if the parser rejects the text."""
    try:
        parse_source(source)
    except SourceError as error:
        raise Refused(f"{source.display} would no longer parse ({error.message})") from None


def is_in_comment(text: str, span: Span) -> bool:
    """Whether `span` contains nothing but a comment, or a part of one, and white space."""
    start, end = lines_of(text).range(span)
    return any(
        max(start, first) < min(end, last) and not (text[start:first] + text[last:end]).strip()
        for first, last in _comment_ranges(text)
    )


def _touched(text: str, spans: Collection[Span]) -> Counter[str]:
    """The comments that overlap `spans`."""
    ranges = [lines_of(text).range(span) for span in spans]
    return Counter(
        text[first:last].rstrip()
        for first, last in _comment_ranges(text)
        if any(max(start, first) < min(end, last) for start, end in ranges)
    )


def _comment_ranges(text: str) -> list[tuple[int, int]]:
    lines = lines_of(text)
    starts = [(comment, lines.offset(line, column)) for comment, line, column in comments(text)]
    return [(start, start + len(comment)) for comment, start in starts]


def _short(comment: str) -> str:
    return comment if len(comment) <= _SHOWN else comment[: _SHOWN - 1] + "…"
