"""The program as it is, and whether an edited version of it does the same.

The values of the original are taken from three runs of it: as it is, again, and with other rounding. What does not repeat
proves nothing, and how far rounding moves a value is how far an edit may move it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint.source.file import SourceFile
from jaxlint_runtime.protocol.worker_events import Compared
from jaxlint_runtime.rewrites.outcome import ends_otherwise, other_outcome
from jaxlint_runtime.rewrites.printed_output import compared_lines
from jaxlint_runtime.rewrites.proposals import Rewrite, packages_to_load
from jaxlint_runtime.rewrites.side_effects import compared_files
from jaxlint_runtime.rewrites.trial_runs import IN_DOUBLE, OTHER_ROUNDING, WITHOUT_JIT, Trial, Trials
from jaxlint_runtime.rewrites.tried_edit import Tried
from jaxlint_runtime.run import Run
from jaxlint_runtime.source_analysis.findings import Foreseen

_SECONDS = 240.0  # for all of it, by default
_CUT = 1 / 3  # of the time that a program has, after which one that needs more is cut off
MOST = 6  # edits that are tried in one round
_ROUNDED = 100.0  # times the tolerance that an edit may be off where it is the same operation by operation, or in float64
_SHRINKS = 1e-3  # of a difference is left in float64, where it is rounding
_CACHE = "JAX_COMPILATION_CACHE_DIR"


@dataclass(frozen=True, slots=True)
class _InDouble:
    """What runs in float64 say of an edit, and what both versions printed there."""

    told: str
    original: Trial
    edited: Trial


@dataclass(slots=True)
class Original:
    """Runs of the program, with the texts of its files as check examined them. `deadline`: for all of them."""

    run: Run
    trials: Trials
    sources: dict[str, SourceFile]
    deadline: float
    dtype: str | None = None  # that edits compute in, where it is coarser than the program's
    errors: bool = False  # the program fails: what it computes without jit is the reference
    base: Trial = field(default_factory=Trial)
    repeats: list[Trial] = field(default_factory=list)
    references: list[Path] = field(default_factory=list)
    uncompiled: list[Path] | None = None  # the reference for edits that run without jit
    double: tuple[Trial, Path] | None = None  # the original in float64, where that was asked for
    runs: int = 0  # of edited programs
    foreseen: Foreseen = field(init=False)

    def __post_init__(self) -> None:
        self.foreseen = Foreseen(self.sources)

    def measure(self) -> bool:
        """Run the original, as often as it is needed for the comparison; whether it can be run."""
        self.run.listener.note(
            "running the whole program in scratch copies to compare edits of the source with it"
        )
        limit = max(min(self.deadline - time.monotonic(), self.run.request.run_for or 120.0) * 1.5, 10.0)
        compiled = {} if self.errors else self._compiled_once()
        environment = WITHOUT_JIT if self.errors else compiled
        self.base, first = self._first_run(limit, environment)
        self.references = [first]
        if self.base.failure is not None:
            return False
        for extra in (compiled, OTHER_ROUNDING) if not self.errors else ():
            trial, folder = self.trials.run(self.sources, 3 * limit, environment=extra)
            if trial.failure is None:
                self.references.append(folder)
                self.repeats.append(trial)
        # a slow machine, or a long program, has its edits tried all the same
        self.deadline = max(self.deadline, time.monotonic() + MOST * self.base.total_s)
        return True

    def _first_run(self, limit: float, environment: Mapping[str, str]) -> tuple[Trial, Path]:
        """Run the original to its end; where that takes too long, up to the end of a call, as all that follow."""
        run = self.run
        allowed = run.request.run_for
        if self.errors or allowed is None or run.run_seconds <= allowed:  # it may be short
            found = self.trials.run(self.sources, limit, environment=environment)
            if self.errors or not found[0].late:
                return found
        trial, folder = self.trials.run(
            self.sources, 3 * limit, environment=environment, cut_after=_CUT * limit
        )
        if trial.failure is None and trial.cut is not None:
            self.trials.cut = trial.cut
            _, name, number = trial.cut
            self.run.listener.note(
                f"the program is long: edits are compared and timed up to the end of call {number} of {name}"
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

    def why(self) -> str:
        """Why it cannot."""
        how = "without jit" if self.errors else "to its end"
        failure = str(self.base.failure)
        if "took longer than" in failure:
            failure += " (shorten the run with arguments after `--`, or give it more time with `--for`)"
        return f"the original does not run {how} for comparison: {failure}"

    def tried(self, rewrite: Rewrite, sources: dict[str, SourceFile]) -> Tried:
        """Run the program with an edit, and compare what it computes, prints and leaves."""
        self.run.listener.progress(f"{rewrite.function}: trying {rewrite.name}")
        limit = 4 * self.base.total_s + 30
        self.runs += 1
        trial, _ = self.trials.run(sources, limit, self.references, dtype=self.dtype)
        tried = Tried(rewrite, trial, sources, trial.failure)
        if trial.failure is not None:
            return tried
        compared = trial.compared or Compared()
        lines, numbers = compared_lines(self.base.printed, [one.printed for one in self.repeats])
        files = compared_files(self.base.left, [one.left for one in self.repeats])
        problem, rounding = compared.problem, ""
        runs = self.base, self.repeats, trial
        if problem and self._may_be_rounding(compared):
            begun = time.monotonic()
            if rounding := self._only_rounded(compared, sources, limit):
                problem = None
            elif (double := self._same_in_double(compared, sources, limit)) is not None:
                problem, rounding, runs = None, double.told, (double.original, [], double.edited)
            self.deadline += time.monotonic() - begun  # it takes no other edit's time
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
        reference = "the original without jit" if self.errors else "three runs of the original"
        if self.trials.cut is not None:
            reference += f" up to call {self.trials.cut[2]} of {self.trials.cut[1]}"
        if apart := compared.apart:
            reference += (
                f", which differ by up to {apart:.1e} among themselves (smaller differences stay unseen)"
            )
        tried.evidence = (
            f"{compared.values} values of {compared.calls} results and {lines} printed lines{_and_files(files)} compared with {reference}; {rounding}"
            "whole programs in fresh processes; memory is the peak resident set"
        )
        return tried

    def _uncompiled(self, limit: float) -> list[Path]:
        """What the original computes without jit, where it has any; a run of its own, made once."""
        if self.uncompiled is None:
            self.uncompiled = self.references
            if self.run.document.functions:
                trial, folder = self.trials.run(self.sources, limit, environment=WITHOUT_JIT)
                self.uncompiled = [folder] if trial.failure is None else self.references
        return self.uncompiled

    def _only_rounded(self, compared: Compared, sources: Mapping[str, SourceFile], limit: float) -> str:
        """What shows that an edit is off by what compiling rounds alone: without jit it computes what the original does so.

        What runs operation by operation rounds the same however XLA compiles, so that the other runs of the original do not
        show how far rounding moves it.
        """
        trial, _ = self.trials.run(sources, limit, self._uncompiled(limit), environment=WITHOUT_JIT)
        if trial.failure is not None or trial.compared is None or trial.compared.problem is not None:
            return ""
        return (
            f"the difference comes from how XLA rounds: without jit it is {trial.compared.moved or 0.0:.1e} "
            f"instead of {compared.moved:.1e}; "
        )

    def _may_be_rounding(self, compared: Compared) -> bool:
        """Whether an edit is off by so little that it is worth further runs to tell rounding from a mistake."""
        if self.errors or self.dtype is not None or compared.numerics is None or compared.moved is None:
            return False
        return 0 < compared.moved <= _ROUNDED * compared.numerics.tolerance

    def _same_in_double(
        self, compared: Compared, sources: Mapping[str, SourceFile], limit: float
    ) -> _InDouble | None:
        """Runs in float64, where the edit differs by rounding that the program makes larger; None where it does not.

        A draw that decides between branches, or a trajectory that is chaotic, turns rounding into other numbers. Such a difference
        shrinks with the precision, and a mistake does not.
        """
        if self.double is None:
            self.double = self.trials.run(self.sources, limit, environment=IN_DOUBLE)
        original, folder = self.double
        if original.failure is not None:
            return None
        trial, _ = self.trials.run(sources, limit, [folder], environment=IN_DOUBLE)
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
    """The program of a run, not yet run again, with a folder for its runs. `observe`: functions whose results are compared."""
    assert run.check is not None
    sources = dict(run.check.sources)
    preload = packages_to_load(sources.values(), [str(root) for root in run.request.roots()])
    with tempfile.TemporaryDirectory(prefix="jaxlint-trials-", ignore_cleanup_errors=True) as name:
        trials = Trials(run, observe, preload, Path(name))
        yield Original(run, trials, sources, time.monotonic() + _SECONDS, **options)


def values_of(
    run: Run,
    sources: Mapping[str, SourceFile],
    functions: Sequence[tuple[str, str]],
    dtype: str | None = None,
) -> str | None:
    """Why the program with these texts does not compute what it did, from its printed lines and the results of `functions`.

    `dtype`: the texts compute in it, so that its rounding is allowed.
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
