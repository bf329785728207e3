"""Comments that silence findings: `# jaxlint: ignore[tracer-branch]`, `# noqa: JAX101`, and for whole files.

A comment covers its own line. On the first or last line of a statement over several lines it covers the whole
statement. `# jaxlint: ignore` on a separate line covers the statement below.
"""

from __future__ import annotations

import bisect
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jaxlint.finding import Edit, Finding, Fix, Safety, Severity, Span
from jaxlint.registry import UnknownRule, all_rules, codes_of, find_rule
from jaxlint.source.file import SourceFile
from jaxlint.syntax.parse import split_lines

UNUSED_CODE = "JAX001"
UNUSED_NAME = "unused-suppression"

UNUSED_PAGE = f"""\
# {UNUSED_NAME} ({UNUSED_CODE})

A comment suppresses a rule that reports nothing there, or names a rule that does not exist.

A name in `# jaxlint: ignore[...]` that is not a rule is always reported. The rest is off by
default: turn it on with `--report-unused-suppressions`, or with
`report-unused-suppressions = true` in the configuration. Only `# jaxlint: ignore` comments and
codes of jaxlint in `# noqa` comments are reported, and only if the rules that they name took
part in the run.

## Why is this bad?

The comment tells readers of a problem that does not exist, and it would hide a later one.
"""

_MENTION = re.compile(r"jaxlint\s*:|noqa", re.IGNORECASE)
# A list that is not closed ends at the next `#`: each comment of a line is read once.
_LIST = r"\s*(?:\[(?P<rules>[^\]#]*)(?:\]|(?=#)))?"
_OWN = re.compile(rf"#\s*jaxlint\s*:\s*(?P<verb>ignore-file|ignore)\b(?!-){_LIST}", re.IGNORECASE)
# The comment that suppresses rules on a line.
OWN_LINE = re.compile(rf"#\s*jaxlint\s*:\s*ignore\b(?!-){_LIST}", re.IGNORECASE)
# After `noqa:` come codes, or names with a hyphen; any other word is prose, such as a reason.
_NOQA_RULE = r"(?:[A-Za-z]+\d+|[A-Za-z]+(?:-[A-Za-z]+)+)\b"
_NOQA = re.compile(
    rf"#\s*noqa\b(?:\s*(?P<colon>:)\s*(?P<rules>{_NOQA_RULE}(?:[,\s]+{_NOQA_RULE})*)?)?", re.IGNORECASE
)
_SPACE = re.compile(r"\s*")
_SHOWN = 60  # characters of a name
_MOST_GUESSES = 50  # names in a file for which the nearest rule is computed, a millisecond each
_END = 1 << 60  # after every line
_OUR_CODE = re.compile(r"JAX\d+", re.IGNORECASE)


@dataclass(slots=True)
class _Directive:
    """One suppression comment. `rules` is None for every rule; otherwise it has the meaning of each name."""

    span: Span
    removable: Span | None  # the range to delete the comment, if that is safe
    first: int  # the lines that it covers
    last: int
    rules: dict[str, frozenset[str]] | None
    unknown: list[str]
    reportable: bool = True
    own: bool = True  # not a `# noqa`, whose codes may belong to another tool
    used: set[str] = field(default_factory=set)

    def silences(self, code: str) -> bool:
        return self.rules is None or any(code in codes for codes in self.rules.values())


