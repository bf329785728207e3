# numpy and Python arithmetic on static values inside jit
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np

OFFSETS = np.array(list(itertools.product((-1, 0, 1), repeat=2)))
WEIGHTS = [1.0, 2.0, 3.0]

@jax.jit
def f(x):
    h, w = x.shape
    window = np.hanning(h)
    window = window / np.sqrt((window**2).sum())
    steps = np.arange(1, w + 1)
    total = 0.0
    for dy, dx in OFFSETS:
        if dy == 0 and dx == 0:
            continue
        total = total + jnp.roll(x, (int(dy), int(dx)), (0, 1)) * WEIGHTS[abs(dy)]
    if steps.max() > 2 and np.any(steps > 1):
        total = total * math.ceil(w / 2)
    factors = [n for n in range(1, w + 1) if w % n == 0]
    return total * window[:, None] + jnp.asarray(steps)[: factors[-1]] + max(WEIGHTS)

f(jnp.ones((4, 3)))
