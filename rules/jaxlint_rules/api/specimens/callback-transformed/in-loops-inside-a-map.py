# in loops inside a map

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

rows = []

def keep(*row):
    rows.append(row)

def host_norm(x):
    return np.asarray(np.linalg.norm(x), x.dtype)

def simulate(y0, ts):
    def step(y, t):
        y = y + 0.1 * jnp.sin(y) * t
        io_callback(keep, None, y.sum(), ordered=True)  # finding
        return y, None

    return jax.lax.scan(step, y0, ts)[0]

def by_number(y0, ts):
    def step(y, t):
        io_callback(keep, None, t, ordered=True)
        return y * t, None

    return jax.lax.scan(step, y0, ts)[0]

def relaxed(y0):
    def body(i, y):
        size = jax.pure_callback(host_norm, jax.ShapeDtypeStruct((), y.dtype), y)  # finding
        return y / (1.0 + size)

    return jax.lax.fori_loop(0, 3, body, y0)

def settled(y0):
    def body(i, y):
        size = jax.pure_callback(host_norm, jax.ShapeDtypeStruct((), y.dtype), y, vmap_method="sequential")
        io_callback(keep, None, y)
        return y / (1.0 + size)

    return jax.lax.fori_loop(0, 3, body, y0)

def one_by_one(starts, ts):
    def step(total, start):
        io_callback(keep, None, total, ordered=True)
        return total + by_number(start, ts), None

    return jax.lax.scan(step, jnp.zeros(3), starts)[0]

starts, ts = jnp.ones((4, 3)), jnp.arange(3.0)
print(jax.vmap(by_number, in_axes=(0, None))(starts, ts), jax.vmap(settled)(starts), one_by_one(starts, ts))
jax.vmap(simulate, in_axes=(0, None))(starts, ts)
jax.jit(jax.vmap(relaxed))(starts)