class Suppressions:
    """The suppression comments of one file."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.directives: list[_Directive] = []
        # Comments that cover one line, by line, and comments that cover several.
        self._of_line: dict[int, list[_Directive]] = {}
        self._of_lines: list[_Directive] = []
        self._misnamed: dict[str, int] = {}  # names that are not rules, in order
        if _MENTION.search(source.text):
            for comment in _comments(source.text):
                self.directives += _parse(comment)
        for directive in self.directives:
            if directive.first == directive.last:
                self._of_line.setdefault(directive.first, []).append(directive)
            else:
                self._of_lines.append(directive)

    def silences(self, finding: Finding) -> bool:
        """Whether a comment suppresses `finding`; records that the comment was used."""
        hit = False
        line = finding.span.line
        for directive in (*self._of_line.get(line, ()), *self._of_lines):
            if directive.first <= line <= directive.last and directive.silences(finding.code):
                directive.used.add(finding.code)
                hit = True
        return hit

    @staticmethod
    def mentioned(source: SourceFile) -> bool:
        """Whether the file may contain suppression comments; fast."""
        return "jaxlint" in source.text

    def misnamed(self) -> Iterator[Finding]:
        """A finding for each name in a suppression comment that is not a rule: its author believes that it suppresses
        something."""
        for directive in self.directives:
            if directive.own:
                yield from self._unknown(directive)

    def _unknown(self, directive: _Directive) -> Iterator[Finding]:
        for name in directive.unknown:
            self._misnamed.setdefault(name, len(self._misnamed))
            said = f"there is no rule {name[:_SHOWN]!r}"
            if self._misnamed[name] < _MOST_GUESSES and len(name) <= _SHOWN:
                try:
                    find_rule(name)
                except UnknownRule as error:
                    said = str(error)
            yield self._finding(directive, said, "the comment silences no finding of that rule")

    def unused(self, ran: Iterable[str]) -> Iterator[Finding]:
        """A finding for each comment that suppressed nothing, given the codes of the rules that ran.

        A comment whose rules did not run is not reported, and so is a bare `# noqa`, which may be meant for
        another tool.
        """
        ran = frozenset(ran)
        all_ran = all(rule.code in ran for rule in all_rules() if not rule.preview)
        for directive in self.directives:
            if not directive.reportable:
                continue
            if directive.unknown:
                yield from self._unknown(directive)
            elif directive.rules is None:
                if all_ran and not directive.used:
                    yield self._finding(directive, "this comment silences nothing")
            else:
                # A prefix or a category counts as used if any of its rules was suppressed.
                idle = [
                    name
                    for name, codes in directive.rules.items()
                    if codes <= ran and not codes & directive.used
                ]
                if idle:
                    message = f"`{'`, `'.join(idle)}` silences nothing here"
                    yield self._finding(directive, message, removable=len(idle) == len(directive.rules))

    def _finding(
        self, directive: _Directive, message: str, reason: str = "", *, removable: bool = True
    ) -> Finding:
        fix = None
        removable = removable and not directive.unknown
        if removable and directive.removable:
            edit = Edit(self.source.display, directive.removable, "")
            fix = Fix(Safety.SAFE, "Remove the comment", (edit,))
        return Finding(
            path=self.source.display,
            span=directive.span,
            code=UNUSED_CODE,
            name=UNUSED_NAME,
            category="api",
            severity=Severity.WARNING,
            message=f"Unused suppression: {message}",
            reason=reason or f"no finding was reported on {_lines(directive)}",
            fix=fix,
        )


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    line: int
    before: str  # the text before it on its line
    own_line: bool
    first: int  # the lines of the statement that it may cover
    last: int
    below: int  # last line of the statement below it


def _comments(text: str) -> list[_Comment]:
    """Every comment, with the lines of its statement."""
    found: list[tuple[tokenize.TokenInfo, str]] = []  # with the text before it
    statements: list[tuple[int, int]] = []
    start = 0
    lines = split_lines(text)
    readline = io.StringIO("\n".join(lines)).readline
    try:
        for token in tokenize.generate_tokens(readline):
            if token.type == tokenize.COMMENT:
                if _MENTION.search(token.string):
                    found.append((token, lines[token.start[0] - 1][: token.start[1]]))
            elif token.type == tokenize.NEWLINE:
                statements.append((start or token.start[0], token.start[0]))
                start = 0
            elif not start and token.type not in (
                tokenize.NL,
                tokenize.INDENT,
                tokenize.DEDENT,
                tokenize.ENDMARKER,
            ):
                start = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass  # the parser reports the error; the comments before it count
    return [_place(token, before, statements) for token, before in found]


def _place(token: tokenize.TokenInfo, before: str, statements: Sequence[tuple[int, int]]) -> _Comment:
    line = token.start[0]
    own_line = not before.strip()
    first = last = below = line
    # Statements are sorted: the first relevant one is the first that does not end above.
    at = bisect.bisect_left(statements, line, key=lambda lines: lines[1])
    for index in range(at, len(statements)):
        one, other = statements[index]
        if line in (one, other):  # several short statements may share the line: the union
            first, last = min(first, one), max(last, other)
        elif one < line < other:
            own_line = False  # inside brackets: there is no statement below
        elif one > line:
            below = other
            break
    return _Comment(token.string, line, before, own_line, first, last, below)


def _parse(comment: _Comment) -> Iterator[_Directive]:
    for match in _OWN.finditer(comment.text):
        first, last = comment.first, comment.last
        if match["verb"].lower() == "ignore-file":
            first, last = 1, _END
        elif comment.own_line:
            first, last = comment.line, comment.below
        rules, unknown = _rules(match["rules"])
        yield _Directive(_span(comment, match), _removable(comment, match), first, last, rules, unknown)
    for match in _NOQA.finditer(comment.text):
        rules, unknown = None, []
        ours = False
        if match["colon"]:
            rules, unknown = _rules(match["rules"] or "")
            ours = all(_OUR_CODE.fullmatch(name) for name in (*(rules or ()), *unknown))
            unknown = [name for name in unknown if _OUR_CODE.fullmatch(name)]
            if not rules and not unknown:
                continue  # for other tools
        span = _span(comment, match)
        removable = _removable(comment, match) if ours else None
        reportable = bool(match["colon"])
        yield _Directive(span, removable, comment.first, comment.last, rules, unknown, reportable, own=False)


def _names(rules: str) -> list[str]:
    return re.split(r"[,\s]+", rules.strip(", \t")) if rules.strip(", \t") else []


def _rules(text: str | None) -> tuple[dict[str, frozenset[str]] | None, list[str]]:
    """The codes that each name in a list means, and the names that mean nothing. Without a list: None, every rule."""
    if text is None:
        return None, []
    rules: dict[str, frozenset[str]] = {}
    unknown = []
    for name in _names(text):
        codes = codes_of(name)
        if codes:
            rules[name] = codes
        else:
            unknown.append(name)
    return rules, unknown


def _span(comment: _Comment, match: re.Match[str]) -> Span:
    column = len(comment.before) + match.start() + 1
    return Span(comment.line, column, comment.line, column + len(match.group().rstrip()))


def _removable(comment: _Comment, match: re.Match[str]) -> Span | None:
    """The directive with the space before it; None if text follows that would become code."""
    # Without copies of the text: a line may hold a hundred thousand comments.
    at = _SPACE.match(comment.text, match.end())
    assert at is not None
    rest = at.end() < len(comment.text)
    if rest and comment.text[at.end()] != "#":
        return None
    span = _span(comment, match)
    if not match.start():
        if comment.own_line:
            # The whole line, unless another comment stays on it.
            return None if rest else Span(comment.line, 1, comment.line + 1, 1)
        return Span(span.line, len(comment.before.rstrip()) + 1, span.end_line, span.end_column)
    kept = match.start()
    while comment.text[kept - 1].isspace():
        kept -= 1
    return Span(span.line, len(comment.before) + kept + 1, span.end_line, span.end_column)


def _lines(directive: _Directive) -> str:
    if directive.last == _END:
        return "this file"
    if directive.first == directive.last:
        return f"line {directive.first}"
    return f"lines {directive.first} to {directive.last}"
