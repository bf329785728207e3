"""The effect of noise on timed calls, and so the least ratio of two times that supports a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Gains that timing noise can fake in one process, as (milliseconds a call, ratio): see benchmarks/measure_noise.py.
_NOISE = ((1.0, 1.06), (7.0, 1.02))


def agreement(pairs: Sequence[Sequence[float]], median: float) -> float:
    """The share of blocks in which the side that is faster by the median was faster; 1 if there are none."""
    return sum((a > b) if median > 1 else (a < b) for a, b in pairs) / len(pairs) if pairs else 1.0


def beyond_noise(median: float, low: float, milliseconds: float) -> bool:
    """Whether a ratio supports a claim: the median is beyond what noise can fake, and the interval half as far from
    1.

    The interval only covers noise within one comparison; `claimable` adds the noise between comparisons.
    """
    least = claimable(milliseconds)
    return median >= least and low >= 1 + (least - 1) / 2


def claimable(milliseconds: float) -> float:
    """The least ratio that supports a claim at this time per call, interpolated between the measured points."""
    (short, coarse), (long, fine) = _NOISE
    if milliseconds <= short:
        return coarse
    if milliseconds >= long:
        return fine
    share = (math.log(milliseconds) - math.log(short)) / (math.log(long) - math.log(short))
    return coarse + share * (fine - coarse)
