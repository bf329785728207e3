# one dtype, other functions, static arguments

import functools
import jax
import jax.numpy as jnp

@jax.jit
def energy(w, signal):
    return jnp.sum((w * signal) ** 2)

@functools.partial(jax.jit, static_argnames="n")
def power(x, n):
    return x**n

def compare(signal, n, w):
    ramp = energy(jnp.arange(n, dtype=jnp.float32), signal)
    flat = energy(jnp.ones(n), signal)
    return ramp / flat + energy(w, signal) + power(signal, 2) + power(signal, 0.5)

def elsewhere(signal, n):
    return energy(jnp.arange(n), signal)

def branches(signal, n, flag):
    if flag:
        return energy(jnp.arange(n), signal)
    return energy(jnp.ones(n), signal)
