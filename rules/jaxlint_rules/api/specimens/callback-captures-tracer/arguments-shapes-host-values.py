# arguments, shapes, host values

import functools
import jax
import jax.numpy as jnp
import numpy as np

def log(step, value):
    print(step, value)

def make(step, table):
    scale = np.ones(3)

    @jax.jit
    def solve(a, b):
        def host(a, b):
            return np.linalg.solve(a, b) * scale

        x = jax.pure_callback(host, jax.ShapeDtypeStruct(b.shape, b.dtype), a, b)
        jax.debug.callback(lambda x: print("x", x, a.shape, b.dtype), x)
        jax.debug.callback(functools.partial(log, step), x)
        return x

    return solve
