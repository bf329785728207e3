"""The original program, and the comparison of edited versions with it.

The original's values come from one run. If an edit differs from it, two more runs follow: a second, and a
third with other rounding. Values that do not repeat prove nothing, and an edit may move a value as far as
rounding does.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
import os
import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint.source.file import SourceFile
from jaxlint_runtime.capture.truncation import in_words
from jaxlint_runtime.protocol.fork_records import CACHE, LEAST_COMPILE
from jaxlint_runtime.protocol.worker_events import Compared
from jaxlint_runtime.rewrites.outcome import ends_otherwise, other_outcome
from jaxlint_runtime.rewrites.printed_output import compared_lines
from jaxlint_runtime.rewrites.proposals import Rewrite, packages_to_load
from jaxlint_runtime.rewrites.run_figures import better_of
from jaxlint_runtime.rewrites.side_effects import compared_files
from jaxlint_runtime.rewrites.stored_runs import StoredRuns, version_name
from jaxlint_runtime.rewrites.trial_runs import (
    IN_DOUBLE,
    OTHER_ROUNDING,
    WITHOUT_JIT,
    Trial,
    Trials,
    both_missed,
    with_missed,
)
from jaxlint_runtime.rewrites.tried_edit import Tried, is_plain
from jaxlint_runtime.run import Run
from jaxlint_runtime.source_analysis.findings import Foreseen
from jaxlint_runtime.spent import ORIGINAL, ROUNDING
from jaxlint_runtime.wording.edit_names import label

_SECONDS = 240.0  # for all of it, by default
_CUT = 1 / 3  # share of the program's time, after which a longer run is cut off
MOST = 6  # edits that are tried in one round
_SHARE = 1 / 6  # of what is left of the --budget, after which the original is cut off
_LEAST_WORK = 1.0  # seconds after which it is cut off at the earliest
_HALF = 0.6  # of it, after which the original is given up
_TO_COMPARE = 0.8  # of the time to the end of the capture, with the imports: less is left for no comparison
_WORTH = 2.0  # times the allowance, for evidence about an edit that gains a lot
_TO_KNOW = 3.2  # runs: two more of the original, and another one of the edit
_PAIR = (
    1.6  # runs of the original that a pair takes in which the other is twice as fast; without storing values
)
_SHORTER = 0.6  # of the original's time, in which the first edit may run: what gains a lot is faster
_NO_TIME = "the --budget leaves no time to run the whole program for comparison"
_BASE = "the original"
_NOT_AGAIN = "the original, which ran in an earlier run of verify, did not run again for comparison"
_START = 3.0  # seconds that a process takes to start, where that was not seen
_ROUNDED = 100.0  # times the tolerance for an edit that is equivalent without jit, or in float64
_COUNTS = ("a run", "two runs", "three runs")  # by the number of repeats
_SHRINKS = 1e-3  # share of a difference that remains in float64, if it is rounding


@dataclass(frozen=True, slots=True)
class _InDouble:
    """The comparison in float64 for an edit, and the printed lines of both versions there."""

    told: str
    original: Trial
    edited: Trial


@dataclass(slots=True)
class Original:
    """Runs of the program, with the texts of its files as checked. `deadline`: for all of them."""

    run: Run
    trials: Trials
    sources: dict[str, SourceFile]
    deadline: float
    dtype: str | None = None  # the dtype of edits that is coarser than the program's
    errors: bool = False  # the program fails: its results without jit are the reference
    base: Trial = field(default_factory=Trial)
    repeats: list[Trial] = field(default_factory=list)
    references: list[Path] = field(default_factory=list)
    uncompiled: list[Path] | None = None  # the reference for edits that run without jit
    double: tuple[Trial, Path] | None = None  # the original in float64, if it was needed
    wall_s: float = 0.0  # of its first run, with the start of the process
    known: bool = False  # whether it also ran again, and with other rounding
    runs: int = 0  # of edited programs
    ended: int = 0  # of these, the ones that did not fail
    stored: StoredRuns | None = None  # what earlier runs of `verify` found
    others: list[Original] = field(default_factory=list)  # the program with the arguments of each --also
    foreseen: Foreseen = field(init=False)

    def __post_init__(self) -> None:
        self.foreseen = Foreseen(self.sources)

    def measure(self) -> bool:
        """Runs the original as often as the comparison needs; returns whether it can run."""
        if not self.run.request.has_time(_TO_COMPARE * self.run.run_seconds):
            self.base = Trial(_NO_TIME)
            return False
        known = self.stored.run(_BASE) if self.stored is not None else None
        if known is not None and known.failure is None:
            self.base, self.trials.cut = known, known.cut
            self.wall_s = known.total_s + _START
        elif not self._run_first():
            return False
        if not self.errors:
            if not all(map(self._measure_other, self.others)):
                return False
            self.sources = with_missed(self.sources, self.base)
        # on a slow machine, or with a long program, edits are tried anyway
        self.deadline = max(self.deadline, time.monotonic() + MOST * self.base.total_s)
        return True

    def _run_first(self) -> bool:
        """Runs the original, for its values and figures; returns whether it can run now."""
        self.run.listener.note(
            "running the whole program in scratch copies to compare edits of the source with it"
        )
        limit = max(min(self.deadline - time.monotonic(), self.run.request.run_for or 120.0) * 1.5, 10.0)
        compiled = {} if self.errors else self._compiled_once()
        environment = WITHOUT_JIT if self.errors else compiled
        begun, known = time.monotonic(), self.base
        self.base, first = self._first_run(limit, environment)
        self.wall_s = time.monotonic() - begun
        if self.base.failure is not None:
            return False
        self.references = [first]
        if known.earlier:  # the load may have been different then, so no gain may be derived from it
            self.base = better_of(self.base, known)
        elif self.stored is not None:
            self.stored.keep_run(_BASE, self.base)
        return True

    def _measure_other(self, other: Original) -> bool:
        """Runs the program with the arguments of one --also. Code that any of these runs reaches counts as reached."""
        if not other.measure():
            self.base.failure = f"with {other.arguments}: {other.base.failure}"
            return False
        self.base.missed = both_missed(self.base, other.base)
        self.wall_s += other.wall_s
        return True

    @property
    def arguments(self) -> str:
        """The arguments of the program, in words."""
        return shlex.join(self.run.request.arguments) or "no arguments"

    def _run_again(self, environment: Mapping[str, str], limit: float) -> bool:
        """Runs the original once more, to find repeatable values and the effect of rounding; returns whether
        these are known then.
        """
        trial, folder = self.trials.run(self.sources, limit, environment=environment, purpose=ROUNDING)
        if trial.failure is None:
            self.references.append(folder)
            self.repeats.append(trial)
        return trial.failure is None

    def again(self, sources: Mapping[str, SourceFile]) -> Trial:
        """Another run of a version that was compared before."""
        self.runs += 1
        question = f"again {version_name(sources)}"
        known = self.stored.run(question) if self.stored is not None else None
        if known is not None or not self._has_values():
            return known or Trial(_NOT_AGAIN, died=True)
        limit = 4 * self.base.total_s + 30
        trial = self.trials.run(sources, limit, self.references, dtype=self.dtype)[0]
        if self.stored is not None:
            self.stored.keep_run(question, trial)
        return trial

    def _has_values(self) -> bool:
        """Whether there are values to compare with."""
        known = self.base
        if not self._lacks_values or self._run_first():
            return True
        self.base = known
        return False

    @property
    def _lacks_values(self) -> bool:
        """Whether an earlier `verify` run only left figures of the original."""
        return bool(self.base.earlier) and not self.references

    def has_time(self, runs: float) -> bool:
        """Whether so many runs of the program fit into the remaining time."""
        return self.run.request.has_time(runs * self.wall_s)

    def has_time_to_prove(self) -> bool:
        """Whether an edit's run fits into the remaining time, and also a pair of timed runs if it gains."""
        first = self.wall_s if self._lacks_values else 0.0
        if self.ended == 0:  # without it nothing is found at all; one run shows a large gain
            return self.run.request.has_time(first + _SHORTER * self.wall_s)
        return self.run.request.has_time(first + self.wall_s + _PAIR * self.base.total_s)

    def can_pay(self, runs: float, worth: float = 1.0) -> bool:
        """Whether so many runs of the original, in processor time, stay within the allowance, or `worth` times as much."""
        more = (worth - 1.0) * (self.run.request.price or 0.0) * (self.run.spent.program_s or 0.0)
        return runs * self.base.cpu_s <= self.run.allowance + more

    def _can_know(self, trial: Trial, runs: float) -> bool:
        """Whether the further runs that tell rounding from an error are worth their price."""
        return self.can_pay(runs, _WORTH if is_plain(self.base, trial) else 1.0)

    def _first_run(self, limit: float, environment: Mapping[str, str]) -> tuple[Trial, Path]:
        """Runs the original to its end; if that takes too long, up to the end of a call, like all later runs."""
        run = self.run
        allowed = run.request.run_for
        left = run.request.within(math.inf)
        if self.trials.cut is not None:  # as in an earlier run of `verify`
            return self.trials.run(self.sources, 3 * limit, environment=environment, purpose=ORIGINAL)
        if left < math.inf and not self.errors:
            # An edited program has to start, too: where starts are slow, less is left for the work of each.
            share = min(_SHARE * left, max(_LEAST_WORK, (left - 2 * run.start_seconds) / 4))
            return self._cut_run(_HALF * left, environment, share)
        if self.errors or allowed is None or run.run_seconds <= allowed:  # it may be short
            found = self.trials.run(self.sources, limit, environment=environment, purpose=ORIGINAL)
            if self.errors or not found[0].late:
                return found
        return self._cut_run(3 * limit, environment, _CUT * limit)

    def _cut_run(self, limit: float, environment: Mapping[str, str], after: float) -> tuple[Trial, Path]:
        """Runs the original, cut off at the first place after so many seconds."""
        trial, folder = self.trials.run(
            self.sources, limit, environment=environment, cut_after=after, purpose=ORIGINAL
        )
        if trial.failure is None and trial.cut is not None:
            self.trials.cut = trial.cut
            self.run.listener.note(
                f"the program is long: edits are compared and timed up to the end of {in_words(trial.cut)}"
            )
        return trial, folder

    def _compiled_once(self) -> dict[str, str]:
        """For a second run of the original that used the first one's compilation cache, on a CPU: runs again without
        compiling.

        Other compilers choose algorithms by timing, so that another compilation may round differently.
        """
        device = self.run.document.device or ""
        if CACHE in os.environ or not device.startswith("cpu"):
            return {}
        # Eager operations are many small compiles.
        return {CACHE: str(self.trials.folder / "compiled"), LEAST_COMPILE: "0"}

    def why(self) -> str:
        """Why it cannot run."""
        if self.base.failure == _NO_TIME or self.run.request.is_over:
            return _NO_TIME
        how = "without jit" if self.errors else "to its end"
        failure = str(self.base.failure)
        if self.base.late and self.run.request.ends is not None:
            return (
                "the --budget is too short: the original reached no printed line or repeated call to compare"
            )
        if "took longer than" in failure:
            failure += " (shorten the run with arguments after `--`, or give it more time with `--for`)"
        return f"the original does not run {how} for comparison: {failure}"

    def tried(self, rewrite: Rewrite, sources: dict[str, SourceFile], *, briefly: bool = False) -> Tried:
        """Runs the program with an edit, and compares its results, its output and its files; also with the arguments of each --also.

        `briefly`: without the further runs that tell rounding from an error.
        """
        self.runs += 1
        known = self.stored.tried(rewrite, sources, briefly) if self.stored is not None else None
        tried = known or self.tried_now(rewrite, sources, briefly=briefly)
        self.ended += tried.trial.failure is None
        return tried

    def tried_now(self, rewrite: Rewrite, sources: dict[str, SourceFile], *, briefly: bool = False) -> Tried:
        """The same, without results of earlier `verify` runs."""
        self.run.listener.progress(f"{rewrite.function}: trying {label(f'source:{rewrite.name}')}")
        if not self._has_values():
            return Tried(rewrite, Trial(_NOT_AGAIN, died=True), sources, _NOT_AGAIN)
        tried = self._tried(rewrite, sources, briefly)
        if self.stored is not None:
            self.stored.keep_tried(tried, briefly)
        for other in self.others:
            if tried.problem is not None:
                break
            found = other.tried(rewrite, sources, briefly=briefly)
            tried.evidence += f"; with {other.arguments}: {found.evidence.partition(' compared with ')[0]}"
            tried.problem = found.problem and f"with {other.arguments}: {found.problem}"
            tried.trial.missed = both_missed(tried.trial, found.trial)
        return tried

    def _tried(self, rewrite: Rewrite, sources: dict[str, SourceFile], briefly: bool) -> Tried:
        tried = self._compared(rewrite, sources, briefly=briefly or not (self.known or self.errors))
        done = briefly or tried.problem is None or tried.trial.failure is not None
        if done or self.errors or self.known or not self.has_time(_TO_KNOW):
            return tried
        if not self._can_know(tried.trial, _TO_KNOW):
            tried.problem = f"{tried.problem}; whether that is rounding was not tested: {self.run.too_dear()}"
            return tried
        begun = time.monotonic()  # the further runs of the original do not count against an edit's time
        self.known = True
        limit = 3 * (4 * self.base.total_s + 30)
        self._run_again(self._compiled_once(), limit)
        self._run_again(OTHER_ROUNDING, limit)
        self.deadline += time.monotonic() - begun
        return self._compared(rewrite, sources)

    def _compared(self, rewrite: Rewrite, sources: dict[str, SourceFile], *, briefly: bool = False) -> Tried:
        """Compares the program with an edit with the known results of the original."""
        limit = 4 * self.base.total_s + 30
        trial, _ = self.trials.run(sources, limit, self.references, dtype=self.dtype)
        tried = Tried(rewrite, trial, sources, trial.failure)
        if trial.failure is not None:
            return tried
        compared = trial.compared or Compared()
        lines, numbers = compared_lines(self.base.printed, [one.printed for one in self.repeats])
        files = compared_files(self.base.left, [one.left for one in self.repeats])
        problem, rounding = compared.problem, ""
        runs = self.base, self.repeats, trial
        if problem and not briefly and self._may_be_rounding(compared) and self._can_know(trial, 2.0):
            begun = time.monotonic()
            if rounding := self._only_rounded(compared, sources, limit):
                problem = None
            elif (double := self._same_in_double(compared, sources, limit)) is not None:
                problem, rounding, runs = None, double.told, (double.original, [], double.edited)
            self.deadline += time.monotonic() - begun  # it does not count against another edit's time
        tried.problem = ends_otherwise(self.base, trial) or other_outcome(
            *runs, values=problem, coarse=self.dtype is not None
        )
        if tried.problem is None and not compared.values and not numbers and not files:
            tried.problem = "the program prints, returns and writes no number to compare"
        if compared.numerics is not None:
            tried.numerics = dataclasses.replace(compared.numerics, max_rel=compared.moved or 0.0)
            if rounding:
                allowed = _ROUNDED * tried.numerics.tolerance
                tried.numerics = dataclasses.replace(tried.numerics, tolerance=allowed, passed=True)
        reference = (
            "the original without jit" if self.errors else f"{_COUNTS[len(self.repeats)]} of the original"
        )
        if self.trials.cut is not None:
            reference += f" up to {in_words(self.trials.cut)}"
        if apart := compared.apart:
            reference += f", which differ by up to {apart:.1e} among themselves (smaller differences cannot be detected)"
        tried.evidence = (
            f"{compared.values} values of {compared.calls} results and {lines} printed lines{_and_files(files)} compared with {reference}; {rounding}"
            "whole programs, each in a process of its own; memory is the peak resident set"
        )
        return tried

    def _uncompiled(self, limit: float) -> list[Path]:
        """The original's results without jit, if it has any; one separate run."""
        if self.uncompiled is None:
            self.uncompiled = self.references
            if self.run.document.functions:
                trial, folder = self.trials.run(
                    self.sources, limit, environment=WITHOUT_JIT, purpose=ROUNDING
                )
                self.uncompiled = [folder] if trial.failure is None else self.references
        return self.uncompiled

    def _only_rounded(self, compared: Compared, sources: Mapping[str, SourceFile], limit: float) -> str:
        """Evidence that an edit only differs by compiler rounding: without jit it matches the original.

        Eager code rounds independently of XLA's compilation, so the other runs of the original do not show the effect
        of rounding.
        """
        trial, _ = self.trials.run(
            sources, limit, self._uncompiled(limit), environment=WITHOUT_JIT, purpose=ROUNDING
        )
        if trial.failure is not None or trial.compared is None or trial.compared.problem is not None:
            return ""
        return (
            f"the difference comes from how XLA rounds: without jit it is {trial.compared.moved or 0.0:.1e} "
            f"instead of {compared.moved:.1e}; "
        )

    def _may_be_rounding(self, compared: Compared) -> bool:
        """Whether an edit differs by so little that further runs may attribute it to rounding."""
        if self.errors or self.dtype is not None or compared.numerics is None or compared.moved is None:
            return False
        return 0 < compared.moved <= _ROUNDED * compared.numerics.tolerance

    def _same_in_double(
        self, compared: Compared, sources: Mapping[str, SourceFile], limit: float
    ) -> _InDouble | None:
        """Runs in float64, if an edit differs by rounding that the program amplifies; None if it does not.

        A random draw that decides between branches, or a chaotic trajectory, amplifies rounding. Such a difference
        shrinks with higher precision, and an error does not.
        """
        if self.double is None:
            self.double = self.trials.run(self.sources, limit, environment=IN_DOUBLE, purpose=ROUNDING)
        original, folder = self.double
        if original.failure is not None:
            return None
        trial, _ = self.trials.run(sources, limit, [folder], environment=IN_DOUBLE, purpose=ROUNDING)
        left = None if trial.compared is None else trial.compared.moved
        far = compared.moved
        if trial.failure is not None or left is None or far is None or left > _SHRINKS * far:
            return None
        told = (
            f"the difference is rounding that the program amplifies: in float64 it is {left:.1e} "
            f"instead of {far:.1e}; "
        )
        return _InDouble(told, original, trial)


