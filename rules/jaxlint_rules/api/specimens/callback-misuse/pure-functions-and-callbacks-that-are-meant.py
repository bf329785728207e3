# pure functions, and callbacks that are meant for effects

import jax
import numpy as np
from jax.experimental import io_callback

history = []

def record(x):
    history.append(float(x))
    return np.float32(0)

def describe(x):
    if not np.isfinite(x).all():
        print("not finite")
    return x

def solve(x):
    rows = []
    rows.append(np.sin(x))
    return rows[0]

@jax.jit
def step(x):
    struct = jax.ShapeDtypeStruct(x.shape, x.dtype)
    y = jax.pure_callback(solve, struct, x) + jax.pure_callback(np.cos, x, x)
    io_callback(record, jax.ShapeDtypeStruct((), np.float32), x)
    checked = jax.pure_callback(describe, struct, x)
    y = y + checked
    jax.debug.callback(record, x)

    def body(x, _):
        io_callback(record, jax.ShapeDtypeStruct((), np.float32), x, ordered=True)
        return x * 0.5, io_callback(solve, struct, x)

    return y, jax.lax.scan(body, x, None, length=3)
