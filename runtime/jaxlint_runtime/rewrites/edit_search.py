"""Which edits of the source are proven: each is tried on the whole program, alone or on top of a plain gain, then those that help together.

The values of the original are taken from three runs of it: as it is, again, and with other rounding. What does not repeat
proves nothing, and how far rounding moves a value is how far an edit may move it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint.codemods import Plan, Refused, Workspace
from jaxlint.finding import FixRequest
from jaxlint.source.file import SourceFile
from jaxlint.source.write import Change
from jaxlint_runtime.model import Numerics, Result, Status
from jaxlint_runtime.proof.gain import BETWEEN_PROCESSES
from jaxlint_runtime.rewrites.candidate_edits import from_run, propose, run_again
from jaxlint_runtime.rewrites.loop_edits import without_those
from jaxlint_runtime.rewrites.printed_output import compared_lines, differs
from jaxlint_runtime.rewrites.proposals import Rewrite, from_findings, packages_to_load
from jaxlint_runtime.rewrites.run_figures import (
    cost_of,
    evened,
    figures_of,
    measured,
    no_promise,
    ratios,
    told,
    worth,
)
from jaxlint_runtime.rewrites.side_effects import compared_files, other_errors, other_files
from jaxlint_runtime.rewrites.trial_runs import IN_DOUBLE, OTHER_ROUNDING, WITHOUT_JIT, Trial, Trials
from jaxlint_runtime.run import Run
from jaxlint_runtime.source_analysis.findings import check_texts
from jaxlint_runtime.workers.scratch_copy import TooLarge

_SECONDS = 240.0  # for all of it, by default
_ROUNDS = 3
_CUT = 1 / 3  # of the time that a program has, after which one that needs more is cut off
_MOST = 6  # edits that are tried in one round
_LEFT = 0.05  # of the time of the edited program, that a function must take to be tried after others
_OBSERVED = 40
_SLOWER = 1.15  # a run of one version may take this much longer than another of the same
_PAIRS = (3, 8)  # of runs that are timed at the end: least and most
_ROUNDED = 100.0  # times the tolerance that an edit may be off where it is the same operation by operation, or in float64
_SHRINKS = 1e-3  # of a difference is left in float64, where it is rounding
_CACHE = "JAX_COMPILATION_CACHE_DIR"
_MANIFEST = 2.0  # the least ratio of one pair, and of the first runs of both versions, that needs no second
_PLAIN = 1.5  # the least ratio of two pairs, and of the first runs of both versions, that needs no third
_CLEAR = 1.2  # the lower bound of a ratio that needs no more runs
_BEARABLE = 2.5  # times the original's time, where an edit may still pay with others: they may each wait for the other


@dataclass(slots=True)
class _Tried:
    """An edit and its run."""

    rewrite: Rewrite
    trial: Trial
    sources: dict[str, SourceFile]
    problem: str | None
    numerics: Numerics | None = None
    evidence: str = ""
    parts: list[_Tried] = field(default_factory=list)  # the edits that it is made of, if they are several
    before: Trial | None = None  # the run that it is to be better than, where that is not the original's

    @property
    def members(self) -> list[_Tried]:
        """The single edits in it."""
        return self.parts or [self]

    @property
    def keys(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(one.rewrite.key for one in self.members)


@dataclass(frozen=True, slots=True)
class _InDouble:
    """What runs in float64 say of an edit, and what both versions printed there."""

    told: str
    original: Trial
    edited: Trial


@dataclass(slots=True)
class _Search:
    run: Run
    trials: Trials
    original: dict[str, SourceFile]
    deadline: float
    dtype: str | None = None  # that edits compute in, where it is coarser than the program's
    errors: bool = False  # the program fails: what it computes without jit is the reference
    base: Trial = field(default_factory=Trial)
    repeats: list[Trial] = field(default_factory=list)
    references: list[Path] = field(default_factory=list)
    uncompiled: list[Path] | None = None  # the reference for edits that run without jit
    double: tuple[Trial, Path] | None = None  # the original in float64, where that was asked for
    runs: int = 0  # of edited programs
    seen: set[tuple[str, str, str]] = field(default_factory=set)
    combined: set[frozenset[tuple[str, str, str]]] = field(default_factory=set)  # that were run at once
    # That was left for another round, with why.
    little: list[tuple[Rewrite, str]] = field(default_factory=list)
    # Path, function and codemod of what was tried.
    written: set[tuple[str, str, str]] = field(default_factory=set)

    def search(self, rewrites: list[Rewrite]) -> list[Change]:
        """Try the edits, and those that become possible by them: the files with what is proven."""
        if not self._measure_original():
            for rewrite in rewrites:
                self._report(rewrite, Status.NOT_APPLICABLE, f"not tried: {self._why()}")
            return []
        current, chosen, kept = self.original, [], None
        for _ in range(_ROUNDS):
            tried = self._most_promising(rewrites, current, kept.trial if kept else self.base)
            good, others = self._good(tried)
            best = self._combine(good, others, current)
            for other in others:
                if best is None or other.rewrite.key not in best.keys:
                    self._report(other.rewrite, Status.REJECTED, self._verdict(other), other)
            if best is None:
                break
            chosen += best.members
            current, kept = best.sources, best
            if self.errors:
                break
            rewrites = self._again(current, best)
        for rewrite, why in self.little:
            if rewrite.key not in self.seen:
                self._report(rewrite, Status.NOT_APPLICABLE, f"{rewrite.summary}: not tried: {why}")
        return [] if kept is None or not self._concluded(kept, chosen) else self._changes(kept)

    # ---- the original ----

    def _measure_original(self) -> bool:
        self._say("running the whole program in scratch copies, to compare edits of the source with it")
        limit = max(min(self.deadline - time.monotonic(), self.run.request.run_for or 120.0) * 1.5, 10.0)
        compiled = {} if self.errors else self._compiled_once()
        environment = WITHOUT_JIT if self.errors else compiled
        self.base, first = self._first_run(limit, environment)
        self.references = [first]
        if self.base.failure is not None:
            return False
        for extra in (compiled, OTHER_ROUNDING) if not self.errors else ():
            trial, folder = self.trials.run(self.original, 3 * limit, environment=extra)
            if trial.failure is None:
                self.references.append(folder)
                self.repeats.append(trial)
        # a slow machine, or a long program, has its edits tried all the same
        self.deadline = max(self.deadline, time.monotonic() + _MOST * self.base.total_s)
        return True

    def _first_run(self, limit: float, environment: Mapping[str, str]) -> tuple[Trial, Path]:
        """Run the original to its end; where that takes too long, up to the end of a call, as all that follow."""
        run = self.run
        allowed = run.request.run_for
        if self.errors or allowed is None or run.run_seconds <= allowed:  # it may be short
            found = self.trials.run(self.original, limit, environment=environment)
            if self.errors or not found[0].late:
                return found
        trial, folder = self.trials.run(
            self.original, 3 * limit, environment=environment, cut_after=_CUT * limit
        )
        if trial.failure is None and trial.cut is not None:
            self.trials.cut = trial.cut
            _, name, number = trial.cut
            self._say(
                f"the program is long: its versions are compared and timed up to the end of call {number} of {name}"
            )
        return trial, folder

    def _compiled_once(self) -> dict[str, str]:
        """Where the second run of the original finds what the first compiled, on a CPU: it runs again, and need not compile again.

        Other compilers choose between algorithms by timing them, so that compiling again may round otherwise.
        """
        device = self.run.document.device or ""
        if _CACHE in os.environ or not device.startswith("cpu"):
            return {}
        return {_CACHE: str(self.trials.folder / "compiled")}

    def _why(self) -> str:
        how = "without jit" if self.errors else "from its start to its end"
        failure = str(self.base.failure)
        if "took longer than" in failure:
            failure += " (arguments for a shorter run go after `--`; `--for` gives it more time)"
        return f"the original could not be run {how} for comparison: {failure}"

    # ---- one edit ----

    def _most_promising(
        self, rewrites: Sequence[Rewrite], current: Mapping[str, SourceFile], before: Trial | None = None
    ) -> list[_Tried]:
        """The first of the edits that can be run; what cannot be written takes no other's place.

        Each is run by itself, until one is a plain gain: those after it are run on top of it, which takes less time and tells what they
        are worth then. `before` is a run of the program as it is in `current`.
        """
        tried: list[_Tried] = []
        ground: _Tried | None = None
        ran = 0
        for one in rewrites:
            if ran == _MOST:
                break
            if self._is_covered(one, tried):
                continue
            if ground is not None and (why := _little_left(one, ground.trial)):
                self.little.append((one, why))
                continue
            runs = self.runs
            if (found := self._try(one, current, before, ground)) is not None:
                tried.append(found)
                if not self.errors and _is_plain(self._before(found), found.trial):
                    ground = found
            ran += self.runs > runs
        return tried

    def _before(self, one: _Tried) -> Trial:
        return one.before or self.base

    def _where(self, one: _Tried) -> str:
        """What is said of an edit that was not tried on the program as it was."""
        return "" if self._before(one) is self.base else ", on top of others"

    def _try(
        self,
        rewrite: Rewrite | None,
        current: Mapping[str, SourceFile],
        before: Trial | None = None,
        ground: _Tried | None = None,
    ) -> _Tried | None:
        """Run an edit, or where it fails what may be done instead; None where nothing could be run. Reports what is lost.

        `ground`: an edit that is kept, on top of which it is made where both can be made.
        """
        told: set[str] = set()
        while rewrite is not None:
            if rewrite.key in self.seen:
                return None
            self.seen.add(rewrite.key)
            self.written |= _codemods(rewrite)
            if time.monotonic() > self.deadline:
                self._report(
                    rewrite, Status.NOT_APPLICABLE, "not tried: the time for edits of the source is used up"
                )
                return None
            below = ground.members if ground is not None else []
            sources = edited([*_fixes_of(below), *rewrite.fixes], current)
            if below and isinstance(sources, str):
                below, sources = [], edited(rewrite.fixes, current)
            if isinstance(sources, str):
                if sources not in told:  # of several ways to do it, all may be refused for the same reason
                    self._report(rewrite, Status.NOT_APPLICABLE, f"{rewrite.summary}: {sources}")
                told.add(sources)
                rewrite = rewrite.instead
                continue
            tried = self._run(rewrite, sources)
            if tried.problem is None:
                tried.before = ground.trial if below and ground is not None else before
                if below:
                    tried.parts = [*below, dataclasses.replace(tried)]
                    self.combined.add(tried.keys)
                return tried
            status = Status.FAILED if tried.trial.failure else Status.REJECTED
            self._report(rewrite, status, f"{rewrite.summary}: {tried.problem}", tried)
            rewrite = rewrite.instead
        return None

    def _is_covered(self, rewrite: Rewrite, tried: Sequence[_Tried]) -> bool:
        """Whether another edit of the function does the same and more, and seems to pay."""
        codemods = _codemods(rewrite)
        return any(
            codemods < _codemods(one.rewrite) and no_promise(self._before(one), one.trial) is None
            for one in tried
        )

    def _run(self, rewrite: Rewrite, sources: dict[str, SourceFile]) -> _Tried:
        self.run.listener.progress(f"trying an edit of {rewrite.function}: {rewrite.name}")
        limit = 4 * self.base.total_s + 30
        self.runs += 1
        trial, _ = self.trials.run(sources, limit, self.references, dtype=self.dtype)
        tried = _Tried(rewrite, trial, sources, trial.failure)
        if trial.failure is not None:
            return tried
        compared = trial.compared or {"calls": 0, "values": 0, "problem": None, "numerics": None}
        lines, numbers = compared_lines(self.base.printed, [one.printed for one in self.repeats])
        files = compared_files(self.base.left, [one.left for one in self.repeats])
        problem, rounding = compared["problem"], ""
        runs = self.base, self.repeats, trial
        if problem and self._may_be_rounding(compared["numerics"]):
            begun = time.monotonic()
            if rounding := self._only_rounded(compared["numerics"], sources, limit):
                problem = None
            elif (double := self._same_in_double(compared["numerics"], sources, limit)) is not None:
                problem, rounding, runs = None, double.told, (double.original, [], double.edited)
            self.deadline += time.monotonic() - begun  # it takes no other edit's time
        problem = problem or differs_in_print(*runs, coarse=self.dtype is not None)
        if trial.status != self.base.status:
            problem = f"it ends with exit status {trial.status} instead of {self.base.status}"
        if problem is not None:
            tried.problem = f"it does not compute the same: {problem}"
        elif (other := left_otherwise(*runs, coarse=self.dtype is not None)) is not None:
            tried.problem = other
        elif not compared["values"] and not numbers and not files:
            tried.problem = "no number that the program prints, returns or writes could be compared"
        if compared["numerics"] is not None:
            tried.numerics = Numerics(
                **{**compared["numerics"], "max_rel": compared["numerics"]["max_rel"] or 0.0}
            )
            if rounding:
                allowed = _ROUNDED * tried.numerics.tolerance
                tried.numerics = dataclasses.replace(tried.numerics, tolerance=allowed, passed=True)
        reference = "the original with jit disabled" if self.errors else "the original, run three times"
        if self.trials.cut is not None:
            reference += f" up to call {self.trials.cut[2]} of {self.trials.cut[1]}"
        if apart := compared.get("apart"):
            reference += (
                f", whose own runs are up to {apart:.1e} apart, so that less than that would not be seen"
            )
        tried.evidence = (
            f"{compared['values']} values of {compared['calls']} results and {lines} printed lines{_and_files(files)} compared with {reference}; {rounding}"
            "whole programs in fresh processes; memory is the highest resident set"
        )
        return tried

    def _uncompiled(self, limit: float) -> list[Path]:
        """What the original computes without jit, where it has any; a run of its own, made once."""
        if self.uncompiled is None:
            self.uncompiled = self.references
            if self.run.document.functions:
                trial, folder = self.trials.run(self.original, limit, environment=WITHOUT_JIT)
                self.uncompiled = [folder] if trial.failure is None else self.references
        return self.uncompiled

    def _only_rounded(
        self, numerics: Mapping[str, Any], sources: Mapping[str, SourceFile], limit: float
    ) -> str:
        """What shows that an edit is off by what compiling rounds alone: without jit it computes what the original does so.

        What runs operation by operation rounds the same however XLA compiles, so that the other runs of the original do not
        show how far rounding moves it.
        """
        trial, _ = self.trials.run(sources, limit, self._uncompiled(limit), environment=WITHOUT_JIT)
        if trial.failure is not None or trial.compared is None or trial.compared["problem"] is not None:
            return ""
        return (
            f"the difference is what compiling rounds: operation by operation it is {trial.compared['numerics']['max_rel'] or 0.0:.1e} "
            f"instead of {numerics['max_rel']:.1e}; "
        )

    def _may_be_rounding(self, numerics: Mapping[str, Any] | None) -> bool:
        """Whether an edit is off by so little that it is worth further runs to tell rounding from a mistake."""
        if self.errors or self.dtype is not None or numerics is None or numerics["max_rel"] is None:
            return False
        return bool(0 < numerics["max_rel"] <= _ROUNDED * numerics["tolerance"])

    def _same_in_double(
        self, numerics: Mapping[str, Any], sources: Mapping[str, SourceFile], limit: float
    ) -> _InDouble | None:
        """Runs in float64, where the edit differs by rounding that the program makes larger; None where it does not.

        A draw that decides between branches, or a trajectory that is chaotic, turns rounding into other numbers. Such a difference
        shrinks with the precision, and a mistake does not.
        """
        if self.double is None:
            self.double = self.trials.run(self.original, limit, environment=IN_DOUBLE)
        original, folder = self.double
        if original.failure is not None:
            return None
        trial, _ = self.trials.run(sources, limit, [folder], environment=IN_DOUBLE)
        left = (trial.compared or {}).get("numerics")
        if trial.failure is not None or left is None or left["max_rel"] is None:
            return None
        if left["max_rel"] > _SHRINKS * numerics["max_rel"]:
            return None
        told = (
            f"the difference is rounding, which the program makes larger: in float64 it is {left['max_rel']:.1e} "
            f"instead of {numerics['max_rel']:.1e}; "
        )
        return _InDouble(told, original, trial)

    # ---- which are good ----

    def _good(self, tried: Sequence[_Tried]) -> tuple[list[_Tried], list[_Tried]]:
        """Those that one run shows to be better and in nothing much worse, and those that may pay with others.

        What was run on top of others and is no gain there was with them already.
        """
        good, others = [], []
        for one in tried:
            before = self._before(one)
            verdict = no_promise(before, one.trial)
            if self.errors or verdict is None:
                good.append(one)
            elif not one.parts and evened(before, one.trial).total_s <= _BEARABLE * before.total_s:
                others.append(one)
            else:
                reason = f"{one.rewrite.summary}: {verdict}"
                self._report(one.rewrite, Status.REJECTED, reason, one, before=before)
        return good, others

    def _verdict(self, one: _Tried) -> str:
        before = self._before(one)
        why = no_promise(before, one.trial)
        why = (
            why
            or f"no gain beside what was kept; one run of it{self._where(one)}: {figures_of(before, one.trial)}"
        )
        return f"{one.rewrite.summary}: {why}"

    def _combine(
        self, good: Sequence[_Tried], others: Sequence[_Tried], current: Mapping[str, SourceFile]
    ) -> _Tried | None:
        """All of them that go together, or those that are good alone, or the best of these with what goes with it."""
        ranked = [*sorted(good, key=self._total), *others]
        good = ranked[: len(good)]
        found = self._whole(ranked, current, good[:1]) or self._whole(good, current, good[:1])
        if found is None and good:
            found = good[0]
            for one in good[1:]:
                if time.monotonic() < self.deadline:
                    found = self._whole([found, one], current, [found]) or found
        if found is None:
            return None
        for one in good:
            if one.rewrite.key not in found.keys:
                self._report(one.rewrite, Status.REJECTED, self._verdict(one), one)
        return found

    def _whole(
        self, members: Sequence[_Tried], current: Mapping[str, SourceFile], alone: Sequence[_Tried]
    ) -> _Tried | None:
        """Those of the edits that can be made at once, as one, if it is no worse than what is had `alone`; tried once."""
        singles = {part.rewrite.key: part for one in members for part in one.members}
        parts, sources = self._together(list(singles.values()), current)
        key = frozenset(one.rewrite.key for one in parts)
        if len(parts) < 2:
            return None
        least = _SLOWER * min(map(self._total, alone or parts))
        if key in self.combined:
            made = (one for one in members if one.parts and one.keys == key)
            return next((one for one in made if self._total(one) <= least), None)
        self.combined.add(key)
        fixes = tuple(_fixes_of(parts))
        rewrite = dataclasses.replace(parts[0].rewrite, name="together", fixes=fixes, instead=None)
        whole = self._run(rewrite, sources)
        whole.parts = parts
        better = self._total(whole) <= least
        if whole.problem is None and better and (alone or no_promise(self.base, whole.trial) is None):
            return whole
        names = " + ".join(f"{one.rewrite.name} in {one.rewrite.function}" for one in parts)
        problem = whole.problem or f"no better than one alone: {figures_of(self.base, whole.trial)}"
        status = Status.FAILED if whole.trial.failure else Status.REJECTED
        self._report(rewrite, status, f"{names}: {problem}", whole)
        return None

    def _total(self, one: _Tried) -> float:
        return evened(self.base, one.trial).total_s

    def _together(
        self, ranked: Sequence[_Tried], current: Mapping[str, SourceFile]
    ) -> tuple[list[_Tried], dict[str, SourceFile]]:
        """As many of the edits as go together, those that come first before the others; none of a function that another compiles."""
        chosen: list[_Tried] = []
        sources = dict(current)
        for one in ranked:
            if any(_leaves_idle(other.trial, one.rewrite) for other in ranked if other is not one):
                continue
            both = edited([fix for other in (*chosen, one) for fix in other.rewrite.fixes], dict(current))
            if not isinstance(both, str):
                chosen, sources = [*chosen, one], both
        return chosen, sources

    def _again(self, current: Mapping[str, SourceFile], best: _Tried) -> list[Rewrite]:
        """What check says of the edited files, and what takes the time now; nothing that was tried before."""
        try:
            findings = check_texts(current)
        except Exception:  # a defect of a rule must not cost what is proven
            return []
        functions = best.trial.functions
        seconds = {(entry["path"], name): entry["seconds"] for name, entry in functions.items()}
        found = from_findings(findings, seconds, errors=False)
        least = _LEFT * self._total(best)
        busy = [
            one
            for one in from_run(run_again(self.run.document.watched, functions, current), current)
            if one.estimate >= least
        ]
        found = sorted(without_those(found, busy) + busy, key=lambda one: -one.estimate)
        return [one for one in found if one.key not in self.seen and not _codemods(one) <= self.written]

    # ---- the end ----

    def _concluded(self, kept: _Tried, chosen: Sequence[_Tried]) -> bool:
        """Time the edited program against the original and report; whether it is proven."""
        summary = "; ".join(dict.fromkeys(_told(one.rewrite) for one in chosen))
        first = chosen[0].rewrite
        rewrite = dataclasses.replace(
            first, name=first.name if len(chosen) == 1 else "source", summary=summary
        )
        if self.errors:
            reason = f"{summary}: it failed, and now computes what it does with jit disabled"
            self._report(rewrite, Status.VERIFIED, reason, kept)
            return True
        pairs = self._time(kept)
        result = self._result(rewrite, Status.REJECTED, "", kept)
        gain = measured(result, pairs)
        total = result.ratios["total"]
        better = gain.better and total.median >= 1 / worth(self.base)
        result.status = Status.VERIFIED if better else Status.REJECTED
        result.reason = f"{summary}: {told(result)}"
        if len(chosen) > 1:
            each = "; ".join(
                f"{one.rewrite.name} in {one.rewrite.function}{self._where(one)}: "
                f"{figures_of(self._before(one), one.trial)}"
                for one in chosen
            )
            result.evidence += f"; each edit in one run: {each}"
        self.run.report(result)
        return better

    def _time(self, kept: _Tried) -> list[tuple[Trial, Trial]]:
        """Pairs of runs in the order A B B A; at least three, fewer where the gain is plain, more while there is time."""
        pairs: list[tuple[Trial, Trial]] = []
        limit = 6 * self.base.total_s + 30
        until = time.monotonic() + max(self.deadline - time.monotonic(), 4 * self.base.total_s)
        while len(pairs) < _PAIRS[0] or (len(pairs) < _PAIRS[1] and time.monotonic() < until):
            order = (self.original, kept.sources) if len(pairs) % 2 == 0 else (kept.sources, self.original)
            self.run.listener.progress(f"timing the edited program, pair {len(pairs) + 1}")
            runs = [self.trials.run(sources, limit, keep=False)[0] for sources in order]
            if any(one.failure for one in runs):
                break
            pairs.append((runs[0], runs[1]) if len(pairs) % 2 == 0 else (runs[1], runs[0]))
            shown = ratios(pairs)
            decided = (
                max(one.low for one in shown) >= _CLEAR or max(one.high for one in shown) < BETWEEN_PROCESSES
            )
            if len(pairs) >= _PAIRS[0] and decided:
                break
            compared = (self.base, kept.trial)  # the runs in which values were compared
            agreed = max(one.low for one in ratios([*pairs, compared]))
            if agreed >= (_PLAIN if len(pairs) > 1 else _MANIFEST):
                return pairs if len(pairs) > 1 else [*pairs, compared]
        return pairs or [(self.base, kept.trial)]

    def _changes(self, kept: _Tried) -> list[Change]:
        return [
            Change(self.original[path], source.text)
            for path, source in kept.sources.items()
            if source.text != self.original[path].text
        ]

    # ---- reports ----

    def _say(self, message: str) -> None:
        self.run.listener.note(message)

    def _report(
        self,
        rewrite: Rewrite,
        status: Status,
        reason: str,
        tried: _Tried | None = None,
        before: Trial | None = None,
    ) -> None:
        self.run.report(self._result(rewrite, status, reason, tried, before))

    def _result(
        self,
        rewrite: Rewrite,
        status: Status,
        reason: str,
        tried: _Tried | None = None,
        before: Trial | None = None,
    ) -> Result:
        result = Result(
            function=rewrite.function,
            path=rewrite.path,
            line=self.run.document.line_of(rewrite.path, rewrite.function, rewrite.line),
            code=rewrite.code,
            candidate=f"source:{rewrite.name}" if rewrite.name != "source" else "source",
            status=status,
            evidence=tried.evidence if tried else "nothing was run",
            reason=reason,
            numerics=tried.numerics if tried else None,
            codemod=rewrite.codemods,
        )
        if tried is not None and tried.trial.failure is None and not self.errors:
            result.before, result.after = cost_of(before or self.base), cost_of(tried.trial)
        return result


def differs_in_print(
    base: Trial, repeats: Sequence[Trial], found: Trial, *, coarse: bool = False
) -> str | None:
    """How the printed lines differ; None where they do not."""
    return differs(base.printed, [one.printed for one in repeats], found.printed, coarse=coarse)


def left_otherwise(
    base: Trial, repeats: Sequence[Trial], found: Trial, *, coarse: bool = False
) -> str | None:
    """What a run leaves otherwise, in files or on standard error; None where nothing is."""
    lefts = base.left, [one.left for one in repeats], found.left
    return other_files(*lefts, coarse=coarse) or other_errors(*lefts, coarse=coarse)


def _and_files(number: int) -> str:
    return f" and {number} file{'' if number == 1 else 's'}" if number else ""


def _told(rewrite: Rewrite) -> str:
    """What an edit does, and in which function."""
    function = rewrite.function.rpartition(".")[2]
    summary = rewrite.summary[:1].upper() + rewrite.summary[1:]
    return summary if function in summary else f"{summary} in {rewrite.function}"


def _is_plain(before: Trial, trial: Trial) -> bool:
    """Whether one run shows a gain that no second is needed for."""
    evenly = evened(before, trial)
    faster = before.run_s >= _PLAIN * evenly.run_s and evenly.total_s < before.total_s
    return no_promise(before, trial) is None and (faster or before.total_s >= _PLAIN * evenly.total_s)


def _little_left(rewrite: Rewrite, trial: Trial) -> str:
    """Why a function need not be jitted in a run: the host spends little in it, or does not call it. If that changes, it comes up in the next round."""
    seen = trial.functions.get(rewrite.function)
    jits = any(step.codemod == "add-jit" for fix in rewrite.fixes for step in fix.steps)
    if not jits or seen is None or seen["seconds"] >= _LEFT * trial.total_s:
        return ""
    if not seen["calls"]:
        return "beside what is kept it is compiled as a part of what calls it"
    return f"beside what is kept it takes {seen['seconds']:.2f} s of {trial.total_s:.2f} s"


def _fixes_of(members: Iterable[_Tried]) -> list[FixRequest]:
    return [fix for one in members for fix in one.rewrite.fixes]


def _codemods(rewrite: Rewrite) -> set[tuple[str, str, str]]:
    return {(rewrite.path, rewrite.function, step.codemod) for fix in rewrite.fixes for step in fix.steps}


def _leaves_idle(trial: Trial, rewrite: Rewrite) -> bool:
    """Whether the host no longer calls the function that is to be jitted: another edit compiles it as a part of its caller."""
    seen = trial.functions.get(rewrite.function)
    return rewrite.name.startswith("jit:") and seen is not None and not seen["calls"]


def search_source(run: Run) -> list[Change]:
    """Try edits of the source and report each: the files with what is proven."""
    document, check = run.document, run.check
    rewrites = propose(run)
    if not rewrites or check is None:
        return []
    observe = [(one["path"], one["function"]) for one in document.watched if one["calls"]]
    observe += [(one.path, one.function) for one in rewrites if one.function != "<module>"]
    with _search(run, list(dict.fromkeys(observe))[:_OBSERVED], errors=run.fails) as search:
        try:
            return search.search(rewrites)
        except TooLarge as error:
            search._say(f"edits of the source were not tried: {error}")
            return []


def values_of(
    run: Run,
    sources: Mapping[str, SourceFile],
    functions: Sequence[tuple[str, str]],
    dtype: str | None = None,
) -> str | None:
    """Why the program with these texts does not compute what it did, from its printed lines and the results of `functions`.

    `dtype`: the texts compute in it, so that its rounding is allowed.
    """
    with _search(run, functions, dtype=dtype) as search:
        if not search._measure_original():
            return search._why()
        path, function = functions[0]
        return search._run(Rewrite("edit", None, function, path, 0, "", ()), dict(sources)).problem


@contextlib.contextmanager
def _search(run: Run, observe: Sequence[tuple[str, str]], **options: Any) -> Iterator[_Search]:
    """A search with a folder for its runs."""
    assert run.check is not None
    original = dict(run.check.sources)
    preload = packages_to_load(original.values(), [str(root) for root in run.request.roots()])
    with tempfile.TemporaryDirectory(prefix="jaxlint-trials-", ignore_cleanup_errors=True) as name:
        trials = Trials(run, observe, preload, Path(name))
        yield _Search(run, trials, original, time.monotonic() + _SECONDS, **options)


def edited(fixes: Sequence[FixRequest], sources: Mapping[str, SourceFile]) -> dict[str, SourceFile] | str:
    """The files with the fixes made, or why they cannot be."""
    workspace = Workspace(sources, strict=True)
    plans: list[Plan] = []
    for fix in fixes:
        plan = workspace.plan(fix)
        if isinstance(plan, str):
            return plan
        if any(plan.conflicts_with(other) for other in plans):
            return "the edits touch each other"
        plans.append(plan)
    try:
        new = workspace.edited(plans)
    except Refused as refusal:
        return str(refusal)
    if any(source.container is not None for source in new.values()):
        return "notebooks and pages are not run"
    return {**sources, **new}
