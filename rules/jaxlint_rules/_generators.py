"""Random numbers of Python and NumPy: which calls draw them."""

from __future__ import annotations

GENERATORS = frozenset(["numpy.random.default_rng", "numpy.random.RandomState", "random.Random"])
RANDOM = ("random.", "numpy.random.", "secrets.")
NOT_DRAWS = frozenset(
    [
        "seed",
        "default_rng",
        "RandomState",
        "Generator",
        "SeedSequence",
        "get_state",
        "set_state",
        "Random",
        "SystemRandom",
        "PCG64",
        "Philox",
        "spawn",
    ]
)
