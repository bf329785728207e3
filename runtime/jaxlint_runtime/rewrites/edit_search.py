"""Proves edits of the source: tries each on the whole program, alone or on top of a plain gain, then those that help
together."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jaxlint.finding import FixRequest
from jaxlint.source.file import SourceFile
from jaxlint.source.write import Change
from jaxlint_runtime.model import Status
from jaxlint_runtime.rewrites.candidate_edits import from_run, planned, propose, run_again, script_of
from jaxlint_runtime.rewrites.edit_reports import EditReports
from jaxlint_runtime.rewrites.edits_at_once import blamed, fitting, without_errors
from jaxlint_runtime.rewrites.loop_edits import without_those
from jaxlint_runtime.rewrites.loop_steps import is_inside
from jaxlint_runtime.rewrites.original_program import MOST, Original, original_of, packages_of
from jaxlint_runtime.rewrites.proposals import Key, Rewrite, from_findings
from jaxlint_runtime.rewrites.run_figures import (
    at_equal_share,
    better_of,
    no_promise,
)
from jaxlint_runtime.rewrites.stored_runs import REACHED, stored_runs
from jaxlint_runtime.rewrites.trial_runs import Trial, may_fork, with_missed
from jaxlint_runtime.rewrites.tried_edit import (
    LEFT,
    Tried,
    codemods_of,
    edited,
    fixes_of,
    is_plain,
    is_writable,
    jit_gains_little,
    leaves_idle,
    outermost,
    ways_of,
)
from jaxlint_runtime.rewrites.wider_regions import over_findings
from jaxlint_runtime.run import Run
from jaxlint_runtime.source_analysis.findings import check_texts
from jaxlint_runtime.workers.scratch_copy import TooLarge
from jaxlint_runtime.workers.starting import begin_imports

_ROUNDS = 3
_NEXT = 1.7  # runs of the original that another edit costs, with the pair that proves it
_SMALL = 0.03  # share of the program's time: an edit of less runs with others, and not alone
_TO_CHOOSE = 3  # runs that follow those of each edit: the chosen ones together, and a pair
_AT_ONCE = 3  # edits that are first tried all at once
_WORTH_SPLITTING = (
    0.9  # of the time before: single runs differ by a few percent, and one of two axes soon looks better
)
_MOST_FAULTS = 3  # failed runs of all edits at once, each without those that the last one blames
_SLOWER = 1.15  # a run of one version may take this much longer than another of the same version
# times the original's time, for edits that may still help in combination: each may wait for the other
_BEARABLE = 2.5


@dataclass(slots=True)
class EditSearch:
    """The edits that were tried against one original."""

    original: Original
    seen: set[Key] = field(default_factory=set)
    combined: set[frozenset[Key]] = field(default_factory=set)  # edits that ran together
    # Edits left for another round, with the reason.
    little: list[tuple[Rewrite, str]] = field(default_factory=list)
    # Path, function and codemod of tried edits.
    written: set[tuple[str, str, str]] = field(default_factory=set)
    fair: Tried | None = None  # all edits at once, with a gain that is not plain
    reports: EditReports = field(init=False)

    def __post_init__(self) -> None:
        self.reports = EditReports(self.original)

    def search(self, rewrites: list[Rewrite]) -> list[Change]:
        """Tries the edits, and those that they make possible; returns the files with the proven edits."""
        if not self.original.measure():
            for rewrite in rewrites:
                self.reports.report(rewrite, Status.NOT_APPLICABLE, f"not tried: {self.original.why()}")
            return []
        current, chosen, kept = self.original.sources, [], None
        rewrites = self._timed(self._reached(rewrites))
        for number in range(_ROUNDS):
            best = self._outermost_at_once(rewrites, current) if number == 0 else None
            best = best or self._best(rewrites, current, kept.trial if kept else self.original.base)
            best = self._or_all_at_once(best) if number == 0 else best
            if best is None:
                break
            chosen += best.members
            current, kept = with_missed(best.sources, best.trial), best
            if self.original.errors:
                break
            rewrites = self._timed(self._again(current, best))
        for rewrite, why in self.little:
            if rewrite.key not in self.seen:
                self.reports.report(rewrite, Status.NOT_APPLICABLE, f"{rewrite.summary}: not tried: {why}")
        return [] if kept is None or not self.reports.conclude(kept, chosen) else self._changes(kept)

    def _reached(self, rewrites: list[Rewrite]) -> list[Rewrite]:
        """The edits again, now that the reached code is known: smaller regions may avoid unreached code.
        Reports the edits that are gone.
        """
        if not any(source.missed for source in self.original.sources.values()):
            return rewrites
        stored = self.original.stored
        plan = stored.plan(REACHED) if stored is not None else None
        found = plan[0] if plan is not None else propose(self.original.run, self.original.sources)
        if stored is not None and plan is None:
            stored.keep_plan(found, [], REACHED)
        left = {one.key[:3] for rewrite in found for one in ways_of(rewrite)}
        for rewrite in rewrites:
            sources = edited(rewrite.fixes, self.original.sources) if rewrite.key[:3] not in left else ""
            if isinstance(sources, str) and sources:
                self.reports.report(rewrite, Status.NOT_APPLICABLE, f"{rewrite.summary}: {sources}")
        return found

    def _timed(self, rewrites: list[Rewrite]) -> list[Rewrite]:
        """The edits whose cost the runs show. Reports the others: of functions that the host only calls after the runs are cut off."""
        late = self._called_late()
        for rewrite in rewrites:
            if (rewrite.path, rewrite.function) in late and rewrite.key not in self.seen:
                why = f"{rewrite.summary}: all calls of {rewrite.function} by the host come after the part that is timed"
                self.reports.report(rewrite, Status.NOT_APPLICABLE, why)
                self.seen.add(rewrite.key)
        return [one for one in rewrites if (one.path, one.function) not in late]

    def _called_late(self) -> set[tuple[str, str]]:
        """The functions that the host called in the whole program, and not before the runs are cut off."""
        if self.original.trials.cut is None:
            return set()
        known = self.original.base.functions
        return {
            (one["path"], one["function"])
            for one in self.original.run.document.watched
            if one["calls"] and one["function"] in known and not known[one["function"]]["calls"]
        }

    def _best(
        self, rewrites: Sequence[Rewrite], current: Mapping[str, SourceFile], before: Trial
    ) -> Tried | None:
        """The best of the edits that run one after the other, with the edits that fit it; reports the others."""
        tried = self._most_promising(rewrites, current, before)
        good, others = self._good(tried)
        best = self._combine(good, others, current)
        for other in others:
            if best is None or other.rewrite.key not in best.keys:
                self.reports.report(other.rewrite, Status.REJECTED, self.reports.verdict(other), other)
        return best

    def _outermost_at_once(
        self, rewrites: Sequence[Rewrite], current: Mapping[str, SourceFile]
    ) -> Tried | None:
        """All edits that fit together, in one run, if that is a plain gain: most programs need no other.

        Of those that compile the same code it has the one that compiles most. None if one by one will tell more.
        """
        if self.original.errors or self._no_time():
            return None
        # an edit that cannot be written keeps no inner one out
        writable = [one for one in rewrites if is_writable(one, current)]
        found = fitting(outermost(writable, current, self.original.run.document.watched), [], current)
        members, sources = without_errors(*found, current, self.original.foreseen)
        if len(members) < 2:
            return None
        whole = self._all(members, sources)
        for _ in range(_MOST_FAULTS):
            faulty = blamed(members, current, sources, whole.trial.frames) if whole.trial.failure else []
            if not faulty:
                break
            members, sources = self._without(faulty, members, whole, current)
            if len(members) < 2 or self._no_time():
                return None
            whole = self._all(members, sources)
        idle = [one for one in members if leaves_idle(whole.trial, one)]
        if self._is_good(whole) and idle:  # their callers are compiled: also tried without each
            rest = [one for one in members if one not in idle]
            fewer, sources = fitting(rest, [], current)
            if fewer == rest and not self._no_time():
                alone = self._all(rest, sources)
                whole = alone if self._is_good(alone) else whole
        if not self._is_good(whole):
            fair = (
                whole.problem is None and self._total(whole) <= _WORTH_SPLITTING * self.original.base.total_s
            )
            if not fair or self.original.has_time(min(len(whole.parts), MOST) + _TO_CHOOSE):
                self.fair = whole if fair else None
                self.reports.together(whole, "no clear gain")
                return None
        self._take(whole)
        return whole

    def _take(self, whole: Tried) -> None:
        for part in whole.parts:
            self.seen.add(part.rewrite.key)
            self.written |= codemods_of(part.rewrite)

    def _or_all_at_once(self, best: Tried | None) -> Tried | None:
        """The best of the edits that ran one by one, or all edits at once if these take less time."""
        fair = self.fair
        if fair is None or (best is not None and self._total(best) <= self._total(fair)):
            return best
        self._take(fair)
        return fair

    def _without(
        self,
        faulty: Sequence[Rewrite],
        members: Sequence[Rewrite],
        whole: Tried,
        current: Mapping[str, SourceFile],
    ) -> tuple[list[Rewrite], dict[str, SourceFile]]:
        """The edits with alternatives in place of those that a failed run blames, and the files with them. Reports the blamed ones."""
        for one in faulty:
            self.seen.add(one.key)
            self.reports.report(one, Status.FAILED, f"{one.summary}: {whole.problem}", whole)
        ways = [one.instead if one in faulty else one for one in members]
        rest = [one for one in ways if one is not None and one.key not in self.seen]
        return without_errors(*fitting(rest, [], current), current, self.original.foreseen)

    def _all(self, members: Sequence[Rewrite], sources: dict[str, SourceFile]) -> Tried:
        """A run with all of these edits."""
        self.combined.add(frozenset(one.key for one in members))
        whole = self.original.tried(dataclasses.replace(members[0], name="together", instead=None), sources)
        whole.parts = [Tried(one, whole.trial, sources, whole.problem) for one in members]
        return whole

    def _is_good(self, whole: Tried) -> bool:
        return whole.problem is None and is_plain(self.original.base, whole.trial)

    def _most_promising(
        self, rewrites: Sequence[Rewrite], current: Mapping[str, SourceFile], before: Trial | None = None
    ) -> list[Tried]:
        """The first edits that can run. An edit that cannot be written does not take another's place.

        Each runs alone until one is a plain gain. Later edits run on top of that one, which takes less time and shows
        their value in this combination. `before` is a run of the program in the state `current`. After a gain most of the rest
        gain nothing: several of them run all at once first.
        """
        tried: list[Tried] = []
        ground: Tried | None = None
        ran = 0
        at_once = before is not None and before is not self.original.base
        for number, one in enumerate(rewrites):
            if at_once:
                at_once = False
                rest = [other for other in rewrites[number:] if not self._is_covered(other, tried)]
                ran += self._gain_nothing(rest[: MOST - ran], current, before, ground)
            if ran == MOST:
                break
            if self._is_covered(one, tried):
                continue
            if ground is not None and (why := jit_gains_little(one, ground.trial)):
                self.little.append((one, why))
                continue
            if 0.0 < one.estimate < _SMALL * self.original.run.run_seconds:
                why = (
                    f"{one.function} takes only {one.estimate:.2f} s of {self.original.run.run_seconds:.1f} s"
                )
                self.little.append((one, why))
                continue
            runs = self.original.runs
            if (found := self._try(one, current, before, ground)) is not None:
                tried.append(found)
                if not self.original.errors and is_plain(self.reports.before(found), found.trial):
                    at_once = ground is None
                    ground = found
            ran += self.original.runs > runs
        return tried

    def _gain_nothing(
        self,
        rest: Sequence[Rewrite],
        current: Mapping[str, SourceFile],
        before: Trial | None,
        ground: Tried | None,
    ) -> bool:
        """Runs edits all at once on top of the accepted ones, and reports them if that gains nothing more;
        returns whether it ran.

        If values differ or the run is slower, some edit is at fault, and each then runs by itself.
        """
        reference = ground.trial if ground is not None else before
        rest = [
            one
            for one in rest
            if one.key not in self.seen and not (ground and jit_gains_little(one, ground.trial))
        ]
        members, sources = fitting(rest, fixes_of(ground.members) if ground else [], current)
        if reference is None or len(members) < _AT_ONCE or self._no_time():
            return False
        if self.original.errors or self.original.foreseen.new_error(sources):
            return False
        runs = self.original.runs
        whole = self.original.tried(dataclasses.replace(members[0], instead=None), sources, briefly=True)
        verdict = no_promise(reference, whole.trial, _WORTH_SPLITTING)
        if whole.problem is None and verdict is None:  # the other run may have been slow by chance
            below = ground.sources if ground is not None else current
            reference = better_of(reference, self.original.again(below))
            verdict = no_promise(reference, whole.trial, _WORTH_SPLITTING)
            if ground is not None:
                ground.trial = reference
        slower = at_equal_share(reference, whole.trial).total_s > _SLOWER * reference.total_s
        if whole.problem is None and verdict is not None and not slower:
            for one in members:
                self.seen.add(one.key)
                self.written |= codemods_of(one)
                reason = f"{one.summary}: tried at once with {len(members) - 1} others: {verdict}"
                self.reports.report(one, Status.REJECTED, reason, whole, before=reference)
        return self.original.runs > runs

    def _try(
        self,
        rewrite: Rewrite | None,
        current: Mapping[str, SourceFile],
        before: Trial | None = None,
        ground: Tried | None = None,
    ) -> Tried | None:
        """Runs an edit, or its alternative if it fails; None if nothing could run. Reports refusals.

        `ground`: an accepted edit, on top of which it is applied if both fit together.
        """
        told: set[str] = set()
        while rewrite is not None:
            if rewrite.key in self.seen:
                return None
            self.seen.add(rewrite.key)
            self.written |= codemods_of(rewrite)
            if why := self._no_time():
                self.reports.report(rewrite, Status.NOT_APPLICABLE, f"not tried: {why}")
                return None
            below = ground.members if ground is not None else []
            sources = self._edited([*fixes_of(below), *rewrite.fixes], current)
            if below and isinstance(sources, str):
                below, sources = [], self._edited(rewrite.fixes, current)
            if isinstance(sources, str):
                if sources not in told:  # all alternatives may be refused for the same reason
                    self.reports.report(rewrite, Status.NOT_APPLICABLE, f"{rewrite.summary}: {sources}")
                told.add(sources)
                rewrite = rewrite.instead
                continue
            tried = self.original.tried(rewrite, sources)
            if tried.problem is None:
                tried.before = ground.trial if below and ground is not None else before
                if below:
                    tried.parts = [*below, dataclasses.replace(tried)]
                    self.combined.add(tried.keys)
                return tried
            status = Status.FAILED if tried.trial.failure else Status.REJECTED
            self.reports.report(rewrite, status, f"{rewrite.summary}: {tried.problem}", tried)
            rewrite = rewrite.instead
        return None

    def _no_time(self) -> str:
        """Why no further edit is tried; "" if there is time."""
        if not self.original.has_time_to_prove():
            return "the --budget leaves no time for it"
        if self.original.runs and not self.original.can_pay(_NEXT):
            return self.original.run.too_dear()
        return "no time is left for edits of the source" if time.monotonic() > self.original.deadline else ""

    def _edited(
        self, fixes: Sequence[FixRequest], current: Mapping[str, SourceFile]
    ) -> dict[str, SourceFile] | str:
        """The files with the fixes applied, or why they are not: no run can show a failure on a path that it does not
        take."""
        sources = edited(fixes, current)
        return sources if isinstance(sources, str) else self.original.foreseen.new_error(sources) or sources

    def _is_covered(self, rewrite: Rewrite, tried: Sequence[Tried]) -> bool:
        """Whether another edit of the function includes this one and seems to pay."""
        codemods = codemods_of(rewrite)
        return any(
            (codemods < codemods_of(one.rewrite) or is_inside(rewrite, one.rewrite))
            and no_promise(self.reports.before(one), one.trial) is None
            for one in tried
        )

    def _good(self, tried: Sequence[Tried]) -> tuple[list[Tried], list[Tried]]:
        """Edits that one run shows to be better and nowhere much worse, and edits that may pay in combination.

        Edits that ran on top of others without a gain are left out.
        """
        good, others = [], []
        for one in tried:
            before = self.reports.before(one)
            verdict = no_promise(before, one.trial)
            if self.original.errors or verdict is None:
                good.append(one)
            elif not one.parts and at_equal_share(before, one.trial).total_s <= _BEARABLE * before.total_s:
                others.append(one)
            else:
                reason = f"{one.rewrite.summary}: {verdict}"
                self.reports.report(one.rewrite, Status.REJECTED, reason, one, before=before)
        return good, others

    def _combine(
        self, good: Sequence[Tried], others: Sequence[Tried], current: Mapping[str, SourceFile]
    ) -> Tried | None:
        """All edits that fit together, or those that are good alone, or the best of these with the edits that fit it."""
        ranked = [*sorted(good, key=self._total), *others]
        good = ranked[: len(good)]
        found = self._whole(ranked, current, good[:1]) or self._whole(good, current, good[:1])
        if found is None and good:
            found = good[0]
            for one in good[1:]:
                if time.monotonic() < self.original.deadline:
                    found = self._whole([found, one], current, [found]) or found
        if found is None:
            return None
        for one in good:
            if one.rewrite.key not in found.keys:
                self.reports.report(one.rewrite, Status.REJECTED, self.reports.verdict(one), one)
        return found

    def _whole(
        self, members: Sequence[Tried], current: Mapping[str, SourceFile], alone: Sequence[Tried]
    ) -> Tried | None:
        """The edits that can be applied together, as one, if that is no worse than `alone`; tried once."""
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
        if self._no_time():
            return None
        fixes = tuple(fixes_of(parts))
        rewrite = dataclasses.replace(parts[0].rewrite, name="together", fixes=fixes, instead=None)
        if foreseen := self.original.foreseen.new_error(sources):
            self.reports.report(rewrite, Status.NOT_APPLICABLE, f"{rewrite.summary}: {foreseen}")
            return None
        whole = self.original.tried(rewrite, sources)
        whole.parts = parts
        better = self._total(whole) <= least
        if (
            whole.problem is None
            and better
            and (alone or no_promise(self.original.base, whole.trial) is None)
        ):
            return whole
        self.reports.together(whole, "no better than one edit alone")
        return None

    def _total(self, one: Tried) -> float:
        return at_equal_share(self.original.base, one.trial).total_s

    def _together(
        self, ranked: Sequence[Tried], current: Mapping[str, SourceFile]
    ) -> tuple[list[Tried], dict[str, SourceFile]]:
        """As many of the edits as fit together, earlier ones first; none in a function that another edit compiles."""
        chosen: list[Tried] = []
        sources = dict(current)
        for one in ranked:
            if any(leaves_idle(other.trial, one.rewrite) for other in ranked if other is not one):
                continue
            both = edited([fix for other in (*chosen, one) for fix in other.rewrite.fixes], dict(current))
            if not isinstance(both, str):
                chosen, sources = [*chosen, one], both
        return chosen, sources

    def _again(self, current: Mapping[str, SourceFile], best: Tried) -> list[Rewrite]:
        """The findings of check in the edited files, and the present time consumers, without anything tried before. Of a function,
        part of which is compiled now, other parts may follow."""
        try:
            findings = check_texts(current)
        except Exception:  # a rule's internal error must not cost the proven edits
            return []
        functions = best.trial.functions
        seconds = {(entry["path"], name): entry["seconds"] for name, entry in functions.items()}
        calls = {(entry["path"], name): entry["calls"] or 0 for name, entry in functions.items()}
        found = from_findings(findings, seconds, errors=False, calls=calls)
        least = LEFT * self._total(best)
        again = run_again(self.original.run.document.watched, functions, current)
        scripts = script_of(self.original.run, best.trial.total_s, again)
        busy = [one for one in from_run(again, current, scripts) if one.estimate >= least]
        alone, busy = over_findings(without_those(found, busy), busy)
        found = sorted(alone + busy, key=lambda one: -one.estimate)
        return [
            one
            for one in found
            if one.key not in self.seen and (one.what or not codemods_of(one) <= self.written)
        ]

    def _changes(self, kept: Tried) -> list[Change]:
        return [
            Change(self.original.sources[path], source.text)
            for path, source in kept.sources.items()
            if source.text != self.original.sources[path].text
        ]


def search_source(run: Run) -> list[Change]:
    """Tries edits of the source and reports each; returns the files with the proven edits."""
    stored = stored_runs(run)
    plan = stored.plan() if stored is not None else None
    if run.check is not None and may_fork(run) and not run.fails and plan is None:
        begin_imports(run.request, packages_of(run))
    rewrites, observe = plan or planned(run)
    if not rewrites or run.check is None:
        return []
    if stored is not None and plan is None:
        stored.keep_plan(rewrites, observe)
    with original_of(run, observe, errors=run.fails, stored=stored) as original:
        try:
            return EditSearch(original).search(rewrites)
        except TooLarge as error:
            run.listener.note(f"edits of the source were not tried: {error}")
            return []
