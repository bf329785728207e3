"""Findings for people: place, claim, surrounding code, reason, and whether there is a fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from jaxlint.finding import Finding, Fix, FixRequest, Safety, Severity
from jaxlint.places import lines_shown, position
from jaxlint.report.escaping import escaped, printable, shown_name
from jaxlint.report.styled import Piece, Printer, width
from jaxlint.source.file import SourceFile

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold blue"}
_NOUNS = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
_CONTEXT = 2  # lines before and after
_LINE_CELLS = 160  # longer lines are cut around the finding
_NEAR = 1_000  # characters of a line before a finding, and after its beginning


class TextReport:
    """Writes findings to a stream as they come. `sources` holds the files by the path in their findings."""

    def __init__(self, stream: TextIO, sources: Mapping[str, SourceFile], *, concise: bool = False) -> None:
        self.sources = sources
        self.concise = concise
        self._printer = Printer(stream)
        self._lines: dict[tuple[str, int | None], list[str]] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Writes them."""
        for finding in findings:
            self._printer.line(_head(finding))
            if self.concise:
                continue
            source = self.sources.get(finding.path)
            if source is not None:
                for line in _frame(finding, self._lines_of(finding, source)):
                    self._printer.line(line)
            for line in _notes(finding):
                self._printer.line(line)
            self._printer.line()

    def end(self, result: CheckResult) -> None:
        """Writes the summary line."""
        self._printer.line([(summary(result), "")])

    def _lines_of(self, finding: Finding, source: SourceFile) -> list[str]:
        key = (finding.path, finding.cell)
        if key not in self._lines:
            self._lines = {key: lines_shown(finding, source)}  # findings come file by file
        return self._lines[key]


def write_text(result: CheckResult, stream: TextIO, *, concise: bool = False, quiet: bool = False) -> None:
    """Writes the findings and, unless `quiet`, a summary line."""
    report = TextReport(stream, result.sources, concise=concise)
    report.add(result.findings)
    if not quiet:
        report.end(result)


def write_statistics(result: CheckResult, stream: TextIO, *, quiet: bool = False) -> None:
    """Writes the number of reports by rule, the most frequent first, and, unless `quiet`, a summary line."""
    printer = Printer(stream)
    rows = statistics(result.findings)
    digits = len(str(rows[0][1])) if rows else 1
    names = max((len(example.name) for example, _, _ in rows), default=0)
    for example, count, fixable in rows:
        mark = "[*]" if fixable == count else "[-]" if fixable else "   "
        printer.line(
            [
                (f"{count:>{digits}}  ", "bold"),
                (example.code, _STYLES[example.severity]),
                (f"  {mark}  ", "cyan"),
                (f"{example.name:<{names}}  {example.category}", ""),
            ]
        )
    if not quiet:
        printer.line([(summary(result), "")])


def statistics(findings: Iterable[Finding]) -> list[tuple[Finding, int, int]]:
    """For each code: an example, the number of findings, and how many of them have a safe fix."""
    examples: dict[str, Finding] = {}
    counts: Counter[str] = Counter()
    fixable: Counter[str] = Counter()
    for finding in findings:
        examples.setdefault(finding.code, finding)
        counts[finding.code] += 1
        fixable[finding.code] += _safety(finding) is Safety.SAFE
    return [
        (examples[code], count, fixable[code])
        for code, count in sorted(counts.items(), key=lambda c: (-c[1], c[0]))
    ]


def summary(result: CheckResult) -> str:
    """The last line: the number of findings by severity and files, and how many can be fixed."""
    files = _count(result.files, "file")
    if result.findings:
        by_severity = Counter(finding.severity for finding in result.findings)
        parts = [_count(by_severity[severity], noun) for severity, noun in _NOUNS if by_severity[severity]]
        text = f"Found {' and '.join(parts) if len(parts) < 3 else ', '.join(parts)} in {files}."
        safeties = Counter(_safety(finding) for finding in result.findings)
        if safeties[Safety.SAFE]:
            text += f" [*] {safeties[Safety.SAFE]} fixable with `jaxlint fix`"
            text += (
                f", {safeties[Safety.UNSAFE]} more with `--unsafe-fixes`." if safeties[Safety.UNSAFE] else "."
            )
        elif safeties[Safety.UNSAFE]:
            text += f" {safeties[Safety.UNSAFE]} fixable with `jaxlint fix --unsafe-fixes`."
    elif result.files:
        text = f"No findings in {files}."
    else:
        text = "No files to check."
    if result.known:
        text += f" {_count(result.known, 'known finding')} {'is' if result.known == 1 else 'are'} not shown."
    if result.unchanged:
        text += f" {_count(result.unchanged, 'finding')} on unchanged lines {'is' if result.unchanged == 1 else 'are'} not shown."
    if result.errors:
        text += f" {_count(len(result.errors), 'error')} kept jaxlint from checking everything."
    return text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _safety(finding: Finding) -> Safety | None:
    return finding.fix.safety if isinstance(finding.fix, (Fix, FixRequest)) else None


