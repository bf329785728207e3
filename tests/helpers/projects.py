"""Small projects as test cases: they are written, checked or inspected, and marks say what must be reported.

Programs that many tests share lie in files, as the specimens of rules do: `specimens_below` reads them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from jaxlint.finding import Finding, Severity
from jaxlint.registry import all_rules
from jaxlint.source.read import read_source
from jaxlint.specimens import FOLDER, read
from jaxlint.staging import analyze
from jaxlint.staging.inspection import FunctionFacts, inspect_files
from tests.helpers.marks import read_marks

SPECIMENS = Path(__file__).parents[1] / "engine" / FOLDER


def specimens_below(*groups: str) -> dict[str, str]:
    """The programs in these folders of the engine's specimens and in folders below them, by their names."""
    found: dict[str, str] = {}
    for group in groups:
        root = SPECIMENS / group
        for folder in sorted([root, *(path for path in root.rglob("*") if path.is_dir())]):
            for path in folder.glob("*.py"):
                read_marks(path.read_text("utf-8"), str(path))
            for example in read(folder):
                assert example.name not in found, f"{folder}: {example.name!r} names two programs"
                found[example.name] = example.code
    assert found, f"no programs in {', '.join(groups)}"
    return found


def write_project(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Writes a project of files (relative path -> source) and returns their paths."""
    paths = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(text), encoding="utf-8")
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
    """File, line and rule of each finding."""
    return {(finding.path, finding.span.line, finding.name) for finding in findings}


def expected(files: Mapping[str, str]) -> set[tuple[str, int, str]]:
    """What the marks ask for, in the form of `reported`: `# finding: tracer-branch` at the end of a line."""
    asked = set()
    for name, text in files.items():
        for mark in read_marks(_text(text), name).marks:
            if mark.kind == "finding-missed":
                continue
            assert mark.kind == "finding", f"{name}:{mark.line}: a finding is either there or not"
            assert mark.rules, f"{name}:{mark.line}: which rule is not said"
            asked |= {(name, mark.line, rule) for rule in mark.rules}
    return asked


def facts_of(folder: Path, program: str | Mapping[str, str]) -> dict[str, FunctionFacts]:
    """What `inspect` says of each function of a program, or of a project of files, by its qualified name."""
    files = {"program.py": program} if isinstance(program, str) else program
    paths = write_project(folder, files)
    found, analysis = inspect_files(
        [read_source(path, path.relative_to(folder).as_posix()) for path in paths]
    )
    assert analysis.errors == []
    return {fact.qualname: fact for fact in found}


def params_of(folder: Path, program: str | Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What `inspect` says of the parameters of each function."""
    return {name: fact.params for name, fact in facts_of(folder, program).items()}


def answers_of(folder: Path, program: str | Mapping[str, str]) -> dict[str, tuple[str, dict[str, str]]]:
    """Whether each function runs in a stage, and what its parameters are."""
    return {name: (fact.staged, fact.params) for name, fact in facts_of(folder, program).items()}


def _text(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")
