"""JAX settings from the environment, tried on the whole program in fresh processes.

A persistent compilation cache pays from the second start on; coarser products pay on accelerators and change values.
Each is measured, and reported with the way to set it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.optimiser_settings import EAGER, ENVIRONMENT
from jaxlint_runtime.protocol.worker_events import Compared
from jaxlint_runtime.rewrites.outcome import other_outcome
from jaxlint_runtime.rewrites.run_figures import figures_in_words, measured
from jaxlint_runtime.rewrites.trial_runs import WITHOUT_JIT, Trial, Trials
from jaxlint_runtime.run import Run
from jaxlint_runtime.workers.scratch_copy import TooLarge

CACHE = "JAX_COMPILATION_CACHE_DIR"
PRECISION = "JAX_DEFAULT_MATMUL_PRECISION"
_ALL = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
_SECONDS = 240.0
_PAIRS = 3
_CLOSE = 2e-2  # how far coarser products may move a value, relative to the norm of its group


@dataclass(frozen=True, slots=True)
class _Setting:
    name: str
    environment: Mapping[str, str]
    advice: str
    warm: bool = False  # the folder that one run leaves for the next


def try_settings(run: Run) -> Iterator[Result]:
    """A result for each setting, as it is decided."""
    document, wanted = run.document, run.request.transforms or ()
    if not document.ran or document.interrupted:
        return
    finished = document.ending is not None and document.ending["how"] == "finished"
    with tempfile.TemporaryDirectory(prefix="jaxlint-settings-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        observe = [(one["path"], one["function"]) for one in document.watched if one["calls"]]
        tries = _Tries(run, Trials(run, observe, (), folder, forked=False))
        try:
            refusal = tries.begin(None if finished else run.request.run_for)
            if refusal is not None:
                yield refusal
                return
            for one in _settings(run, folder) if ENVIRONMENT in wanted else ():
                yield one if isinstance(one, Result) else tries.run(one)
            if EAGER in wanted:
                yield tries.against_eager()
        except TooLarge as error:
            run.listener.note(f"settings were not tried: {error}")


def _settings(run: Run, folder: Path) -> list[_Setting | Result]:
    """The settings to try here, and results for those that are useless."""
    found: list[_Setting | Result] = []
    if os.environ.get(CACHE):
        why = f"a compilation cache is already set ({CACHE})"
        found.append(_result(run, "setting:compilation-cache", Status.NOT_APPLICABLE, why))
    else:
        place = folder / "cache"
        place.mkdir()
        found.append(
            _Setting(
                "setting:compilation-cache",
                {CACHE: str(place), **_ALL},
                f"cache compiled programs: set {CACHE} to a folder, or call jax.config.update('jax_compilation_cache_dir', ...) first; "
                "jax_persistent_cache_min_compile_time_secs=0 also keeps what compiles in less than a second",
                warm=True,
            )
        )
    device = run.document.device or "cpu"
    name = "setting:matmul-precision"
    if os.environ.get(PRECISION):
        found.append(_result(run, name, Status.NOT_APPLICABLE, f"the precision is already set ({PRECISION})"))
    elif device.startswith("cpu"):
        why = "a CPU always computes float32 products in float32"
        found.append(_result(run, name, Status.NOT_APPLICABLE, why))
    else:
        found += [
            _Setting(
                f"{name}={value}",
                {PRECISION: value},
                f"compute float32 products in {value}: set {PRECISION}={value}, or use jax.default_matmul_precision('{value}')",
            )
            for value in ("tensorfloat32", "bfloat16")
        ]
    return found


class _Tries:
    """Runs of the original program, with and without settings."""

    def __init__(self, run: Run, trials: Trials) -> None:
        self._run = run
        self._trials = trials
        self._deadline = time.monotonic() + _SECONDS
        self._base = Trial()
        self._again: Trial | None = None
        self._references: list[Path] = []

    def begin(self, limit: float | None) -> Result | None:
        """Runs the original for its values; returns a result with the reason if it does not finish."""
        self._run.listener.note("running the whole program in fresh processes to measure settings")
        self._base, folder = self._trials.run({}, (limit or 120.0) * 1.5)
        self._references = [folder]
        if self._base.failure is None:
            again, other = self._trials.run({}, 3 * self._base.total_s + 30)
            if again.failure is None:
                self._references.append(other)
                self._again = again
            return None
        why = f"not tried: the whole program does not run again: {self._base.failure}"
        return _result(self._run, "setting", Status.NOT_APPLICABLE, why)

    def run(self, setting: _Setting) -> Result:
        """Tries a setting: its values, then pairs of runs in the order A B B A."""
        if time.monotonic() > self._deadline:
            return _result(self._run, setting.name, Status.NOT_APPLICABLE, "not tried: no time is left")
        self._run.listener.progress(f"trying {setting.name}")
        limit = 4 * self._base.total_s + 30
        if setting.warm:
            self._trials.run({}, limit, environment=setting.environment, keep=False)
        first, _ = self._trials.run({}, limit, self._references, setting.environment)
        problem = first.failure or self._differs(first, setting)
        if problem is not None:
            return _result(self._run, setting.name, Status.REJECTED, f"{setting.advice}: {problem}")
        pairs = self._pairs(setting.environment, limit)
        return self._concluded(setting, first, pairs or [(self._base, first)])

    def against_eager(self) -> Result:
        """Reports how much faster the program's jit is than eager execution. Nothing should change."""
        self._run.listener.progress("running the program without jit")
        limit = self._run.request.timeout
        first, _ = self._trials.run({}, limit, self._references, WITHOUT_JIT)
        name = "jit against eager"
        if first.failure is not None:
            return _result(self._run, name, Status.NOT_APPLICABLE, f"without jit {first.failure}")
        pairs = self._pairs(WITHOUT_JIT, limit) or [(self._base, first)]
        other = self._other_outcome(first, (first.compared or Compared()).problem)
        same = "values, lines and files agree" if other is None else f"they differ: {other}"
        result = _result(self._run, name, Status.NOT_APPLICABLE, "")
        measured(result, [(b, a) for a, b in pairs])
        result.reason = f"for comparison: under jit against eager: {figures_in_words(result)}; {same}"
        result.evidence = f"JAX_DISABLE_JIT=1; {len(pairs)} pairs of fresh processes in A-B-B-A order"
        return result

    def _pairs(self, environment: Mapping[str, str], limit: float) -> list[tuple[Trial, Trial]]:
        """Runs without and with an environment, in the order A B B A."""
        pairs: list[tuple[Trial, Trial]] = []
        while len(pairs) < _PAIRS and (not pairs or time.monotonic() < self._deadline):
            order: Sequence[Mapping[str, str]] = ({}, environment)
            turned = len(pairs) % 2 == 1
            runs = [
                self._trials.run({}, limit, environment=one, keep=False)[0]
                for one in (order[::-1] if turned else order)
            ]
            if any(one.failure for one in runs):
                break
            pairs.append((runs[1], runs[0]) if turned else (runs[0], runs[1]))
        return pairs

    def _differs(self, trial: Trial, setting: _Setting) -> str | None:
        """How the values of a run differ from the original's; coarser products may move them a little."""
        compared = trial.compared or Compared()
        near = not setting.warm and compared.moved is not None and compared.moved <= _CLOSE
        return self._other_outcome(trial, None if near else compared.problem, coarse=not setting.warm)

    def _other_outcome(self, trial: Trial, values: str | None, coarse: bool = False) -> str | None:
        repeats = [] if self._again is None else [self._again]
        return other_outcome(self._base, repeats, trial, values=values, coarse=coarse)

    def _concluded(self, setting: _Setting, first: Trial, pairs: Sequence[tuple[Trial, Trial]]) -> Result:
        result = _result(self._run, setting.name, Status.REJECTED, "")
        gain = measured(result, pairs)
        assert result.before is not None
        assert result.after is not None
        change = gain.compile if setting.warm else gain.time
        good = change is not None and change.better and result.ratios["total"].median >= 1.0
        result.status = Status.VERIFIED if good else Status.REJECTED
        result.reason = (
            f"{setting.advice}: cold start {result.before.compile_s:.2f} to {result.after.compile_s:.2f} s to trace and compile; "
            f"{figures_in_words(result)}"
        )
        compared = first.compared or Compared()
        moved = compared.moved
        lines = sum(1 for line in self._base.printed.splitlines() if line.strip())
        evidence = f"{compared.values} values and {lines} printed lines compared with the original"
        evidence += f", at most {moved:.1e} apart" if moved else ""
        evidence += f"; {len(pairs)} pairs of fresh processes in A-B-B-A order"
        result.evidence = evidence
        return result


def _result(run: Run, name: str, status: Status, reason: str) -> Result:
    target = run.request.target
    path = os.path.realpath(target) if run.request.kind == "script" else target
    return Result("the whole program", path, 1, None, name, status, "nothing was run", reason)
