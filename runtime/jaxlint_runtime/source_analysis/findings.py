"""What `check` says of the files that a program loaded, in the form that the worker and the report take."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.config import load_config
from jaxlint.engine import CheckResult, check
from jaxlint.examine import Examination
from jaxlint.finding import Finding, Severity
from jaxlint.report.json_report import finding_record
from jaxlint.source.file import SourceFile


def check_files(files: Sequence[str]) -> CheckResult:
    """Examine the files, advice included. Raises ConfigError."""
    config = load_config(files).with_options(severity=Severity.INFO)
    return check(files, config)


def as_records(result: CheckResult) -> list[dict[str, Any]]:
    """The findings as JSON, with real paths and with the facts that rules keep for the runtime (`data`)."""
    return [
        {**finding_record(finding), "path": os.path.realpath(finding.path), "data": dict(finding.data)}
        for finding in result.findings
    ]


def check_texts(sources: Mapping[str, SourceFile]) -> list[Finding]:
    """What check says of files as they would be after edits. Raises ConfigError."""
    config = load_config(list(sources)).with_options(severity=Severity.INFO)
    return Examination(list(sources.values()), (), config.rules(), config).run().findings
