"""What noise can fake when calls are timed, and so the least that a ratio of two times has to be."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Gains that timing noise can fake in one process, as (milliseconds a call, ratio): see benchmarks/measure_noise.py.
_NOISE = ((1.0, 1.06), (7.0, 1.02))


def agreement(pairs: Sequence[Sequence[float]], median: float) -> float:
    """The share of blocks in which the side was faster that is so by the median; 1 where there are none."""
    return sum((a > b) if median > 1 else (a < b) for a, b in pairs) / len(pairs) if pairs else 1.0


def beyond_noise(median: float, low: float, milliseconds: float) -> bool:
    """Whether a ratio is worth a claim: the median beyond what noise can fake, the interval half as far from 1.

    The interval knows only the noise within one comparison; that between comparisons is what `claimable` adds.
    """
    least = claimable(milliseconds)
    return median >= least and low >= 1 + (least - 1) / 2


def claimable(milliseconds: float) -> float:
    """The least ratio that is worth a claim at this time per call; between the measured points it is interpolated."""
    (short, coarse), (long, fine) = _NOISE
    if milliseconds <= short:
        return coarse
    if milliseconds >= long:
        return fine
    share = (math.log(milliseconds) - math.log(short)) / (math.log(long) - math.log(short))
    return coarse + share * (fine - coarse)
