"""A whole run as one JSON object with a format version: findings, errors, and what is not shown."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, TextIO

from jaxlint import __version__
from jaxlint.finding import Severity
from jaxlint.report.escaping import wellformed
from jaxlint.report.json_report import finding_record

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


VERSION = 1  # of the format: an additional key keeps the version, a removed or changed key needs a new one


def write(result: CheckResult, stream: TextIO) -> None:
    json.dump(wellformed(document(result)), stream, indent=2)
    stream.write("\n")


def document(result: CheckResult) -> dict[str, Any]:
    """The run as an object; docs/json.md describes it."""
    counts = Counter(finding.severity for finding in result.findings)
    return {
        "version": VERSION,
        "tool": {"name": "jaxlint", "version": __version__},
        "findings": [finding_record(finding) for finding in result.findings],
        "errors": [
            {"path": error.path, "line": error.line, "message": error.message} for error in result.errors
        ],
        "warnings": list(result.warnings),
        "summary": {
            "files": result.files,
            **{f"{severity}s": counts[severity] for severity in Severity},
            "known": result.known,
            "unchanged": result.unchanged,
        },
    }
