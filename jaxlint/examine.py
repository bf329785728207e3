"""Checks files that have been read: runs the analysis, applies suppressions and settings, and works out fixes.

Files that no import connects are separate parts, whatever the number of processes, so findings do not depend on that.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jaxlint.config import Config
from jaxlint.crashes import described
from jaxlint.finding import Finding
from jaxlint.gc_pause import no_garbage_collection
from jaxlint.rule import Rule
from jaxlint.source import SourceError, SourceFile
from jaxlint.suppress import Suppressions

if TYPE_CHECKING:
    from jaxlint.staging import Analysis
    from jaxlint.staging.import_components import Shard
    from jaxlint.staging.warm import WarmRun

# About two seconds of work: a new Python process takes a quarter of a second to start.
STARTED_LINES = 24_000


@dataclass(slots=True)
class Outcome:
    """The outcome of a check. `dependencies` are the other files that it depends on, with their digests.

    Of a part: `unresolved` are its findings before fixes are worked out; for `patterns` (text and flags) the text of all
    files was searched, and `read_whole` are files that rules read for it.
    """

    findings: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    dependencies: dict[Path, str] = field(default_factory=dict)
    crashed: bool = False
    unresolved: list[Finding] = field(default_factory=list)
    patterns: set[tuple[str, int]] = field(default_factory=set)
    read_whole: set[Path] = field(default_factory=set)

    def add(self, other: Outcome) -> None:
        self.findings += other.findings
        self.errors += other.errors
        self.dependencies |= other.dependencies
        self.crashed |= other.crashed


class Observer:
    """The receiver of a run's progress; this one ignores it."""

    watches = False  # whether `advanced` is needed

    def doing(self, what: str) -> None:
        """A step begins."""

    def examines(self, sources: Mapping[str, SourceFile]) -> None:
        """The files that findings will be about, by the path in their findings."""

    def advanced(self, files: int, of: int, share: float) -> None:
        """Progress: so many files are checked, and this share of the work is done. Called several times a second from
        the start."""

    def found(self, findings: Sequence[Finding]) -> None:
        """Final findings of any severity: all of one file at once, in the order of the files."""


