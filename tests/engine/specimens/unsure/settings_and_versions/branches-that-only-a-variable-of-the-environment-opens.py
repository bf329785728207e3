# branches that only a variable of the environment opens
import os

import jax
import jax.numpy as jnp

CHECKED = os.environ.get("CHECKED", "no").lower() in ("1", "yes")

class Helper:
    @staticmethod
    def use_scan():
        return bool(int(os.getenv("USE_SCAN", "0")))

def window(i, x):
    return x[: max(i, 1)]

@jax.jit
def rotate(x):
    if Helper.use_scan():
        return jax.lax.fori_loop(0, 3, window, x)
    if not CHECKED:
        for i in range(3):
            x = window(i, x)
        return x
    if x.sum() > 0:
        raise ValueError("positive")
    shift = int(x[0]) if os.environ.get("SHIFT") == "on" else 1
    CHECKED and bool(x[0])
    return jnp.roll(x, shift)

rotate(jnp.ones(3))
