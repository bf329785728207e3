# integers here and floats there

import jax
import jax.numpy as jnp

@jax.jit
def energy(w, signal):
    return jnp.sum((w * signal) ** 2)

def compare(signal, n):
    ramp = energy(jnp.float32(jnp.arange(n)), signal)  # finding
    flat = energy(jnp.ones(n), signal)
    return ramp / flat

@jax.jit
def scaled(x, factor):
    return x * factor

def twice(x):
    a = scaled(x, 2.0)  # finding
    b = scaled(x, 0.5)
    return a + b

def mixed(x):
    a = scaled(x, jnp.float32(1.0))  # finding
    b = scaled(x, jnp.float32(0.5))
    return a + b
