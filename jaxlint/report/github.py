"""Findings as workflow commands, which GitHub Actions shows beside the lines of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from jaxlint.finding import Severity
from jaxlint.places import file_lines, label
from jaxlint.report.escaping import escaped

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(result: CheckResult, stream: TextIO) -> None:
    for finding in result.findings:
        span = finding.span
        line, end_line = file_lines(finding)
        properties: dict[str, str | int] = {
            "title": f"{finding.code} ({finding.name})",
            "file": finding.path,
            "line": line,
            "endLine": end_line,
        }
        # GitHub rejects columns for a range of lines, and columns in a cell are not those of the file.
        if span.line == span.end_line and finding.cell is None:
            properties |= {"col": span.column, "endColumn": span.end_column}
        message = f"{label(finding)}: {finding.code} {finding.message} ({finding.reason})"
        stream.write(f"::{_LEVELS[finding.severity]} {_properties(properties)}::{_escape(message)}\n")
    for error in result.errors:
        properties = {"title": "jaxlint", "file": error.path}
        if error.line is not None:
            properties["line"] = error.line
        stream.write(f"::error {_properties(properties)}::{_escape(str(error))}\n")


def _properties(values: dict[str, str | int]) -> str:
    return ",".join(
        f"{key}={_escape(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in values.items()
    )


def _escape(text: str) -> str:
    """Text escaped for workflow commands. Characters that could control the terminal are shown by their codes."""
    data = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped(data)
