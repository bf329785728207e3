# counts in a dictionary outside

import collections
import jax
import jax.numpy as jnp

CALLS = collections.Counter()
SEEN = {"f": 0}
TOTALS = {"loss": jnp.zeros(())}

@jax.jit
def f(x):
    CALLS["f"] += 1  # finding
    SEEN["f"] += 1  # finding
    own = {"n": 0}
    own["n"] += 1
    return x * own["n"]

def host(x):
    CALLS["host"] += 1
    TOTALS["loss"] += f(x)
