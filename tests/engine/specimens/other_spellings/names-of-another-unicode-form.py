# names of another Unicode form
import ｊax
from ｊax import numpy as ｊnp

@ｊax.jit
def f(ｘ):
    if x > 0:  # finding: tracer-branch
        return ｊnp.sin(ｘ)
    return x

f(1.0)
