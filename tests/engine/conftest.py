"""Stand-ins for the analysis and the rules, so that the engine's shell is tested by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from jaxlint import cache, registry, staging
from jaxlint.finding import Finding, FixRequest, Safety, Severity, Step
from jaxlint.rule import Rule
from jaxlint.source import SourceError, SourceFile
from jaxlint.staging import Analysis
from jaxlint.staging.warm import WarmRun
from jaxlint.syntax.parse import parse_source, span_of, split_lines


class NamesBad(Rule):
    """Reports each use of the name `bad`.

    A paragraph more.
    """

    code, name, category, severity = "JAX901", "names-bad", "tracing", Severity.ERROR
    fixable = "safe"


class NamesCostly(Rule):
    """Reports each use of the name `costly`."""

    code, name, category, severity = "JAX902", "names-costly", "memory", Severity.WARNING


class NamesAdvice(Rule):
    """Reports each use of the name `advice`."""

    code, name, category, severity = "JAX911", "names-advice", "memory", Severity.INFO


class NamesNovel(Rule):
    """Reports each use of the name `novel`."""

    code, name, category, severity = "JAX921", "names-novel", "api", Severity.ERROR
    preview = True


STAND_INS = (NamesBad, NamesCostly, NamesAdvice, NamesNovel)


@dataclass
class StandInAnalysis:
    """Does what `jaxlint.staging.analyze` does, for rules that look for one name. `calls` records its runs."""

    calls: list[list[str]] = field(default_factory=list)
    dependencies: dict[Path, str] = field(default_factory=dict)
    crash_on: str = ""

    def __call__(
        self,
        files: Sequence[SourceFile],
        rules: Sequence[Rule],
        *,
        context: Sequence[SourceFile] = (),
        target_jax: str | None = None,
        dependencies: Mapping[str, str] | None = None,
        only: Collection[Path] | None = None,
        sharing: int = 1,
        meanwhile: Callable[[Analysis], None] | None = None,
        warm: WarmRun | None = None,
    ) -> Analysis:
        files = [file for file in files if only is None or file.path in only]
        self.calls.append([file.display for file in files])
        findings: list[Finding] = []
        errors: list[SourceError] = []
        for file in files:
            if self.crash_on and self.crash_on in file.text:
                raise ZeroDivisionError("a bug\nof ours")
            try:
                tree = parse_source(file)
            except SourceError as error:
                errors.append(error)
                continue
            findings += self._findings(file, tree, rules)
        if meanwhile is not None:
            meanwhile(Analysis(files=len(files)))
        return Analysis(findings, errors, self.dependencies)

    def _findings(self, file: SourceFile, tree: ast.Module, rules: Sequence[Rule]) -> Iterator[Finding]:
        lines = split_lines(file.text)
        for node in ast.walk(tree):
            for rule in rules:
                if isinstance(node, ast.Name) and node.id == rule.name.removeprefix("names-"):
                    span = span_of(node, lines)
                    step = Step("stand-in", file.display, span, {"names": (node.id,)})
                    fix = FixRequest(Safety.SAFE, "Rename it", (step,)) if rule.fixable else None
                    yield Finding(
                        file.display,
                        span,
                        rule.code,
                        rule.name,
                        rule.category,
                        rule.severity,
                        message=f"`{node.id}` is used",
                        reason=f"it is read on line {span.line}",
                        fix=fix,
                        data={"argnums": (0, 2)},
                    )


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInAnalysis]:
    """Replaces the analysis and all rules by stand-ins."""
    analysis = StandInAnalysis()
    entry = SimpleNamespace(load=lambda: lambda: STAND_INS, value="stand_ins:rules", dist=None)
    monkeypatch.setattr(registry, "packs", lambda: [entry])
    monkeypatch.setattr(staging, "analyze", analysis, raising=False)
    remembered = (registry.all_rules, cache.tools_digest)
    for function in remembered:
        function.cache_clear()
    yield analysis
    for function in remembered:
        function.cache_clear()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, with the current folder in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    monkeypatch.chdir(folder)
    return folder
