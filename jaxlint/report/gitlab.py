"""Findings as GitLab's code quality report, which it shows beside the lines of a merge request."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from jaxlint.finding import Finding, Severity
from jaxlint.places import file_lines, lines_shown
from jaxlint.report.escaping import escaped, wellformed

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
_MOST_OF_LINE = (
    2_000  # characters that distinguish a line from others; a line may have a finding in each of its words
)


def write(result: CheckResult, stream: TextIO) -> None:
    seen: Counter[str] = Counter()
    records = []
    for finding in result.findings:
        first, last = file_lines(finding)
        content = "\0".join((finding.path, finding.code, finding.function or "", _line(finding, result)))
        seen[content] += 1
        records.append(
            {
                "description": escaped(f"{finding.code} {finding.message} ({finding.reason})"),
                "check_name": finding.name,
                # A hash of the finding without its position: a moved line is not a new finding.
                "fingerprint": hashlib.sha256(
                    f"{content}\0{seen[content]}".encode("utf-8", "surrogatepass")
                ).hexdigest(),
                "severity": _SEVERITIES[finding.severity],
                "location": {"path": finding.path, "lines": {"begin": first, "end": last}},
            }
        )
    for error in result.errors:
        records.append(
            {
                "description": escaped(error.message),
                "check_name": "jaxlint",
                "fingerprint": hashlib.sha256(str(error).encode("utf-8", "surrogatepass")).hexdigest(),
                "severity": "blocker",
                "location": {"path": error.path, "lines": {"begin": error.line or 1}},
            }
        )
    json.dump(wellformed(records), stream, indent=2)
    stream.write("\n")


def _line(finding: Finding, result: CheckResult) -> str:
    source = result.sources.get(finding.path)
    lines = lines_shown(finding, source) if source is not None else []
    return (
        " ".join(lines[finding.span.line - 1][:_MOST_OF_LINE].split())
        if finding.span.line <= len(lines)
        else ""
    )
