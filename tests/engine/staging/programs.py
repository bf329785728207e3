"""Programs as test cases: marks in comments say what must be reported, and JAX says whether that is so."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from jaxlint.finding import Finding, Severity
from jaxlint.registry import all_rules
from jaxlint.source.read import read_source
from jaxlint.staging import analyze

_MARK = re.compile(r"# reports ([\w, -]+)")


def write_project(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Writes a project of files (relative path -> source) and returns their paths."""
    paths = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        paths.append(path)
    return paths


def findings_in(folder: Path, files: Mapping[str, str], *, only: str = "") -> list[Finding]:
    """Analyses the files as one project, or the one called `only` with the others around it, and returns what is reported."""
    sources = [
        read_source(path, path.relative_to(folder).as_posix()) for path in write_project(folder, files)
    ]
    wanted = [source for source in sources if only in ("", source.display)]
    around = [source for source in sources if source not in wanted]
    advice = {rule.code for rule in all_rules() if rule.severity is Severity.INFO}
    analysis = analyze(wanted, [rule() for rule in all_rules()], context=around)
    assert analysis.errors == []
    # What a test leads to is advice as well, by the rules that are none; it is looked for here.
    return [finding for finding in analysis.findings if finding.code not in advice]


def reported(findings: list[Finding]) -> set[tuple[str, int, str]]:
    return {(finding.path, finding.span.line, finding.name) for finding in findings}


def expected(files: Mapping[str, str]) -> set[tuple[str, int, str]]:
    """What the marks ask for: `# reports tracer-branch` at the end of a line."""
    marks = set()
    for name, text in files.items():
        for number, line in enumerate(textwrap.dedent(text).lstrip("\n").splitlines(), 1):
            found = _MARK.search(line)
            if found:
                marks |= {(name, number, rule.strip()) for rule in found.group(1).split(",")}
    return marks
