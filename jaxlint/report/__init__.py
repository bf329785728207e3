"""The result of a run, for people and for other tools: one module per format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


# Format -> its module, with a function `write(result, stream)`. The text formats depend on the terminal;
# `jaxlint.report.text` writes them directly.
MACHINE_FORMATS = {
    "json": "jaxlint.report.json_report",
    "json-document": "jaxlint.report.json_document",
    "gitlab": "jaxlint.report.gitlab",
    "github": "jaxlint.report.github",
    "sarif": "jaxlint.report.sarif",
    "junit": "jaxlint.report.junit",
}
TEXT_FORMATS = ("full", "concise")


def write_report(format: str, result: CheckResult, stream: TextIO) -> None:
    """Writes `result` in one of MACHINE_FORMATS."""
    importlib.import_module(MACHINE_FORMATS[format]).write(result, stream)
