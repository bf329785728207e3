"""Runs the analysis and the rules over a set of paths: the function behind `jaxlint check`."""

from __future__ import annotations

import dataclasses
import os
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.cache import Cache, dependency_digest, folders_of
from jaxlint.config import Config, broken_settings
from jaxlint.finding import Finding, Severity
from jaxlint.garbage import no_garbage_collection
from jaxlint.rule import Rule
from jaxlint.source import SourceError, SourceFile, read_source, source_from_bytes
from jaxlint.source.discovery import INSTALLED, PROJECT_MARKERS, Discovery, FoundFile, discover
from jaxlint.source.read import shown_path
from jaxlint.suppress import Suppressions

MAX_CONTEXT_FILES = 20_000  # beyond that the named files are examined alone
STDIN_DISPLAY = "<stdin>"
_SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.ERROR)


@dataclass(frozen=True, slots=True)
class Stdin:
    """Source that was piped in, and the name of the file that it stands for, if it has one."""

    data: bytes
    filename: str | None = None


@dataclass(slots=True)
class CheckResult:
    """What one run found. `files` counts the files examined, `seconds` is wall time.

    `sources` holds the examined files by the path that findings give them.
    """

    findings: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: int = 0
    seconds: float = 0.0
    cached: bool = False
    sources: dict[str, SourceFile] = field(default_factory=dict)


def check(
    paths: Sequence[str | Path],
    config: Config,
    *,
    stdin: Stdin | None = None,
    use_cache: bool = True,
    jobs: int | None = None,
    resolve_fixes: bool = False,
    progress: Callable[[str], None] | None = None,
) -> CheckResult:
    """Examines the files behind `paths`, and `stdin` when given.

    `jobs` files are read at a time (as many as there are processors when left out). With `resolve_fixes`, each finding's fix is worked out to its text edits, or None when it cannot be done here.
    `progress` is told what is being done. Raises ConfigError when the settings make no sense; whatever is wrong with
    a file is in the result's `errors`, and the other files are examined all the same.
    """
    started = time.perf_counter()
    say = progress or (lambda message: None)
    say("looking for files")
    found = discover(paths, config.search)
    result = CheckResult(warnings=found.warnings, errors=list(found.errors))
    sources = _read_all(found, stdin, config, result, jobs)
    result.sources = {source.display: source for source in sources}
    result.errors += [problem for source in sources for problem in source.problems]
    result.warnings += _remarks(sources, config)

    cache = Cache(config) if use_cache and sources else None
    if cache is not None and cache.refused is not None:
        result.warnings.append(cache.refused)
    key = cache.key(sources, resolved=resolve_fixes) if cache is not None else ""
    outcome = cache.load(key) if cache is not None else None
    if outcome is None:
        config.check()  # what is remembered was found with settings that make sense
    if outcome is None and sources:
        rules = config.rules()
        say(f"examining {len(sources)} file{'s' if len(sources) != 1 else ''}")
        with no_garbage_collection():
            analysis = _analyze(sources, rules, config, _rest_of_project(sources, config))
            findings = _settle(analysis.findings, result.sources, rules, config)
            if resolve_fixes:
                findings = _resolve(findings, result.sources, analysis)
        outcome = (findings, analysis.errors)
        # The folder first: a new one is a change of the folder that it lies in.
        if cache is not None and not analysis.crashed and cache.prepare():
            cache.store(key, outcome, _dependencies(sources, analysis.dependencies, config.root))
    elif outcome is not None:
        result.cached = True
    if outcome is not None:
        least = _SEVERITIES.index(config.severity)
        result.findings = [one for one in outcome[0] if _SEVERITIES.index(one.severity) >= least]
        result.errors += outcome[1]
    result.errors = sorted(_once(result.errors), key=lambda error: (error.path, error.line or 0))
    result.warnings = list(dict.fromkeys(result.warnings))
    result.seconds = time.perf_counter() - started
    return result


def _remarks(sources: Sequence[SourceFile], config: Config) -> list[str]:
    """What was passed over: lines of files, and settings that are none."""
    notes = [note for source in sources for note in source.notes]
    return notes + broken_settings({source.path.parent for source in sources}, config)


def _once(errors: Iterable[SourceError]) -> list[SourceError]:
    return list({str(error): error for error in errors}.values())


def read_sources(
    paths: Sequence[str | Path], config: Config, *, stdin: Stdin | None = None, jobs: int | None = None
) -> tuple[list[SourceFile], list[SourceFile], CheckResult]:
    """The files behind `paths`, the rest of their project, and a result that holds what could not be read."""
    found = discover(paths, config.search)
    result = CheckResult(warnings=found.warnings, errors=list(found.errors))
    sources = _read_all(found, stdin, config, result, jobs)
    result.errors += [problem for source in sources for problem in source.problems]
    result.warnings += _remarks(sources, config)
    return sources, _rest_of_project(sources, config) if sources else [], result


