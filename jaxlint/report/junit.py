"""Findings as JUnit XML, which most CI servers show: a test case per finding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TextIO
from xml.sax.saxutils import escape, quoteattr

from jaxlint.places import file_lines, label
from jaxlint.report.escaping import escaped

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult


def write(result: CheckResult, stream: TextIO) -> None:
    failures, errors = len(result.findings), len(result.errors)
    clean = failures + errors == 0
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    stream.write(
        f'<testsuites name="jaxlint" tests="{max(1, failures + errors)}" failures="{failures}" errors="{errors}">\n'
        f'  <testsuite name="jaxlint" tests="{max(1, failures + errors)}" failures="{failures}" errors="{errors}" '
        f'time="{result.seconds:.3f}">\n'
    )
    if clean:
        stream.write(
            f'    <testcase name="{result.files} file{"" if result.files == 1 else "s"} without findings" classname="jaxlint" />\n'
        )
    for finding in result.findings:
        place = label(finding)
        stream.write(
            f"    <testcase name={_attribute(f'{finding.code} {finding.name} {place}')} "
            f'classname={_attribute(finding.path)} file={_attribute(finding.path)} line="{file_lines(finding)[0]}">\n'
            f'      <failure type="{finding.severity}" message={_attribute(finding.message)}>'
            f"{_body(f'{place}: {finding.message} ({finding.reason})')}</failure>\n"
            f"    </testcase>\n"
        )
    for error in result.errors:
        stream.write(
            f"    <testcase name={_attribute(error.path)} classname={_attribute(error.path)}>\n"
            f"      <error message={_attribute(str(error))} />\n"
            f"    </testcase>\n"
        )
    stream.write("  </testsuite>\n</testsuites>\n")


def _body(text: str) -> str:
    return escape(_clean(text), {"\r": "&#13;"})


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """`text` with characters that XML cannot represent, or that control or hide text, shown by their codes.
    Lines and tabs are kept.
    """
    return "".join(one if one in "\t\n\r" else escaped(one) for one in re.split("([\t\n\r])", text))
