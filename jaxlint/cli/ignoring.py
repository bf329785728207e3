"""`jaxlint check --add-ignores`: writes suppression comments for the findings."""

from __future__ import annotations

from pathlib import Path

from jaxlint.engine import CheckResult
from jaxlint.finding import Finding
from jaxlint.ignores import with_ignores
from jaxlint.source import SourceError
from jaxlint.source.write import Change, write_changes


def ignore_all(result: CheckResult, project: Path) -> str:
    """Suppresses the findings of a result in their files, each file atomically. Findings without a comment stay in
    the result. Prints a summary."""
    by_file: dict[str, list[Finding]] = {}
    for finding in result.findings:
        by_file.setdefault(finding.path, []).append(finding)
    left: list[Finding] = []
    silenced = files = 0
    for path, findings in by_file.items():
        ignored = with_ignores(result.sources[path], findings)
        left += ignored.left
        if not ignored.silenced:
            continue
        try:
            write_changes([Change(result.sources[path], ignored.source.file_text)], project)
        except SourceError as error:
            result.errors.append(error)
            left += ignored.silenced
        else:
            result.sources[path] = ignored.source
            silenced += len(ignored.silenced)
            files += 1
    result.findings = sorted(left, key=lambda finding: finding.sort_key)
    if not silenced:
        return "Nothing to silence." if not result.findings else "Nothing could be silenced."
    return f"Silenced {silenced} finding{'s' * (silenced != 1)} in {files} file{'s' * (files != 1)}."
