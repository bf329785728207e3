"""The findings of `check` in the files that a program loaded, in the form for workers and reports."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint.config import Config, load_config
from jaxlint.engine import CheckResult, check
from jaxlint.examine import Examination
from jaxlint.finding import Finding, Severity
from jaxlint.report.json_report import finding_record
from jaxlint.source.file import SourceFile


def check_files(files: Sequence[str]) -> CheckResult:
    """Checks the files, advice included. Raises ConfigError."""
    config = load_config(files).with_options(severity=Severity.INFO)
    return check(files, config)


def as_records(result: CheckResult) -> list[dict[str, Any]]:
    """The findings as JSON, with real paths and with the facts that rules provide for the runtime (`data`)."""
    return [
        {**finding_record(finding), "path": os.path.realpath(finding.path), "data": dict(finding.data)}
        for finding in result.findings
    ]


def check_texts(sources: Mapping[str, SourceFile]) -> list[Finding]:
    """The findings in files as they would be after edits. Raises ConfigError."""
    config = load_config(list(sources)).with_options(severity=Severity.INFO)
    return Examination(list(sources.values()), (), config.rules(), config).run().findings


@dataclass(slots=True)
class Foreseen:
    """The errors that check reports in a program's files, on all paths, independent of its configuration."""

    sources: Mapping[str, SourceFile]
    _known: Counter[tuple[str, str]] | None = field(default=None, init=False)

    def new_error(self, edited: Mapping[str, SourceFile]) -> str:
        """The first error in edited files that the original files lack, in words; empty if there is none."""
        if self._known is None:
            self._known = Counter(map(_kind, _errors(self.sources)))
        left = self._known.copy()
        for finding in _errors(edited):
            if left[_kind(finding)] == 0:
                place = f"{Path(finding.path).name}:{finding.span.line}"
                return f"check finds an error in the edited file, on a path that the run may skip: {finding.message} ({finding.code}, {place})"
            left[_kind(finding)] -= 1
        return ""


def _kind(finding: Finding) -> tuple[str, str]:
    return finding.path, finding.name


def _errors(sources: Mapping[str, SourceFile]) -> list[Finding]:
    config = Config(Path.cwd(), severity=Severity.INFO)
    rules = [rule for rule in config.rules() if rule.severity is Severity.ERROR]
    try:
        found = Examination(list(sources.values()), (), rules, config).run().findings
    except Exception:  # a rule's internal error must not cost an edit
        return []
    return found
