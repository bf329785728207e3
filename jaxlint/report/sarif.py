"""Findings as SARIF 2.1.0, which code-scanning services read."""

from __future__ import annotations

import json
import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote

from jaxlint import __version__
from jaxlint.finding import Finding, Fix, Severity, Span
from jaxlint.places import file_lines, position
from jaxlint.registry import all_rules
from jaxlint.report.escaping import escaped, wellformed
from jaxlint.rule import Rule

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def write(result: CheckResult, stream: TextIO) -> None:
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "jaxlint", "version": __version__, "rules": _rules(result)}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding) for finding in result.findings],
                "invocations": [
                    {
                        "executionSuccessful": not result.errors,
                        "toolExecutionNotifications": [
                            {"level": "error", "message": {"text": escaped(str(error))}}
                            for error in result.errors
                        ],
                    }
                ],
            }
        ],
    }
    json.dump(wellformed(log), stream, indent=2)
    stream.write("\n")


def _rules(result: CheckResult) -> list[dict[str, Any]]:
    """The rules that the results name."""
    examples = {finding.code: finding for finding in result.findings}
    rules = {rule.code: rule for rule in all_rules()}
    return [_rule(examples[code], rules.get(code)) for code in sorted(examples)]


def _rule(example: Finding, rule: type[Rule] | None) -> dict[str, Any]:
    """The description of a rule, with its page as help, and the address of that page or of its first reference."""
    described: dict[str, Any] = {
        "id": example.code,
        "name": example.name,
        "shortDescription": {"text": example.name},
        "help": {"text": f"jaxlint explain {example.name}"},
        "properties": {"tags": [example.category]},
    }
    if rule is not None:
        described["shortDescription"] = {"text": rule.summary()}
        described["help"] = {"text": rule.documentation(), "markdown": rule.documentation()}
        described["defaultConfiguration"] = {"level": _LEVELS[rule.severity]}
        address = rule.help_address()
        if address is not None:
            described["helpUri"] = address
    return described


def _result(finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": escaped(f"{_in_cell(finding)}{finding.message}. Reason: {finding.reason}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(finding.path),
                    "region": _region(finding.span) if finding.cell is None else _lines(finding),
                }
            }
        ],
    }
    # An edit of a cell is not an edit of the JSON file.
    if isinstance(finding.fix, Fix) and all(edit.cell is None for edit in finding.fix.edits):
        paths = sorted({edit.path for edit in finding.fix.edits})
        changes = [
            {
                "artifactLocation": _artifact(path),
                "replacements": [
                    {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}}
                    for edit in finding.fix.edits
                    if edit.path == path
                ],
            }
            for path in paths
        ]
        result["fixes"] = [
            {"description": {"text": escaped(finding.fix.message)}, "artifactChanges": changes}
        ]
    return result


def _in_cell(finding: Finding) -> str:
    return "" if finding.cell is None else f"{position(finding)[1:]}: "


def _lines(finding: Finding) -> dict[str, int]:
    """The lines of the file for a place in a cell."""
    line, end_line = file_lines(finding)
    return {"startLine": line, "endLine": end_line}


def _artifact(path: str) -> dict[str, str]:
    given = PurePath(path)
    return {"uri": given.as_uri() if given.is_absolute() else quote(os.fsencode(given.as_posix()))}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
