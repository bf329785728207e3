"""Findings as readers see them: in the cells of a notebook, after the indentation of a Markdown list.

The analysis and the codemods use places in the module that a file's parts form. Code that shows a finding converts it
with `shown` first. For a plain Python file nothing changes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping

from jaxlint.finding import Edit, Finding, Fix, Span
from jaxlint.source.container import Container
from jaxlint.source.file import SourceFile
from jaxlint.syntax.parse import split_lines

_LINE = re.compile(r"\bline(?: \d+|s \d+(?:, \d+)+)")


def shown(findings: Iterable[Finding], sources: Mapping[str, SourceFile]) -> list[Finding]:
    """`findings` with places for a reader; `sources` holds the files by the path in their findings."""
    containers = {path: source.container for path, source in sources.items() if source.container is not None}
    if not containers:
        return list(findings)
    return [_shown(finding, containers) for finding in findings]


def label(finding: Finding) -> str:
    """`path:line:column`, or `path:cell 3:line:column`."""
    return finding.path + position(finding)


def position(finding: Finding) -> str:
    cell = f":cell {finding.cell}" if finding.cell is not None else ""
    return f"{cell}:{finding.span.line}:{finding.span.column}"


def file_lines(finding: Finding) -> tuple[int, int]:
    """The first and last line in the file itself; a notebook's findings count lines in their cell."""
    lines = finding.data.get("file_lines")
    return lines if isinstance(lines, tuple) else (finding.span.line, finding.span.end_line)


def lines_shown(finding: Finding, source: SourceFile) -> list[str]:
    """The lines that the place of a shown finding counts in: those of its cell, or of its file."""
    if source.container is not None and finding.cell is not None:
        return source.container.cell_lines(finding.cell)
    return split_lines(source.file_text)


def shown_line(
    path: str, line: int, text: str, sources: Mapping[str, SourceFile]
) -> tuple[int | None, int, str]:
    """For a line of a module: the cell, the line in it, and `text` with its line numbers converted."""
    containers = {name: source.container for name, source in sources.items() if source.container is not None}
    container = containers.get(path)
    place = container.place(_whole(line)) if container is not None else None
    cell = place.cell if place is not None else None
    return cell, place.span.line if place is not None else line, _reworded(text, cell, path, containers)


def _shown(finding: Finding, containers: Mapping[str, Container]) -> Finding:
    data = dict(finding.data)
    fix = finding.fix
    if isinstance(fix, Fix):
        try:
            fix = dataclasses.replace(fix, edits=tuple(_shown_edit(edit, containers) for edit in fix.edits))
        except ValueError as error:
            fix, data["fix_refused"] = None, str(error)
    container = containers.get(finding.path)
    if container is None:
        reason = _reworded(finding.reason, None, finding.path, containers)
        return dataclasses.replace(finding, reason=reason, fix=fix, data=data)
    place = container.place(finding.span)
    if place.cell is not None:
        data["file_lines"] = (place.file_line, place.file_end_line)
    return dataclasses.replace(
        finding,
        span=place.span,
        cell=place.cell,
        message=_reworded(finding.message, place.cell, finding.path, containers),
        reason=_reworded(finding.reason, place.cell, finding.path, containers),
        fix=fix,
        data=data,
    )


def _shown_edit(edit: Edit, containers: Mapping[str, Container]) -> Edit:
    """Raises ValueError if the edit is impossible in the file."""
    container = containers.get(edit.path)
    if container is None:
        return edit
    container.edited([edit])  # raises if it is impossible
    [(_, own)] = container.own_edits([edit])
    place = container.place(own.span)
    indent = place.span.column - own.span.column
    content = own.content.replace("\n", "\n" + " " * indent) if indent > 0 else own.content
    return Edit(edit.path, place.span, content, place.cell)


def _reworded(text: str, cell: int | None, own: str, containers: Mapping[str, Container]) -> str:
    """`text` about a place in the file `own`, with its line numbers counted in their cells."""

    def elsewhere(match: re.Match[str]) -> str:
        place = containers[match[1]].place(_whole(int(match[2])))
        return f"{match[1]}:cell {place.cell}:{place.span.line}" if place.cell else match[0]

    def here(match: re.Match[str]) -> str:
        return ", ".join(map(line_in_cell, re.findall(r"\d+", match[0])))

    def line_in_cell(number: str) -> str:
        place = containers[own].place(_whole(int(number)))
        where = f"line {place.span.line}"
        return where if place.cell == cell or place.cell is None else f"{where} of cell {place.cell}"

    notebooks = [path for path, container in containers.items() if any(part.cell for part in container.parts)]
    for path in notebooks:
        if path in text:
            text = re.sub(rf"({re.escape(path)}):(\d+)", elsewhere, text)
    return _LINE.sub(here, text) if own in notebooks else text


def _whole(line: int) -> Span:
    return Span(line, 1, line, 1)
