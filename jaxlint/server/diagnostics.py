"""Findings as diagnostics of an editor, and their code actions: the fix, a suppression comment, the page of the rule."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.workspace import PositionCodec

from jaxlint.codemods.source.text_edits import overlaps
from jaxlint.finding import Edit, Finding, Fix, Safety, Severity, Span
from jaxlint.ignores import with_ignores
from jaxlint.registry import all_rules, help_address
from jaxlint.server.checking import Checked
from jaxlint.server.documents import Document
from jaxlint.server.explaining import EXPLAIN
from jaxlint.server.positions import Text, lines_in_common, text_of_cell, text_of_finding
from jaxlint.source import SourceError, SourceFile
from jaxlint.syntax.parse import split_lines

SOURCE = "jaxlint"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.jaxlint"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}

TextOf = Callable[
    [str, int | None], tuple[str, Text] | None
]  # from a path and a cell to its address and its lines


def diagnostics_of(
    document: Document, checked: Checked, codec: PositionCodec
) -> dict[str, list[types.Diagnostic]]:
    """Diagnostics by address: that of the document, or those of its cells."""
    found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in document.code}
    for finding in checked.findings:
        if checked.source is not None:
            uri = document.uri_of(finding.cell)
            text = text_of_finding(finding, checked.source, codec)
            found.setdefault(uri, []).append(diagnostic(finding, text))
    for error in checked.errors:
        uri, said = _problem(document, error)
        found.setdefault(uri, []).append(said)
    return found


def diagnostic(finding: Finding, text: Text) -> types.Diagnostic:
    reason = f"\n{finding.reason}" if finding.reason else ""
    return types.Diagnostic(
        range=text.range(finding.span),
        message=f"{finding.message}{reason}",
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=_page(finding.code),
        source=SOURCE,
        data={"name": finding.name},
    )


def load() -> None:
    """Loads what the processes of a server share: the rules, the addresses of their pages, and the parser that decides
    whether a text is Python. Both take 0.2 s. Raises RulePackError."""
    import libcst  # noqa: F401

    for rule in all_rules():
        _page(rule.code)


@functools.cache
def _page(code: str) -> types.CodeDescription | None:
    address = help_address(code)
    return types.CodeDescription(address) if address is not None else None


def _problem(document: Document, error: SourceError) -> tuple[str, types.Diagnostic]:
    """A file that cannot be read, as a diagnostic at its line; for a notebook, at its first cell."""
    uri = next(iter(document.code), document.uri)
    line = max((error.line or 1) - 1, 0) if document.uri in document.code else 0
    place = types.Range(types.Position(line, 0), types.Position(line, 1 << 16))
    return uri, types.Diagnostic(place, error.message, severity=types.DiagnosticSeverity.Error, source=SOURCE)


def actions_of(
    document: Document,
    checked: Checked,
    uri: str,
    wanted: types.Range,
    codec: PositionCodec,
    text_of: TextOf,
) -> list[types.CodeAction]:
    """The code actions for the findings in a range of one document or cell."""
    source = checked.source
    if source is None:
        return []
    actions = []
    for finding, module_finding in zip(checked.findings, checked.in_module, strict=True):
        if document.uri_of(finding.cell) != uri:
            continue
        text = text_of_finding(finding, source, codec)
        if not _meet(text.range(finding.span), wanted):
            continue
        said = diagnostic(finding, text)
        if isinstance(finding.fix, Fix) and (edit := workspace_edit(finding.fix.edits, text_of)) is not None:
            unsafe = "" if finding.fix.safety is Safety.SAFE else " (unsafe)"
            actions.append(
                types.CodeAction(
                    f"jaxlint: {finding.fix.message}{unsafe}",
                    types.CodeActionKind.QuickFix,
                    [said],
                    is_preferred=finding.fix.safety is Safety.SAFE,
                    edit=edit,
                )
            )
        ignore = ignoring(module_finding, source, finding.cell, codec)
        if ignore is not None:
            title = f"jaxlint: ignore {finding.name} on this line"
            edit = types.WorkspaceEdit(changes={uri: [ignore]})
            actions.append(types.CodeAction(title, types.CodeActionKind.QuickFix, [said], edit=edit))
        title = f"jaxlint: explain {finding.name}"
        explain = types.Command(title, EXPLAIN, arguments=[finding.name])
        actions.append(types.CodeAction(title, types.CodeActionKind.QuickFix, [said], command=explain))
    return actions


def fix_all(document: Document, checked: Checked, text_of: TextOf) -> types.CodeAction | None:
    """All safe fixes of the document that do not overlap. Of overlapping ones the first is taken."""
    taken: list[Edit] = []
    for finding in checked.findings:
        fix = finding.fix
        if (
            isinstance(fix, Fix)
            and fix.safety is Safety.SAFE
            and not any(_conflict(one, other) for one in fix.edits for other in taken)
        ):
            taken += [one for one in fix.edits if one not in taken]
    edit = workspace_edit(taken, text_of) if taken else None
    if edit is None:
        return None
    return types.CodeAction("jaxlint: make all safe fixes", FIX_ALL, edit=edit)


def workspace_edit(edits: Sequence[Edit], text_of: TextOf) -> types.WorkspaceEdit | None:
    """The edits by address; None if the address of a touched file is unknown."""
    changes: dict[str, list[types.TextEdit]] = {}
    for one in edits:
        found = text_of(one.path, one.cell)
        if found is None:
            return None
        uri, text = found
        changes.setdefault(uri, []).append(types.TextEdit(text.range(one.span), one.content))
    return types.WorkspaceEdit(changes=changes)


def ignoring(
    finding: Finding, source: SourceFile, cell: int | None, codec: PositionCodec
) -> types.TextEdit | None:
    """The edit that adds a suppression comment for a finding, given at its place in the module; None if there is no
    room for one."""
    ignored = with_ignores(source, [finding])
    if ignored.left:
        return None
    text = text_of_cell(source, cell, codec)
    before, after = list(text.lines), list(text_of_cell(ignored.source, cell, codec).lines)
    first = lines_in_common(before, after)
    if first == len(before):
        return None
    same = lines_in_common(before[:first:-1], after[:first:-1])
    last, new_last = len(before) - same, len(after) - same
    span = Span(first + 1, 1, last, len(before[last - 1]) + 1)
    return types.TextEdit(text.range(span), "\n".join(after[first:new_last]))


def reader_of(document: Document, source: SourceFile, codec: PositionCodec) -> TextOf:
    """A function that returns the lines of a file: the editor's text for the document, the disk's for other files."""

    def text_of(path: str, cell: int | None) -> tuple[str, Text] | None:
        if path == source.display:
            return document.uri_of(cell), text_of_cell(source, cell, codec)
        try:
            lines = split_lines(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return None
        return Path(path).as_uri(), Text(lines, codec)

    return text_of


def _meet(one: types.Range, other: types.Range) -> bool:
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _conflict(one: Edit, other: Edit) -> bool:
    same_text = (one.path, one.cell) == (other.path, other.cell)
    return same_text and one != other and overlaps(one.span, other.span)
