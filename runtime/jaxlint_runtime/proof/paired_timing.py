"""Interleaved A/B timing of two compiled programs.

Samples are taken in the order A B B A, so that drift of the machine affects both sides equally. Each block gives one
ratio, and the median of the ratios gets a bootstrap confidence interval. Without interleaving, two copies of one
program differ by a quarter in the same time.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from jaxlint_runtime.model import Interval
from jaxlint_runtime.proof.gain import Change, between_calls
from jaxlint_runtime.timing_noise import agreement

_SAMPLE_SECONDS = 0.02  # a sample lasts at least this long: clock and scheduler are noisy below
_MAX_CALLS = 64
_MIN_BLOCKS, _MAX_BLOCKS = 8, 60
_FEWEST_BLOCKS = 5  # of calls so slow that more would take too long; a claim then needs all of them
_PATIENCE = 5  # times the requested seconds: the limit even for the usual blocks
_MOST_PATIENCE = 8
_COPY_BYTES = 512 * 2**20  # prepared inputs for one sample, if each call consumes its own


@dataclass(frozen=True, slots=True)
class Subject:
    """One side of a comparison: `prepare` creates the inputs of one call outside the clock, `run` is timed.

    `input_bytes` is the allocation of one `prepare`.
    """

    run: Callable[[Any], Any]
    prepare: Callable[[], Any]
    input_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds a call of both sides, and how many times faster the second one is."""

    before: Interval
    after: Interval
    speedup: Interval
    blocks: int
    calls: int  # in one sample
    agreeing: float  # share of the blocks in which the side that is faster by the median was faster
    pairs: tuple[tuple[float, float], ...] = ()  # milliseconds a call of both sides, block by block

    @property
    def change(self) -> Change:
        """The claim about the time."""
        speedup = self.speedup
        times = self.before.median, self.after.median
        return between_calls(speedup.median, speedup.low, speedup.high, *times, self.agreeing)

    @property
    def faster(self) -> bool:
        """Whether a gain may be claimed."""
        return self.change.better

    @property
    def slower(self) -> bool:
        """Whether a loss is beyond noise, in the same sense."""
        return self.change.worse


def compare(
    before: Subject,
    after: Subject,
    seconds: float,
    seed: int = 0,
    agreed: Callable[[Any], Any] = lambda decision: decision,
) -> Timing | None:
    """Times both sides alternately for about `seconds`; None if even the fewest blocks would take far longer.

    `agreed` returns the common decision if several processes time the same program.
    """
    once = max(_sample(before, 1), _sample(after, 1))  # also the warm-up
    once = agreed(max(min(_sample(before, 1), once), min(_sample(after, 1), once)))
    calls = max(1, min(_MAX_CALLS, math.ceil(_SAMPLE_SECONDS / max(once, 1e-7))))
    largest = max(before.input_bytes, after.input_bytes)
    if largest:
        calls = max(1, min(calls, _COPY_BYTES // largest))
    blocks = _MIN_BLOCKS
    if blocks * 4 * once * calls > _PATIENCE * seconds:
        blocks = _FEWEST_BLOCKS
        if blocks * 4 * once * calls > _MOST_PATIENCE * seconds:
            return None

    a_times: list[float] = []
    b_times: list[float] = []
    deadline = time.perf_counter() + seconds
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        while len(a_times) < _MAX_BLOCKS and agreed(len(a_times) < blocks or time.perf_counter() < deadline):
            first, second = _sample(before, calls), _sample(after, calls)
            third, fourth = _sample(after, calls), _sample(before, calls)
            a_times.append((first + fourth) / 2 / calls)
            b_times.append((second + third) / 2 / calls)
    finally:
        if collecting:
            gc.enable()
    a, b = np.array(a_times) * 1e3, np.array(b_times) * 1e3
    speedup = interval(a / b, seed)
    pairs = tuple(zip(a.tolist(), b.tolist(), strict=True))
    return Timing(
        interval(a, seed),
        interval(b, seed),
        speedup,
        len(a),
        calls,
        agreement(pairs, speedup.median),
        pairs,
    )


def alone(subject: Subject, seconds: float) -> np.ndarray:
    """Milliseconds a call of one side, sample by sample, for about `seconds`, after a warm-up."""
    once = max(min(_sample(subject, 1), _sample(subject, 1)), 1e-7)
    calls = max(1, min(_MAX_CALLS, math.ceil(_SAMPLE_SECONDS / once)))
    if subject.input_bytes:
        calls = max(1, min(calls, _COPY_BYTES // subject.input_bytes))
    samples: list[float] = []
    deadline = time.perf_counter() + seconds
    while len(samples) < _MIN_BLOCKS or (time.perf_counter() < deadline and len(samples) < 4 * _MAX_BLOCKS):
        samples.append(_sample(subject, calls) / calls * 1e3)
    return np.array(samples)


def interval(values: np.ndarray, seed: int = 0, level: float = 0.95, resamples: int = 2000) -> Interval:
    """The median of a sample with its bootstrap percentile interval."""
    generator = np.random.default_rng(seed)
    picks = generator.integers(0, len(values), size=(resamples, len(values)))
    medians = np.median(values[picks], axis=1)
    tail = (1 - level) / 2 * 100
    low, high = np.percentile(medians, [tail, 100 - tail])
    return Interval(float(np.median(values)), float(low), float(high), level)


def _sample(subject: Subject, calls: int) -> float:
    """Seconds for `calls` calls, each waited for."""
    inputs = jax.block_until_ready([subject.prepare() for _ in range(calls)])
    start = time.perf_counter()
    for arguments in inputs:
        jax.block_until_ready(subject.run(arguments))
    return time.perf_counter() - start
