"""Runs the analysis and the rules over a set of paths: the function behind `jaxlint check`."""

from __future__ import annotations

from dataclasses import dataclass, field

from jaxlint.finding import Finding
from jaxlint.source import SourceError


@dataclass(slots=True)
class CheckResult:
    """What one run found. `files` counts the files examined, `seconds` is wall time."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    files: int = 0
    seconds: float = 0.0
