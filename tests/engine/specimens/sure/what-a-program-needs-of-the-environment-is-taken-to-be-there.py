# what a program needs of the environment is taken to be there
import os

import jax

if os.environ.get("MODE") is None:
    raise RuntimeError("set MODE")

@jax.jit
def first(x):
    if os.environ["MODE"] == "fast" or os.environ.get("SIZE"):
        return int(x)  # finding: tracer-concretization
    return float(x) if os.getenv("EXACT", "1") else x  # finding: tracer-concretization
