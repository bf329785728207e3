"""Settings of JAX that come from the environment, tried on the whole program in fresh processes.

A persistent compilation cache pays in the second start; coarser products pay on accelerators and change values. Each is
measured, and told with how to set it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.protocol.messages import to_plain
from jaxlint_runtime.rewrites.printed_output import differs
from jaxlint_runtime.rewrites.run_figures import measured, told
from jaxlint_runtime.rewrites.trial_runs import WITHOUT_JIT, Trial, Trials
from jaxlint_runtime.settings import EAGER, ENVIRONMENT
from jaxlint_runtime.workers.scratch_copy import TooLarge

if TYPE_CHECKING:
    from jaxlint_runtime.verify import Verification

CACHE = "JAX_COMPILATION_CACHE_DIR"
PRECISION = "JAX_DEFAULT_MATMUL_PRECISION"
_ALL = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
_SECONDS = 240.0
_PAIRS = 3
_CLOSE = 2e-2  # how far coarser products may move a value, against the norm of its group


@dataclass(frozen=True, slots=True)
class _Setting:
    name: str
    environment: Mapping[str, str]
    advice: str
    warm: bool = False  # what one run leaves is for the next


def try_settings(verification: Verification) -> None:
    """Try each setting and add a result for each."""
    document = verification.document
    if not document.ran or document.interrupted:
        return
    finished = document.ending is not None and document.ending["how"] == "finished"
    with tempfile.TemporaryDirectory(prefix="jaxlint-settings-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        observe = [(one["path"], one["function"]) for one in document.watched if one["calls"]]
        tries = _Tries(verification, Trials(verification, observe, (), folder))
        try:
            if not tries.begin(None if finished else verification.request.run_for):
                return
            wanted = verification.request.transforms or ()
            if ENVIRONMENT in wanted:
                for setting in _settings(verification, folder):
                    tries.run(setting)
            if EAGER in wanted:
                tries.against_eager()
        except TooLarge as error:
            verification.listener.note(f"settings were not tried: {error}")


def _settings(verification: Verification, folder: Path) -> list[_Setting]:
    found = []
    if os.environ.get(CACHE):
        _report(
            verification,
            "setting:compilation-cache",
            Status.NOT_APPLICABLE,
            f"a cache is set already ({CACHE})",
        )
    else:
        place = folder / "cache"
        place.mkdir()
        found.append(
            _Setting(
                "setting:compilation-cache",
                {CACHE: str(place), **_ALL},
                f"keep what is compiled: set {CACHE} to a folder, or jax.config.update('jax_compilation_cache_dir', ...) first of all; "
                "what compiles in less than a second is kept with jax_persistent_cache_min_compile_time_secs=0",
                warm=True,
            )
        )
    device = verification.document.device or "cpu"
    name = "setting:matmul-precision"
    if os.environ.get(PRECISION):
        _report(verification, name, Status.NOT_APPLICABLE, f"it is set already ({PRECISION})")
    elif device.startswith("cpu"):
        _report(
            verification,
            name,
            Status.NOT_APPLICABLE,
            "the CPU computes products of float32 in float32, whatever precision is asked for",
        )
    else:
        found += [
            _Setting(
                f"{name}={value}",
                {PRECISION: value},
                f"compute products of float32 in {value}: set {PRECISION}={value}, or jax.default_matmul_precision('{value}') around them",
            )
            for value in ("tensorfloat32", "bfloat16")
        ]
    return found


class _Tries:
    """Runs of the program as it is, and with settings."""

    def __init__(self, verification: Verification, trials: Trials) -> None:
        self._verification = verification
        self._trials = trials
        self._deadline = time.monotonic() + _SECONDS
        self._base = Trial()
        self._again: Trial | None = None
        self._references: list[Path] = []

    def begin(self, limit: float | None) -> bool:
        """Run the original for its values; False, with a result that says why, where it does not run to its end."""
        self._verification.listener.note("running the whole program in fresh processes, to measure settings")
        self._base, folder = self._trials.run({}, (limit or 120.0) * 1.5)
        self._references = [folder]
        if self._base.failure is None:
            again, other = self._trials.run({}, 3 * self._base.total_s + 30)
            if again.failure is None:
                self._references.append(other)
                self._again = again
            return True
        why = f"not tried: the program could not be run from its start to its end: {self._base.failure}"
        _report(self._verification, "setting", Status.NOT_APPLICABLE, why)
        return False

    def run(self, setting: _Setting) -> None:
        """Try one: its values, then pairs of runs in the order A B B A."""
        verification = self._verification
        if time.monotonic() > self._deadline:
            _report(verification, setting.name, Status.NOT_APPLICABLE, "not tried: the time is used up")
            return
        verification.listener.progress(f"trying {setting.name}")
        limit = 4 * self._base.total_s + 30
        if setting.warm:
            self._trials.run({}, limit, environment=setting.environment, keep=False)
        first, _ = self._trials.run({}, limit, self._references, setting.environment)
        problem = first.failure or self._differs(first, setting)
        if problem is not None:
            _report(verification, setting.name, Status.REJECTED, f"{setting.advice}: {problem}")
            return
        pairs = self._pairs(setting.environment, limit)
        self._conclude(setting, first, pairs or [(self._base, first)])

    def against_eager(self) -> None:
        """Tell how much faster the program is under its jit than operation by operation. Nothing is to be changed."""
        verification = self._verification
        verification.listener.progress("running the program without jit")
        limit = verification.request.timeout
        first, _ = self._trials.run({}, limit, self._references, WITHOUT_JIT)
        name = "jit against eager"
        if first.failure is not None:
            _report(verification, name, Status.NOT_APPLICABLE, f"without jit {first.failure}")
            return
        pairs = self._pairs(WITHOUT_JIT, limit) or [(self._base, first)]
        problem = (first.compared or {}).get("problem")
        same = "the same values" if problem is None else f"other values: {problem}"
        result = _result(verification, name, Status.NOT_APPLICABLE, "")
        measured(result, [(b, a) for a, b in pairs])
        result.reason = (
            f"for comparison: as it is jitted, against operation by operation: {told(result)}; {same}"
        )
        result.evidence = f"JAX_DISABLE_JIT=1; {len(pairs)} pairs of fresh processes in the order A B B A"
        _add(verification, result)

    def _pairs(self, environment: Mapping[str, str], limit: float) -> list[tuple[Trial, Trial]]:
        """Runs as it is and with an environment, in the order A B B A."""
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
        """Why the values of a run are not those of the original; coarser products may move them a little."""
        compared = trial.compared or {}
        if trial.status != self._base.status:
            return f"the program ends with exit status {trial.status} instead of {self._base.status}"
        moved = (compared.get("numerics") or {}).get("max_rel")
        repeats = [] if self._again is None else [self._again.printed]
        said = differs(self._base.printed, repeats, trial.printed)
        if said is not None and setting.warm:
            return f"it does not compute the same: {said}"
        if compared.get("problem") is None or (not setting.warm and moved is not None and moved <= _CLOSE):
            return None
        return f"it does not compute the same: {compared['problem']}"

    def _conclude(self, setting: _Setting, first: Trial, pairs: Sequence[tuple[Trial, Trial]]) -> None:
        result = _result(self._verification, setting.name, Status.REJECTED, "")
        gain = measured(result, pairs)
        assert result.before is not None
        assert result.after is not None
        change = gain.compile if setting.warm else gain.time
        good = change is not None and change.better and result.ratios["total"].median >= 1.0
        result.status = Status.VERIFIED if good else Status.REJECTED
        result.reason = (
            f"{setting.advice}: cold start {result.before.compile_s:.2f} to {result.after.compile_s:.2f} s of tracing and compiling; "
            f"{told(result)}"
        )
        compared = first.compared or {"values": 0, "numerics": None}
        moved = (compared.get("numerics") or {}).get("max_rel")
        lines = sum(1 for line in self._base.printed.splitlines() if line.strip())
        evidence = f"{compared['values']} values and {lines} printed lines compared with the original"
        evidence += f", {moved:.1e} apart at most" if moved else ""
        evidence += f"; {len(pairs)} pairs of fresh processes in the order A B B A"
        result.evidence = evidence
        _add(self._verification, result)


def _result(verification: Verification, name: str, status: Status, reason: str) -> Result:
    target = verification.request.target
    path = os.path.realpath(target) if verification.request.kind == "script" else target
    return Result("the whole program", path, 1, None, name, status, "nothing was run", reason)


def _report(verification: Verification, name: str, status: Status, reason: str) -> None:
    _add(verification, _result(verification, name, status, reason))


def _add(verification: Verification, result: Result) -> None:
    target = next((name for name in verification.document.targets if ":" not in name), "cpu")
    verification.document.results.append((target, to_plain(result)))
