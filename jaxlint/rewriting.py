"""Checks files, applies fixes round by round, and writes the changes: the common part of `fix` and `upgrade`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlint import engine
from jaxlint.config import Config
from jaxlint.examine import Examination, Observer
from jaxlint.finding import Finding
from jaxlint.fixes import FixResult, fix_sources
from jaxlint.nearest import Nearest
from jaxlint.source import SourceError, SourceFile
from jaxlint.source.journal import write_together
from jaxlint.source.write import Change


@dataclass(slots=True)
class Rewriting:
    """The checked files, the result of fixing them, and the errors. Nothing is written yet."""

    checked: engine.CheckResult
    result: FixResult
    errors: list[SourceError]


def rewrite(
    paths: Sequence[str | Path],
    config: Config,
    *,
    stdin: engine.Stdin | None = None,
    unsafe: bool = False,
    use_cache: bool = True,
    jobs: int | None = None,
    observer: Observer | None = None,
) -> Rewriting:
    """Fixes the findings of `engine.check` in the files behind `paths`. Raises ConfigError."""
    observer = observer or Observer()
    checked = engine.check(paths, config, stdin=stdin, use_cache=use_cache, jobs=jobs, observer=observer)
    observer.doing("rewriting")
    checker = _Checker(config, jobs, checked, observer)
    result = fix_sources(checked.sources, checker, unsafe=unsafe)
    return Rewriting(checked, result, [*checked.errors, *result.errors, *checker.errors])


def write_texts(
    sources: Mapping[str, SourceFile], result: FixResult, project: Path, *, but: str | None = None
) -> list[SourceError]:
    """Writes the changed files, each group completely or not at all, except those in `but`. Fixes of files that
    failed no longer count as applied."""
    errors: list[SourceError] = []
    for group in result.groups():
        changes = [Change(sources[path], result.texts[path]) for path in sorted(group) if path != but]
        try:
            write_together(changes, project, must_keep=False)
        except SourceError as error:
            errors.append(error)
            result.withdraw(group)
    return errors


class _Checker:
    """Checks the files between two rounds; in the first round these are the files as read."""

    def __init__(
        self, config: Config, jobs: int | None, first: engine.CheckResult, observer: Observer
    ) -> None:
        self.nearest = Nearest(config)
        self.jobs = jobs
        self.observer = observer
        self.first: engine.CheckResult | None = first
        self.errors: list[SourceError] = []
        self.contexts: dict[Path, list[SourceFile]] = {}

    def __call__(self, sources: Mapping[str, SourceFile]) -> Sequence[Finding]:
        if self.first is not None:
            findings, self.first = self.first.findings, None
            return findings
        self.errors = []
        found: list[Finding] = []
        for config, files in self.nearest.groups(sources.values()):
            if config.root not in self.contexts:
                self.contexts[config.root] = engine.context_of(files, config, sources.values())
            # Changes in the files themselves are seen in the next round.
            context = [sources.get(one.display, one) for one in self.contexts[config.root]]
            examination = Examination(files, context, config.rules(), config)
            outcome = examination.run(jobs=self.jobs, observer=self.observer)
            self.errors += outcome.errors
            found += engine.severe_enough(outcome.findings, config)
        return sorted(found, key=lambda finding: finding.sort_key)
