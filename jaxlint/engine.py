"""Runs the analysis and the rules over a set of paths: the function behind `jaxlint check`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.cache import Cache, dependency_digest, folders_of
from jaxlint.config import Config, broken_settings
from jaxlint.examine import Examination, Observer, Outcome
from jaxlint.finding import Finding, Severity
from jaxlint.nearest import Nearest
from jaxlint.part_cache import PartCache, can_be_cached_in_parts
from jaxlint.source import SourceError, SourceFile, read_source, source_from_bytes
from jaxlint.source.discovery import INSTALLED, PROJECT_MARKERS, Discovery, FoundFile, discover
from jaxlint.source.read import NOTEBOOK, is_notebook, shown_path

MAX_CONTEXT_FILES = 20_000  # beyond that the named files are checked alone
STDIN_DISPLAY = "<stdin>"
_SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.ERROR)


@dataclass(frozen=True, slots=True)
class Stdin:
    """Source from standard input, and the name of the file that it stands for, if any."""

    data: bytes
    filename: str | None = None


@dataclass(slots=True)
class CheckResult:
    """The result of one run. `files` counts the checked files, `seconds` is wall time.

    `sources` holds the checked files by the path in their findings. `below` are findings under the severity limit,
    `known` counts those in the baseline, `unchanged` those on unchanged lines.
    """

    findings: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: int = 0
    seconds: float = 0.0
    cached: bool = False
    sources: dict[str, SourceFile] = field(default_factory=dict)
    below: list[Finding] = field(default_factory=list)
    known: int = 0
    unchanged: int = 0


def check(
    paths: Sequence[str | Path],
    config: Config,
    *,
    stdin: Stdin | None = None,
    use_cache: bool = True,
    jobs: int | None = None,
    resolve_fixes: bool = False,
    observer: Observer | None = None,
) -> CheckResult:
    """Checks the files behind `paths`, and `stdin` if given.

    With `jobs`, files that no import connects are checked in up to so many processes; the findings are the same. With
    `resolve_fixes`, each finding's fix is worked out to text edits, or None if it is refused. `observer` receives
    progress, and findings as soon as they are final. Raises ConfigError if the settings are invalid. A problem with a
    file is in the result's `errors`; the other files are checked anyway.
    """
    started = time.perf_counter()
    observer = observer or Observer()
    observer.doing("looking for files")
    nearest = Nearest(config)
    found = nearest.discover(paths)
    result = CheckResult(warnings=found.warnings, errors=list(found.errors))
    sources = _read_all(found, stdin, nearest, result, jobs)
    result.sources = {source.display: source for source in sources}
    observer.examines(result.sources)
    result.errors += [problem for source in sources for problem in source.problems]
    result.warnings += _remarks(sources, nearest.top)
    groups = nearest.groups(sources)
    if not groups:
        config.check()
    for own, files in groups:
        run = _Run(own, files, sources if len(groups) > 1 else (), jobs, resolve_fixes, Severe(observer, own))
        run.add_to(result, use_cache)
    result.findings.sort(key=lambda finding: finding.sort_key)
    result.errors = sorted(once_each(result.errors), key=lambda error: (error.path, error.line or 0))
    result.warnings = list(dict.fromkeys(result.warnings))
    result.seconds = time.perf_counter() - started
    return result


@dataclass(frozen=True, slots=True)
class _Run:
    """The check of files with the same settings. `everything` that was read is their context."""

    config: Config
    sources: Sequence[SourceFile]
    everything: Sequence[SourceFile]
    jobs: int | None
    resolve_fixes: bool
    observer: Observer

    def add_to(self, result: CheckResult, use_cache: bool) -> None:
        """Checks the files, or takes the cached outcome, and adds the findings to `result`."""
        cache = Cache(self.config) if use_cache else None
        if cache is not None and cache.refused is not None:
            result.warnings.append(cache.refused)
        key = cache.key(self.sources, resolved=self.resolve_fixes) if cache is not None else ""
        outcome = cache.load(key) if cache is not None else None
        if outcome is None:
            self.config.check()  # cached findings came from valid settings
            examined = self._examined(cache)
            outcome = (examined.findings, examined.errors)
            # The cache folder first: creating it changes its parent folder.
            if cache is not None and not examined.crashed and cache.prepare():
                dependencies = _dependencies(self.sources, examined.dependencies, self.config.root)
                cache.store(key, outcome, dependencies)
        else:
            result.cached = True
            self.observer.found(outcome[0])
        reported = severe_enough(outcome[0], self.config)
        kept = set(map(id, reported))
        result.findings += reported
        result.below += [one for one in outcome[0] if id(one) not in kept]
        result.errors += outcome[1]

    def _examined(self, cache: Cache | None) -> Outcome:
        rules = self.config.rules()
        number = len(self.sources)
        self.observer.doing(f"checking {number} file{'s' if number != 1 else ''}")
        context = context_of(self.sources, self.config, self.everything)
        examination = Examination(self.sources, context, rules, self.config, self.resolve_fixes)
        parts = cache is not None and can_be_cached_in_parts(rules)
        cached = PartCache(cache, self.sources, context) if cache is not None and parts else None
        return examination.run(jobs=self.jobs, observer=self.observer, cached=cached)


def context_of(
    sources: Sequence[SourceFile], config: Config, everything: Iterable[SourceFile] = ()
) -> list[SourceFile]:
    """The rest of the project of some files, including modules of `everything` that have other settings."""
    context = rest_of_project(sources, config)
    taken = {source.path for source in (*sources, *context)}
    return [*context, *(one for one in everything if one.path not in taken and one.path.suffix == ".py")]


class Severe(Observer):
    """Passes on to another observer the findings that are severe enough by these files' settings."""

    def __init__(self, observer: Observer, config: Config) -> None:
        self._observer = observer
        self._config = config
        self.watches = observer.watches

    def doing(self, what: str) -> None:
        self._observer.doing(what)

    def advanced(self, files: int, of: int, share: float) -> None:
        self._observer.advanced(files, of, share)

    def found(self, findings: Sequence[Finding]) -> None:
        self._observer.found(severe_enough(findings, self._config))