def _head(finding: Finding) -> list[Piece]:
    place = f"{position(finding)}: "
    return [
        (shown_name(finding.path), "bold"),
        (place, "dim"),
        (f"{finding.severity} {finding.code}", _STYLES[finding.severity]),
        (" [*]" if _safety(finding) is Safety.SAFE else "", "cyan"),
        (f" {escaped(finding.message)} ", ""),
        (f"[{finding.name}]", "dim"),
    ]


def _notes(finding: Finding) -> Iterator[list[Piece]]:
    yield [("  = ", "blue"), ("reason: ", "bold"), (escaped(finding.reason), "")]
    refused = finding.data.get("fix_refused")
    if isinstance(finding.fix, (Fix, FixRequest)):
        how = "" if finding.fix.safety is Safety.SAFE else " (unsafe: `jaxlint fix --unsafe-fixes`)"
        yield [("  = ", "blue"), ("fix: ", "bold"), (escaped(finding.fix.message) + how, "")]
    elif refused:
        yield [("  = ", "blue"), ("no fix: ", "bold"), (escaped(str(refused)), "")]


def _frame(finding: Finding, lines: Sequence[str]) -> Iterator[list[Piece]]:
    """The lines around the finding, with carets under it."""
    span = finding.span
    if not 1 <= span.line <= len(lines):
        return
    first, last = max(1, span.line - _CONTEXT), min(len(lines), span.line + _CONTEXT)
    # Blank lines at the edge are dropped.
    while first < span.line and not lines[first - 1].strip():
        first += 1
    while last > span.line and not lines[last - 1].strip():
        last -= 1
    # Of a line without end only the part around the finding is looked at: it may have a finding in each of its words.
    left = max(0, span.column - _NEAR)
    near = {number: lines[number - 1][left : left + 2 * _NEAR] for number in range(first, last + 1)}
    line = near[span.line]
    column = span.column - left
    end = span.end_column - left if span.end_line == span.line else len(line.rstrip()) + 1
    before, marked = _cells(line[: column - 1]), _cells(line[: max(column, end - 1)])
    start, stop = width(before), max(width(marked), width(before) + 1)
    shift = max(0, min(start - _LINE_CELLS // 4, stop + 20 - _LINE_CELLS)) if stop > _LINE_CELLS - 20 else 0
    gutter = len(str(last))
    yield [(f"{'':>{gutter}} |", "blue")]
    for number in range(first, last + 1):
        yield [(f"{number:>{gutter}} | ", "blue"), (_cut(_cells(near[number]), shift), "")]
        if number == span.line:
            stop = min(stop, shift + _LINE_CELLS)
            carets = " " * (start - shift) + "^" * max(1, stop - start)
            yield [(f"{'':>{gutter}} | ", "blue"), (carets, _STYLES[finding.severity])]
    yield [(f"{'':>{gutter}} |", "blue")]


def _cells(text: str) -> str:
    """`text` for display: tabs as spaces, and no terminal control characters."""
    return printable(text.expandtabs(4))


def _cut(text: str, shift: int) -> str:
    """The visible part of a line, from `shift` cells on."""
    if shift == 0 and len(text) <= _LINE_CELLS and width(text) <= _LINE_CELLS:
        return text.rstrip()
    shown, cell = [], 0
    for character in text:
        if shift <= cell < shift + _LINE_CELLS:
            shown.append(character)
        cell += width(character)
    if shift and shown:
        shown[0] = "…"
    if cell > shift + _LINE_CELLS:
        shown[-1] = "…"
    return "".join(shown).rstrip()
