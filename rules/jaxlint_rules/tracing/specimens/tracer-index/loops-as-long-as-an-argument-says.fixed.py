# loops as long as an argument says

import functools

import jax
import jax.numpy as jnp

@jax.jit
def power(x, n):
    def body_fun(_, x):
        x = x * 2
        return x

    x = jax.lax.fori_loop(0, n, body_fun, x)
    return x

@functools.partial(jax.jit, static_argnames="n")
def ramp(x, n):
    total = jnp.zeros(n)
    for i in range(1, n):
        total = total.at[i].set(x * i)
    return total

@jax.jit
def rows(x):
    for i in range(x.shape[0]):
        x = x.at[i].add(i)
    return x
