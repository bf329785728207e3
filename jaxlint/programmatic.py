"""`jaxlint.check` and `jaxlint.fix`: the commands as functions. They print nothing, and cache only on request."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlint import engine
from jaxlint.config import Config, ConfigError, load_config
from jaxlint.finding import Finding
from jaxlint.narrowing.run import Narrowing
from jaxlint.places import shown
from jaxlint.report.json_document import document
from jaxlint.rewriting import rewrite, write_texts
from jaxlint.source.file import SourceError
from jaxlint.source.journal import put_back
from jaxlint.source.patterns import PatternError
from jaxlint.state import StateError

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `check`. `errors` are files that could not be checked completely, `warnings` what was skipped.

    `known` counts findings in the baseline, `unchanged` those on lines that `diff` excludes.
    """

    findings: tuple[Finding, ...]
    errors: tuple[SourceError, ...]
    warnings: tuple[str, ...]
    files: int
    known: int
    unchanged: int
    _result: engine.CheckResult

    @property
    def ok(self) -> bool:
        """Whether everything was checked and there are no findings."""
        return not (self.findings or self.errors)

    def as_dict(self) -> dict[str, Any]:
        """The report in the form of `--output-format json-document` (docs/json.md)."""
        return document(self._result)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A finding that was not fixed, and the reason."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class FixReport:
    """The result of `fix`. `texts` has the new text of each changed file, by its path as given.

    `applied` are the fixed findings, `remaining` the others; `refused` gives the reason for those that have a fix.
    """

    texts: Mapping[str, str]
    applied: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    refused: tuple[Refusal, ...]
    errors: tuple[SourceError, ...]
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything was checked and written, and no finding is left."""
        return not (self.remaining or self.errors)


def check(
    paths: Paths = ".",
    *,
    config: str | os.PathLike[str] | None = None,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    preview: bool | None = None,
    severity: str | None = None,
    target_jax: str | None = None,
    baseline: str | os.PathLike[str] | None = None,
    diff: str | None = None,
    cache: bool = False,
    jobs: int = 1,
) -> Report:
    """Checks files and folders, as `jaxlint check` does.

    The settings are those of the project; `config` names another file of them, and the other parameters are the
    options of the command. `baseline` is a file of known findings, `diff` a git revision. Fixes are worked out to
    edits. Raises ConfigError if the settings are invalid; a file that cannot be read is in the report's errors.
    """
    given = _paths(paths)
    settings = _settings(given, config, select, extend_select, ignore, preview, severity, target_jax)
    narrowing = Narrowing.of(
        settings, baseline=None if baseline is None else Path(baseline), diff=diff, about=given
    )
    result = engine.check(given, settings, use_cache=cache, jobs=jobs, resolve_fixes=True)
    narrowing.apply(result, settings, given)
    result.findings = shown(result.findings, result.sources)
    return Report(
        tuple(result.findings),
        tuple(result.errors),
        tuple(result.warnings),
        result.files,
        result.known,
        result.unchanged,
        result,
    )


def fix(
    paths: Paths = ".",
    *,
    unsafe: bool = False,
    write: bool = True,
    config: str | os.PathLike[str] | None = None,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    preview: bool | None = None,
    severity: str | None = None,
    target_jax: str | None = None,
    cache: bool = False,
    jobs: int = 1,
) -> FixReport:
    """Applies fixes, as `jaxlint fix` does. Without `write`, only the report says what would change.

    `unsafe` also applies fixes that may change what the program does. The other parameters are those of `check`.
    Raises ConfigError if the settings are invalid; a file that cannot be read or written is in the report's errors.
    """
    given = _paths(paths)
    settings = _settings(given, config, select, extend_select, ignore, preview, severity, target_jax)
    errors: list[SourceError] = []
    if write:
        with contextlib.suppress(StateError):  # no state folder: no interrupted run left anything
            put_back(Path(path) for path in given)
    done = rewrite(given, settings, unsafe=unsafe, use_cache=cache, jobs=jobs)
    result = done.result
    errors += done.errors
    if write:
        errors += write_texts(done.checked.sources, result, settings.root)
    narrowing = Narrowing.of(settings)
    if narrowing.baseline is not None:
        result.remaining = narrowing.baseline.split(result.remaining, result.sources).new
    reasons = {id(one.finding): one.reason for one in (*result.refused, *result.held_back)}
    remaining = shown(result.remaining, result.sources)
    return FixReport(
        dict(result.texts),
        tuple(result.applied),
        tuple(remaining),
        tuple(
            Refusal(place, reasons[id(one)])
            for one, place in zip(result.remaining, remaining, strict=True)
            if id(one) in reasons
        ),
        tuple(errors),
        tuple(done.checked.warnings),
    )


def _paths(paths: Paths) -> tuple[str, ...]:
    if isinstance(paths, str | os.PathLike):
        return (os.fspath(paths),)
    return tuple(os.fspath(path) for path in paths)


def _settings(
    paths: Sequence[str],
    config: str | os.PathLike[str] | None,
    select: Sequence[str],
    extend_select: Sequence[str],
    ignore: Sequence[str],
    preview: bool | None,
    severity: str | None,
    target_jax: str | None,
) -> Config:
    """Raises ConfigError."""
    switches = {} if preview is None else {"preview": preview}

    def settled(found: Config) -> Config:
        return found.overridden(
            select=select,
            extend_select=extend_select,
            ignore=ignore,
            severity=severity,
            target_jax=target_jax,
            **switches,
        ).check_patterns()

    try:
        settings = settled(load_config(paths, None if config is None else Path(config), check=False))
    except PatternError as error:
        raise ConfigError(str(error)) from None
    return settings.with_options(derive=settled) if config is None else settings