def _read_all(
    found: Discovery, stdin: Stdin | None, config: Config, result: CheckResult, jobs: int | None
) -> list[SourceFile]:
    sources = []
    taken: set[Path] = set()
    if stdin is not None:
        shown = stdin.filename or STDIN_DISPLAY
        path = Path.cwd() / shown
        named = discover([path], config.search) if stdin.filename and path.exists() else None
        if named is None or named.files:  # else excluded by name, with `force_exclude`
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
    """Reading and hashing leave the interpreter free, so threads are enough for both."""
    if len(files) < 32 or jobs == 1:
        return map(function, files)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(jobs or min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(function, files, chunksize=16))


@dataclass(slots=True)
class _Outcome:
    findings: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    dependencies: dict[Path, str] = field(default_factory=dict)
    crashed: bool = False


def _rest_of_project(sources: Sequence[SourceFile], config: Config) -> list[SourceFile]:
    """The project's other modules, when some of it is checked: their calls say how its functions are used."""
    if not any((config.root / marker).exists() for marker in PROJECT_MARKERS):
        return []
    taken = {source.path for source in sources}
    own = [path for path in taken if path.is_relative_to(config.root)]
    if all(INSTALLED.intersection(path.relative_to(config.root).parts) for path in own):
        return []
    rest = [
        file
        for file in discover([config.root], config.search).files
        if file.path not in taken and file.path.suffix == ".py"
    ]
    if len(rest) > MAX_CONTEXT_FILES:
        return []
    shown = [FoundFile(file.path, shown_path(file.path)) for file in rest]
    return [read for read in _in_threads(_read, shown, None) if isinstance(read, SourceFile)]


def _analyze(
    sources: Sequence[SourceFile],
    rules: Sequence[type[Rule]],
    config: Config,
    context: Sequence[SourceFile] = (),
) -> _Outcome:
    """Runs the analysis. Should it crash, each file is examined alone, so that one cannot cost the others."""
    from jaxlint.staging import analyze

    try:
        analysis = analyze(
            sources,
            [rule() for rule in rules],
            context=context,
            target_jax=config.target_jax,
            dependencies=dict(config.dependencies),
        )
    except Exception as error:
        if len(sources) == 1:
            return _Outcome(errors=[internal_error(sources[0].display, error)], crashed=True)
        outcome = _Outcome(crashed=True)
        for source in sources:
            alone = _analyze([source], rules, config)
            outcome.findings += alone.findings
            outcome.errors += alone.errors
        return outcome
    return _Outcome(list(analysis.findings), list(analysis.errors), dict(analysis.dependencies))


def internal_error(display: str, error: Exception) -> SourceError:
    """A bug of ours, as one line that names the file and asks for a report."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return SourceError(
        display, f"internal error ({what}{where}); please report it with this file, and exclude it"
    )


def _settle(
    findings: Iterable[Finding],
    sources: Mapping[str, SourceFile],
    rules: Sequence[type[Rule]],
    config: Config,
) -> list[Finding]:
    """Findings in the reported files, less those that comments and settings silence, sorted, each once."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.path in sources:
            by_file.setdefault(finding.path, []).append(finding)
    codes = {rule.code for rule in rules}
    kept: dict[tuple[object, ...], Finding] = {}
    for display, source in sources.items():
        here = by_file.get(display, [])
        if not here and not config.report_unused_suppressions:
            continue
        comments = Suppressions(source)
        ignored = config.ignored_in(source.path)
        remaining = [one for one in here if not comments.silences(one) and one.code not in ignored]
        if config.report_unused_suppressions:
            remaining += comments.unused(codes - ignored)
        for finding in remaining:
            kept.setdefault((finding.path, finding.span, finding.code, finding.message), finding)
    return sorted(kept.values(), key=lambda finding: finding.sort_key)


def _resolve(
    findings: Sequence[Finding], reported: Mapping[str, SourceFile], outcome: _Outcome
) -> list[Finding]:
    """The findings with each fix worked out to text edits, or left out where `fix` would refuse it."""
    fixes = {id(finding): finding.fix for finding in findings if finding.fix is not None}
    if not fixes:
        return list(findings)
    from jaxlint.codemods import Workspace

    proposals = dict(zip(fixes, Workspace(reported).proposals(fixes.values()), strict=True))
    resolved = []
    for finding in findings:
        proposal = proposals.get(id(finding))
        if proposal is not None:
            if proposal.crashed is not None:
                outcome.errors.append(internal_error(finding.path, proposal.crashed))
                outcome.crashed = True
            refused = {"fix_refused": proposal.refusal} if proposal.refusal is not None else {}
            finding = dataclasses.replace(finding, fix=proposal.fix, data={**finding.data, **refused})
        resolved.append(finding)
    return resolved


def _dependencies(sources: Sequence[SourceFile], context: Mapping[Path, str], root: Path) -> dict[Path, str]:
    """What the findings depend on beyond the reported files: other files, and which modules there are to import."""
    folders = folders_of([*(source.path for source in sources), *context], root)
    return {**{folder: dependency_digest(folder) for folder in folders}, **context}