def severe_enough(findings: Iterable[Finding], config: Config) -> list[Finding]:
    """The findings that are severe enough to be reported."""
    least = _SEVERITIES.index(config.severity)
    return [one for one in findings if _SEVERITIES.index(one.severity) >= least]


def _remarks(sources: Sequence[SourceFile], config: Config) -> list[str]:
    """Remarks about skipped lines of files, and about invalid settings."""
    notes = [note for source in sources for note in source.notes]
    return notes + broken_settings({source.path.parent for source in sources}, config)


def once_each(errors: Iterable[SourceError]) -> list[SourceError]:
    """The errors without duplicates."""
    return list({str(error): error for error in errors}.values())


def read_sources(
    paths: Sequence[str | Path], config: Config, *, stdin: Stdin | None = None, jobs: int | None = None
) -> tuple[list[SourceFile], list[SourceFile], CheckResult]:
    """The files behind `paths`, the rest of their project, and a result with the files that could not be read."""
    nearest = Nearest(config)
    found = nearest.discover(paths)
    result = CheckResult(warnings=found.warnings, errors=list(found.errors))
    sources = _read_all(found, stdin, nearest, result, jobs)
    result.errors += [problem for source in sources for problem in source.problems]
    result.warnings += _remarks(sources, config)
    return sources, rest_of_project(sources, config) if sources else [], result


def _read_all(
    found: Discovery, stdin: Stdin | None, nearest: Nearest, result: CheckResult, jobs: int | None
) -> list[SourceFile]:
    sources = []
    taken: set[Path] = set()
    if stdin is not None:
        shown = stdin.filename or STDIN_DISPLAY
        suffix = NOTEBOOK if not stdin.filename and is_notebook(stdin.data) else ""
        path = Path.cwd() / (shown + suffix)
        named = discover([path], nearest.of(path).search) if stdin.filename and path.exists() else None
        if named is None or named.files:  # otherwise excluded by name, with `force_exclude`
            taken.add(path)
            result.files += 1
            try:
                sources.append(source_from_bytes(stdin.data, path, shown))
            except SourceError as error:
                result.errors.append(error)
    files = [file for file in found.files if file.path not in taken]
    result.files += len(files)
    for read in _in_threads(_read, files, jobs):
        if isinstance(read, SourceFile):
            sources.append(read)
        else:
            result.errors.append(read)
    return sources


def _read(file: FoundFile) -> SourceFile | SourceError:
    try:
        return read_source(file.path, file.display)
    except SourceError as error:
        return error


def _in_threads(
    function: Callable[[FoundFile], SourceFile | SourceError], files: Sequence[FoundFile], jobs: int | None
) -> Iterable[SourceFile | SourceError]:
    """Reading and hashing release the GIL, so threads suffice for both."""
    if len(files) < 32 or jobs == 1:
        return map(function, files)
    from concurrent.futures import ThreadPoolExecutor

    # Not in a thread: importing may parse there (pytest rewrites modules), where Python 3.11 miscounts its depth.
    from jaxlint.source import markdown, notebook  # noqa: F401

    with ThreadPoolExecutor(jobs or min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(function, files, chunksize=16))


def rest_of_project(sources: Sequence[SourceFile], config: Config) -> list[SourceFile]:
    """The project's other modules, if part of it is checked: their calls show how its functions are used."""
    taken = {source.path for source in sources}
    if not has_rest(taken, config.root):
        return []
    rest = [path for path in modules_of(config) if path not in taken]
    if len(rest) > MAX_CONTEXT_FILES:
        return []
    shown = [FoundFile(path, shown_path(path)) for path in rest]
    return [read for read in _in_threads(_read, shown, None) if isinstance(read, SourceFile)]


def has_rest(paths: Iterable[Path], root: Path) -> bool:
    """Whether the files belong to a project at `root`, instead of all installed packages in it."""
    if not any((root / marker).exists() for marker in PROJECT_MARKERS):
        return False
    own = [path.relative_to(root) for path in paths if path.is_relative_to(root)]
    return not all(INSTALLED.intersection(path.parts) for path in own)


def modules_of(config: Config) -> list[Path]:
    """The modules of the project of `config`."""
    return [file.path for file in discover([config.root], config.search).files if file.path.suffix == ".py"]


def _dependencies(sources: Sequence[SourceFile], context: Mapping[Path, str], root: Path) -> dict[Path, str]:
    """The dependencies of the findings beyond the reported files: other files, and the modules that imports can find."""
    folders = folders_of([*(source.path for source in sources), *context], root)
    return {**{folder: dependency_digest(folder) for folder in folders}, **context}
