"""Random numbers that nobody seeded, the same in every run: else two versions of a program could not be compared."""

from __future__ import annotations

import random
from typing import Any

_SEED = 0


def seed_the_unseeded() -> None:
    """Seed the generators of Python and NumPy that start from the machine's entropy. What the program seeds stays as it is.

    Any numbers might have been drawn, so these may, too. `numpy.random.default_rng()` draws others at each call, as it should.
    """
    import numpy as np

    random.seed(_SEED)
    np.random.seed(_SEED)
    entropy: Any = getattr(np.random, "bit_generator", None)
    if hasattr(entropy, "randbits"):
        entropy.randbits = random.Random(_SEED).getrandbits
