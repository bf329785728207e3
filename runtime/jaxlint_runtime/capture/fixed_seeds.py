"""Fixes unseeded random numbers, so that they are equal in every run; otherwise two versions of a program could not
be compared."""

from __future__ import annotations

import random
from typing import Any

_SEED = 0


def seed_the_unseeded() -> None:
    """Seeds the generators of Python and NumPy that start from the machine's entropy. Seeds of the program are kept.

    Any numbers might have been drawn, so these may be too. `numpy.random.default_rng()` still differs at each call,
    as it should.
    """
    import numpy as np

    random.seed(_SEED)
    np.random.seed(_SEED)
    entropy: Any = getattr(np.random, "bit_generator", None)
    if hasattr(entropy, "randbits"):
        entropy.randbits = random.Random(_SEED).getrandbits
