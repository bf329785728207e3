"""Findings as one JSON list: the output format for tests and other tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from jaxlint.finding import Edit, Finding, Fix, Span
from jaxlint.report.escaping import wellformed

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


def write(result: CheckResult, stream: TextIO) -> None:
    json.dump(wellformed([finding_record(finding) for finding in result.findings]), stream, indent=2)
    stream.write("\n")


def finding_record(finding: Finding) -> dict[str, Any]:
    """One finding. Columns are 1-based and count code points; ends are exclusive."""
    return {
        "path": finding.path,
        **_place(finding.span),
        "cell": finding.cell,
        "code": finding.code,
        "name": finding.name,
        "category": finding.category,
        "severity": str(finding.severity),
        "message": finding.message,
        "reason": finding.reason,
        "function": finding.function,
        "fix": fix_record(finding.fix) if isinstance(finding.fix, Fix) else None,
        "url": finding.url,
    }


def fix_record(fix: Fix) -> dict[str, Any]:
    return {
        "safety": str(fix.safety),
        "message": fix.message,
        "edits": [edit_record(edit) for edit in fix.edits],
    }


def edit_record(edit: Edit) -> dict[str, Any]:
    """One edit. In a notebook its place counts in `cell`."""
    cell = {} if edit.cell is None else {"cell": edit.cell}
    return {"path": edit.path, **cell, **_place(edit.span), "content": edit.content}


def statistics_records(counts: Sequence[tuple[Finding, int, int]]) -> list[dict[str, Any]]:
    return [
        {"code": example.code, "name": example.name, "count": count, "fixable": fixable}
        for example, count, fixable in counts
    ]


def _place(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
