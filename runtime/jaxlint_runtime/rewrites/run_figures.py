"""Figures of whole program runs: whether one run of an edit is promising, and ratios and intervals of several."""

from __future__ import annotations

import dataclasses
import functools
import random
import statistics
from collections.abc import Sequence

from jaxlint_runtime.model import Cost, Interval, Result
from jaxlint_runtime.proof.gain import Gain, between_runs, gain_of
from jaxlint_runtime.rewrites.trial_runs import Trial

WORTH = 1.1  # allowed total slowdown if the edit's compiles only pay in longer runs
_WORTH_AT_LENGTH = 1.5  # the same for runs that are cut off: the program itself runs longer
PROMISING = 0.97  # of the original's time or compile time, in one run
_LESS_MEMORY = 0.93


def no_promise(base: Trial, trial: Trial, least: float = PROMISING) -> str | None:
    """Why one run of an edit shows no gain; None if it may have one: a time below `least` of the original's, or less memory."""
    figures = figures_of(base, trial)
    trial = at_equal_share(base, trial)
    smaller = (trial.peak_bytes or 0) < _LESS_MEMORY * (base.peak_bytes or 0)
    if not (trial.run_s < least * base.run_s or trial.compile_s < least * base.compile_s or smaller):
        return f"no gain: {figures}"
    if trial.total_s > allowed_slowdown(base) * base.total_s:
        saved = base.run_s - trial.run_s
        if saved <= 0:
            return f"slower: {figures}"
        longer = (trial.compile_s - base.compile_s) / saved
        return f"compiles longer, which pays only in runs {longer:.0f} times as long: {figures}"
    return None


def allowed_slowdown(base: Trial) -> float:
    """The allowed slowdown of a run if the edited program is faster once it is compiled."""
    return WORTH if base.cut is None else _WORTH_AT_LENGTH


def is_slower_in_one(pairs: Sequence[tuple[Trial, Trial]]) -> bool:
    """Whether the edited program took longer than allowed in some pair of runs, compiling included."""
    return any(after.total_s > allowed_slowdown(before) * before.total_s for before, after in pairs)


def at_equal_share(base: Trial, trial: Trial) -> Trial:
    """The run scaled to the CPU share of `base`, if it had less: single runs are not measurements.

    Reported and proven times are never scaled.
    """
    if not (base.cpu_s and trial.cpu_s and base.total_s):
        return trial
    share = min(1.0, (base.total_s / base.cpu_s) / (trial.total_s / trial.cpu_s))
    return dataclasses.replace(trial, run_s=share * trial.run_s, compile_s=share * trial.compile_s)


def better_of(trial: Trial, other: Trial) -> Trial:
    """Two runs of one version as one, each figure the better one: other work only adds to it."""
    if other.failure is not None:
        return trial
    return dataclasses.replace(
        trial,
        run_s=min(trial.run_s, other.run_s),
        compile_s=min(trial.compile_s, other.compile_s),
        cpu_s=min(trial.cpu_s, other.cpu_s),
        peak_bytes=min(trial.peak_bytes or 0, other.peak_bytes or 0) or None,
    )


def figures_of(base: Trial, trial: Trial) -> str:
    """Time, compile time and memory of two runs, in words."""
    parts = [
        f"run {base.run_s:.2f} to {trial.run_s:.2f} s",
        f"compile {base.compile_s:.2f} to {trial.compile_s:.2f} s",
    ]
    if base.peak_bytes and trial.peak_bytes:
        parts.append(f"memory {base.peak_bytes / 2**20:.0f} to {trial.peak_bytes / 2**20:.0f} MiB")
    return ", ".join(parts)


def ratios(pairs: Sequence[tuple[Trial, Trial]]) -> tuple[Interval, Interval, Interval]:
    """How many times less run time, compile time and memory the second run of each pair needs."""
    return (
        interval([a.run_s / max(b.run_s, 1e-9) for a, b in pairs]),
        interval([a.compile_s / max(b.compile_s, 1e-9) for a, b in pairs]),
        interval([(a.peak_bytes or 1) / max(b.peak_bytes or 1, 1) for a, b in pairs]),
    )


def measured(result: Result, pairs: Sequence[tuple[Trial, Trial]]) -> Gain:
    """Adds the measurements of pairs of runs, and the claims from them, to a result."""
    result.speedup, start, memory = ratios(pairs)
    total = interval([a.total_s / max(b.total_s, 1e-9) for a, b in pairs])
    result.ratios = {"compile": start, "total": total}
    if all(one.peak_bytes for pair in pairs for one in pair):
        result.ratios["memory"] = memory
    result.pairs = len(pairs)
    result.before, result.after = (cost_of(median_of([pair[side] for pair in pairs])) for side in (0, 1))
    return gain_of(result)


def figures_in_words(result: Result) -> str:
    """The figures of whole program runs in words: run time, compile time, memory and total time."""
    gain, total = gain_of(result), result.ratios["total"]
    parts = [f"without compile time {one.text}" if one is gain.time else one.text for one in gain.changes]
    whole = between_runs("time", result.pairs, total.median, total.low, total.high)
    return f"{'; '.join(parts)}; the whole program: {whole.text}"


def cost_of(trial: Trial) -> Cost:
    """The figures of a run as those of a result."""
    milliseconds = trial.run_s * 1e3
    return Cost(
        time_ms=Interval(milliseconds, milliseconds, milliseconds),
        time_kind="measured",
        compile_s=trial.compile_s,
        peak_bytes=trial.peak_bytes,
    )


def median_of(trials: Sequence[Trial]) -> Trial:
    """The medians of several runs, figure by figure."""
    return Trial(
        run_s=statistics.median(one.run_s for one in trials),
        compile_s=statistics.median(one.compile_s for one in trials),
        peak_bytes=int(statistics.median(one.peak_bytes or 0 for one in trials)) or None,
    )


def interval(values: Sequence[float], resamples: int = 2000) -> Interval:
    """The median of a few values with its 95 % bootstrap interval."""
    ordered = sorted(values)
    medians = sorted((ordered[one] + ordered[other]) / 2 for one, other in _middles(len(values), resamples))
    low, high = medians[int(0.025 * resamples)], medians[int(0.975 * resamples)]
    return Interval(statistics.median(values), low, high)


@functools.cache
def _middles(number: int, resamples: int) -> list[tuple[int, int]]:
    """The places of the two values in the middle of each resample of so many sorted values; one place twice where one
    value is in the middle."""
    generator = random.Random(0)
    samples = (sorted(generator.choices(range(number), k=number)) for _ in range(resamples))
    return [(one[(number - 1) // 2], one[number // 2]) for one in samples]
