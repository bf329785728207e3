# rules that fit, or whose results are not known

import functools

import jax
import jax.numpy as jnp

@jax.custom_vjp
def clipped(x, low=0.0):
    return jnp.maximum(x, low)

def clipped_fwd(x, low=0.0):
    return clipped(x, low), (x > low,)

def clipped_bwd(residuals, g):
    (kept,) = residuals
    return g * kept, None

clipped.defvjp(clipped_fwd, clipped_bwd)

@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def windowed(x, size, step):
    return x[::step][:size]

def windowed_fwd(x, size, step):
    return windowed(x, size, step), x.shape

def windowed_bwd(size, step, shape, g):
    return (jnp.zeros(shape).at[: size * step : step].set(g),)

windowed.defvjp(windowed_fwd, windowed_bwd)

@jax.custom_vjp
def many(*parts):
    return sum(parts)

def many_fwd(*parts):
    return many(*parts), len(parts)

def many_bwd(count, g):
    return (g,) * count

many.defvjp(many_fwd, many_bwd)

@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def run(f, x):
    return f(x)

@run.defjvp
def run_jvp(f, primals, tangents):
    return jax.jvp(f, primals, tangents)

@jax.custom_jvp
def soft(x):
    return jnp.log1p(jnp.exp(x))

soft.defjvps(lambda t, out, x: t * jax.nn.sigmoid(x))

@jax.custom_vjp
def packed(x, y):
    return x * y

def packed_fwd(x, y):
    return packed(x, y), (x, y)

def packed_bwd(residuals, g):
    found = tuple(g * r for r in reversed(residuals))
    return found

packed.defvjp(packed_fwd, packed_bwd)

class Layer:
    @staticmethod
    @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
    def gate(x, hard):
        return x * (x > hard)

    @staticmethod
    def gate_fwd(x, hard):
        return Layer.gate(x, hard), x

    @staticmethod
    def gate_bwd(hard, x, g):
        return (g * (x > hard),)

Layer.gate.defvjp(Layer.gate_fwd, Layer.gate_bwd)
