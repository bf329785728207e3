"""Writes the comments that silence findings: `# jaxlint: ignore[JAX101]` at the end of each finding's line.

Where a line cannot end in a comment, inside a string say, the comment goes to the end of the statement, which it also
covers. An existing comment of ours gets the missing codes. Nothing else of a file changes.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods.source.edited_file import edited
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Edit, Finding, Span
from jaxlint.registry import code_order
from jaxlint.source.file import SourceFile
from jaxlint.suppress import OWN_LINE, UNUSED_CODE, Suppressions
from jaxlint.syntax.newer_grammar import tokens
from jaxlint.syntax.parse import split_lines


@dataclass(slots=True)
class Ignored:
    """A file with added comments: the findings that they suppress, and those without a place for a comment."""

    source: SourceFile
    silenced: list[Finding] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)


def with_ignores(source: SourceFile, findings: Sequence[Finding]) -> Ignored:
    """Suppresses `findings` of one file, with places in its module. Findings about a suppression comment
    itself are not suppressed.
    """
    result = Ignored(source)
    layout = _Layout(source.text)
    codes: dict[int, set[str]] = {}
    for finding in findings:
        if finding.code == UNUSED_CODE:
            continue
        codes.setdefault(layout.line_for(finding.span.line), set()).add(finding.code)
    made: list[tuple[Edit, Span | None]] = []
    for line, wanted in sorted(codes.items()):
        one = layout.comment(source.display, line, sorted(wanted, key=code_order))
        try:
            # Each one alone first: a notebook cell may refuse one, and the others still apply.
            _made(source, [one])
        except Refused:
            continue
        made.append(one)
    if made:
        try:
            result.source = _made(source, made)
        except Refused:
            result.source = source
    comments = Suppressions(result.source)
    for finding in findings:
        (result.silenced if comments.silences(finding) else result.left).append(finding)
    return result


def _made(source: SourceFile, edits: Sequence[tuple[Edit, Span | None]]) -> SourceFile:
    """Raises Refused."""
    return edited(source, [edit for edit, _ in edits], [span for _, span in edits if span is not None])


class _Layout:
    """Where a module has comments, and where it can have them."""

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.comments: dict[int, tuple[int, str]] = {}  # by line: the column from 0, and the text
        self.ends: dict[int, int] = {}  # the last line of the statement around each line
        self.closed: set[int] = set()  # lines that end inside a string
        start = 0
        for token in _tokens(self.lines):
            if token.type == tokenize.COMMENT:
                self.comments[token.start[0]] = (token.start[1], token.string)
            elif token.type == tokenize.NEWLINE:
                for line in range(start or token.start[0], token.start[0] + 1):
                    self.ends[line] = token.start[0]
                start = 0
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                start = start or token.start[0]
                self.closed |= set(range(token.start[0], token.end[0]))

    def line_for(self, line: int) -> int:
        """The line whose end can hold a comment for `line`."""
        closed = line in self.closed or (
            line not in self.comments and line <= len(self.lines) and self.lines[line - 1].endswith("\\")
        )
        return self.ends.get(line, line) if closed else line

    def comment(self, path: str, line: int, codes: Iterable[str]) -> tuple[Edit, Span | None]:
        """The edit that adds `codes` at the end of a line, and the comment that it changes."""
        text = self.lines[line - 1]
        column, comment = self.comments.get(line, (0, ""))
        changed = Span(line, column + 1, line, column + len(comment) + 1) if comment else None
        match = OWN_LINE.search(comment)
        if match is not None and match["rules"] is not None:
            names = [name for name in re.split(r"[,\s]+", match["rules"]) if name]
            added = ", ".join([*names, *(code for code in codes if code not in names)])
            first, last = column + match.start("rules") + 1, column + match.end("rules") + 1
            return Edit(path, Span(line, first, line, last), added), changed
        end = len(text.rstrip()) + 1
        added = f"  # jaxlint: ignore[{', '.join(codes)}]"
        return Edit(path, Span(line, end, line, len(text) + 1), added), changed


def _tokens(lines: Sequence[str]) -> list[tokenize.TokenInfo]:
    try:
        return tokens("\n".join(lines))
    except (tokenize.TokenError, SyntaxError):
        return []  # the result is checked before it is kept