@contextlib.contextmanager
def original_of(run: Run, observe: Sequence[tuple[str, str]], **options: Any) -> Iterator[Original]:
    """The program of a run, without new runs, with a folder for its runs. `observe`: functions whose results are
    compared."""
    assert run.check is not None
    sources = dict(run.check.sources)
    with tempfile.TemporaryDirectory(prefix="jaxlint-trials-", ignore_cleanup_errors=True) as name:
        deadline = time.monotonic() + _SECONDS

        def original(arguments: tuple[str, ...], folder: Path) -> Original:
            other = copy.copy(run)
            other.request = dataclasses.replace(run.request, arguments=arguments, also=())
            folder.mkdir()
            return Original(
                other, Trials(other, observe, packages_of(run), folder), sources, deadline, **options
            )

        found = original(run.request.arguments, Path(name, "0"))
        found.run = run
        if not found.errors:
            found.others = [original(one, Path(name, str(n))) for n, one in enumerate(run.request.also, 1)]
        yield found


def packages_of(run: Run) -> list[str]:
    """The packages of a program, which are imported before the clock starts."""
    assert run.check is not None
    return packages_to_load(run.check.sources.values(), [str(root) for root in run.request.roots()])


def values_of(
    run: Run,
    sources: Mapping[str, SourceFile],
    functions: Sequence[tuple[str, str]],
    dtype: str | None = None,
) -> str | None:
    """How the program with these texts differs from the original, in printed lines and results of `functions`.

    `dtype`: the dtype of the texts' computations, whose rounding is allowed.
    """
    with original_of(run, functions, dtype=dtype) as original:
        if foreseen := original.foreseen.new_error(sources):
            return foreseen
        if not original.measure():
            return original.why()
        path, function = functions[0]
        return original.tried(Rewrite("edit", None, function, path, 0, "", ()), dict(sources)).problem


def _and_files(number: int) -> str:
    return f" and {number} file{'' if number == 1 else 's'}" if number else ""
