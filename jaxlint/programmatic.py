"""`jaxlint.check` and `jaxlint.fix`: what the commands do, for programs. Nothing is printed, and nothing is cached unless it is asked for."""

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
    """What `check` found. `errors` are files of which something could not be checked, `warnings` what was passed over.

    `known` counts findings that a baseline holds, `unchanged` those on lines that `diff` leaves out.
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
        """Whether everything could be checked, and nothing was found."""
        return not (self.findings or self.errors)

    def as_dict(self) -> dict[str, Any]:
        """The report as `--output-format json-document` has it (docs/json.md)."""
        return document(self._result)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A finding that was not fixed, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class FixReport:
    """What `fix` did. `texts` has the new text of each file that changed, by its path as it was given.

    `applied` are the findings that were fixed, `remaining` those that are left; `refused` says why, where there is a fix.
    """

    texts: Mapping[str, str]
    applied: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    refused: tuple[Refusal, ...]
    errors: tuple[SourceError, ...]
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything could be checked and written, and nothing is left."""
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

    The settings are those of the project; `config` names another file of them, and the other parameters are the options
    of the command. `baseline` is a file of known findings, `diff` a revision of git. Each fix of a finding is worked out
    to its edits. Raises ConfigError when the settings make no sense; a file that cannot be read is in the report's errors.
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
    """Rewrites what can be rewritten, as `jaxlint fix` does; without `write` the report alone says what would change.

    `unsafe` makes rewrites that may change what the program does, too. The other parameters are those of `check`.
    Raises ConfigError when the settings make no sense; a file that cannot be read or written is in the report's errors.
    """
    given = _paths(paths)
    settings = _settings(given, config, select, extend_select, ignore, preview, severity, target_jax)
    errors: list[SourceError] = []
    if write:
        with contextlib.suppress(StateError):  # no folder of state: nothing was left there
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