class KeptParts(Protocol):
    """The outcomes of parts, kept from run to run."""

    def load(self, part: Shard) -> Outcome | None:
        """The outcome of the part, without fixes worked out; None if it must be examined."""

    def store(self, part: Shard, outcome: Outcome) -> None:
        """Keeps the outcome of a part."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The files to report on, the rest of their project, and the options.

    With `resolve_fixes`, each finding's fix is turned into text edits, or removed if `fix` would refuse it.
    """

    sources: Sequence[SourceFile]
    context: Sequence[SourceFile]
    rules: Sequence[type[Rule]]
    config: Config
    resolve_fixes: bool = False
    warm: WarmRun | None = (
        None  # how a run stops, and continues with another text (which `sources` then holds)
    )

    def run(
        self,
        *,
        jobs: int | None = None,
        observer: Observer | None = None,
        cached: KeptParts | None = None,
    ) -> Outcome:
        """Checks everything: in this process, or with `jobs` in up to so many, if there are several parts. `cached`:
        the outcomes of parts in earlier runs."""
        observer = observer or Observer()
        parts = self._parts()
        order = _Order(self.sources, parts, observer)
        outcomes: dict[int, Outcome] = {}
        for number, part in enumerate(parts):
            kept = cached.load(part) if cached is not None and part is not None else None
            if kept is not None:
                outcomes[number] = self._with_fixes(kept)
                order.done(number, kept.findings)
        left = [number for number in range(len(parts)) if number not in outcomes]
        # A part alone in a process: its crash would end the command.
        apart = jobs if len(parts) > 1 and left else None
        for index, outcome in self._outcomes([parts[number] for number in left], apart, observer):
            number = left[index]
            part = parts[number]
            outcomes[number] = outcome
            order.done(number, outcome.findings)
            if cached is not None and part is not None:
                cached.store(part, outcome)
        whole = Outcome()
        for _, outcome in sorted(outcomes.items()):
            whole.add(outcome)
        whole.findings.sort(key=lambda finding: finding.sort_key)
        return whole

    def _parts(self) -> Sequence[Shard | None]:
        """The parts of the run; None for a single part."""
        from jaxlint.staging import import_components

        if sum(source.text.count("\n") for source in self.sources) < 2 * import_components.SHARD_LINES:
            return [None]  # the usual case: not worth resolving the imports
        from jaxlint.staging.project import Project

        project = Project(self.sources)
        project.add_context(self.context)
        found = import_components.shards_of(project)
        return found if len(found) > 1 else [None]

    def _outcomes(
        self, parts: Sequence[Shard | None], jobs: int | None, observer: Observer
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcome of each part, by its number, in the order of completion."""
        amount = _Amount([self.of(part) for part in parts], observer)
        observer.advanced(0, sum(amount.files), 0.0)

        def here(number: int) -> tuple[int, Outcome]:
            outcome = self.part(number, parts, amount.of(number) if observer.watches else None)
            amount.done(number)
            return number, outcome

        if jobs is not None:
            from jaxlint import processes

            work = _InProcess(self, parts, observer.watches)
            weights = [part.lines if part is not None else 0 for part in parts]
            pays = processes.can_fork() or (jobs > 1 and sum(weights) >= STARTED_LINES)
            if pays and processes.can_send(work):
                for report in processes.in_processes(work, weights, jobs):
                    if isinstance(report, processes.Said):
                        amount.of(report.piece)(*report.what)
                    elif isinstance(report, processes.Done):
                        amount.done(report.piece)
                        yield report.piece, report.result
                    elif isinstance(report, processes.Lost):
                        displays = [source.display for source in self.of(parts[report.piece])]
                        yield report.piece, Outcome(errors=[lost(displays, report.how)], crashed=True)
                    else:
                        yield here(report.piece)
                return
        for number in range(len(parts)):
            yield here(number)
            if len(parts) > 1:
                gc.collect()  # the data of a part is full of cycles

    def of(self, part: Shard | None) -> Sequence[SourceFile]:
        """The files to report on that belong to the part."""
        return [source for source in self.sources if part is None or source.path in part.paths]

    def part(
        self, number: int, parts: Sequence[Shard | None], advanced: Callable[[int, int], None] | None = None
    ) -> Outcome:
        """Checks one part. `advanced` receives the numbers of evaluated files and functions from time to time."""
        with no_garbage_collection():
            outcome = self._analyzed(self.of(parts[number]), parts[number], advanced)
            sources = self.of(parts[number])
            reported = {source.display: source for source in sources}
            outcome.unresolved = outcome.findings = self._settled(outcome.findings, reported)
            return self._with_fixes(outcome)

    def _with_fixes(self, outcome: Outcome) -> Outcome:
        """The outcome with each fix worked out to text edits, if that was asked for."""
        if self.resolve_fixes:
            outcome.findings = resolved(outcome, {source.display: source for source in self.sources})
        return outcome

    def _analyzed(
        self,
        sources: Sequence[SourceFile],
        part: Shard | None,
        advanced: Callable[[int, int], None] | None = None,
    ) -> Outcome:
        """Runs the analysis. If it crashes, each file is checked alone, so that one cannot cost the others."""
        divided: dict[str, Any] = {} if part is None else {"only": part.paths, "sharing": part.sharing}
        if advanced is not None:
            divided["meanwhile"] = lambda analysis: advanced(analysis.files, analysis.functions)
        try:
            analysis = self._analysis(self.sources, self.context, divided)
        except Exception as error:
            if len(sources) == 1:
                return Outcome(errors=[internal_error(sources[0].display, error)], crashed=True)
            outcome = Outcome(crashed=True)
            for source in sources:
                try:
                    alone = self._analysis([source], (), {})
                except Exception as its_own:
                    outcome.errors.append(internal_error(source.display, its_own))
                else:
                    outcome.findings += alone.findings
                    outcome.errors += alone.errors
            return outcome
        return Outcome(
            list(analysis.findings),
            list(analysis.errors),
            dict(analysis.dependencies),
            patterns={(one.pattern, one.flags) for one in analysis.patterns},
            read_whole=analysis.read_whole,
        )

    def _analysis(
        self, sources: Sequence[SourceFile], context: Sequence[SourceFile], divided: Mapping[str, Any]
    ) -> Analysis:
        from jaxlint.staging import analyze

        return analyze(
            sources,
            [rule() for rule in self.rules],
            context=context,
            target_jax=self.config.target_jax,
            dependencies=dict(self.config.dependencies),
            warm=self.warm,
            **divided,
        )

    def _settled(self, findings: Iterable[Finding], sources: Mapping[str, SourceFile]) -> list[Finding]:
        """The findings in `sources` that are not suppressed, sorted and without duplicates."""
        by_file: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.path in sources:
                by_file.setdefault(finding.path, []).append(finding)
        codes = {rule.code for rule in self.rules}
        kept: dict[tuple[object, ...], Finding] = {}
        for display, source in sources.items():
            here = by_file.get(display, [])
            if not (here or self.config.report_unused_suppressions or Suppressions.mentioned(source)):
                continue
            comments = Suppressions(source)
            ignored = self.config.ignored_in(source.path)
            remaining = [one for one in here if not comments.silences(one) and one.code not in ignored]
            if self.config.report_unused_suppressions:
                remaining += comments.unused(codes - ignored)
            else:
                remaining += comments.misnamed()
            for finding in remaining:
                kept.setdefault((finding.path, finding.span, finding.code, finding.message), finding)
        return sorted(kept.values(), key=lambda finding: finding.sort_key)


@dataclass(frozen=True, slots=True)
class _InProcess:
    """Checks one part in another process."""

    examination: Examination
    parts: Sequence[Shard | None]
    watched: bool

    def __call__(self, number: int, say: Callable[[object], None]) -> Outcome:
        advanced = (lambda files, functions: say((files, functions))) if self.watched else None
        try:
            return self.examination.part(number, self.parts, advanced)
        except Exception as error:
            first = self.examination.of(self.parts[number])[0]
            return Outcome(errors=[internal_error(first.display, error)], crashed=True)


class _Order:
    """Passes findings on in the order of the files: each file once its part and the parts of all earlier files are
    done."""

    def __init__(
        self, sources: Sequence[SourceFile], parts: Sequence[Shard | None], observer: Observer
    ) -> None:
        self.observer = observer
        number_of = {
            path: number for number, part in enumerate(parts) if part is not None for path in part.paths
        }
        self.waiting = sorted(((one.display, number_of.get(one.path, 0)) for one in sources), reverse=True)
        self.ready: dict[str, list[Finding]] = {}
        self.finished: set[int] = set()

    def done(self, number: int, findings: Sequence[Finding]) -> None:
        self.finished.add(number)
        for finding in findings:
            self.ready.setdefault(finding.path, []).append(finding)
        final: list[Finding] = []
        while self.waiting and self.waiting[-1][1] in self.finished:
            final += self.ready.pop(self.waiting.pop()[0], [])
        self.observer.found(final)


class _Amount:
    """Progress of the work, counted in functions: most of a package is evaluated with the first file that imports it."""

    def __init__(self, sources: Sequence[Sequence[SourceFile]], observer: Observer) -> None:
        self.observer = observer
        self.files = [len(part) for part in sources]
        self.functions = [
            sum(source.text.count("def ") + source.text.count("lambda") for source in part) + 1
            for part in (sources if observer.watches else ())
        ]
        self.so_far: dict[int, tuple[int, int]] = {}

    def of(self, number: int) -> Callable[[int, int], None]:
        """The progress callback for the part of that number."""

        def advanced(files: int, functions: int) -> None:
            self.so_far[number] = (files, min(functions, self.functions[number]))
            done = [sum(counts) for counts in zip(*self.so_far.values(), strict=True)]
            self.observer.advanced(done[0], sum(self.files), done[1] / sum(self.functions))

        return advanced

    def done(self, number: int) -> None:
        if self.observer.watches:
            self.of(number)(self.files[number], self.functions[number])


def lost(displays: Sequence[str], how: str) -> SourceError:
    """One line for all files of a part whose process died."""
    first, *others = displays
    more = f" and {len(others)} more" if others else ""
    whose = "their" if others else "its"
    return SourceError(first, f"the process that checked this file{more} {how}; {whose} findings are missing")


def resolved(outcome: Outcome, sources: Mapping[str, SourceFile]) -> list[Finding]:
    """The findings with each fix worked out to text edits, or removed if `fix` would refuse it."""
    fixes = {id(finding): finding.fix for finding in outcome.findings if finding.fix is not None}
    if not fixes:
        return outcome.findings
    from jaxlint.codemods import Workspace

    proposals = dict(zip(fixes, Workspace(sources).proposals(fixes.values()), strict=True))
    resolved = []
    for finding in outcome.findings:
        proposal = proposals.get(id(finding))
        if proposal is not None:
            if proposal.crashed is not None:
                outcome.errors.append(internal_error(finding.path, proposal.crashed))
                outcome.crashed = True
            refused = {"fix_refused": proposal.refusal} if proposal.refusal is not None else {}
            finding = dataclasses.replace(finding, fix=proposal.fix, data={**finding.data, **refused})
        resolved.append(finding)
    return resolved


def internal_error(display: str, error: Exception) -> SourceError:
    """An internal error as one line that names the file and asks for a report."""
    return SourceError(display, described(error, "please report it with this file, and exclude it"))
