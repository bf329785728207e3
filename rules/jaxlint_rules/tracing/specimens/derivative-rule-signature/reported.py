# rules that JAX cannot call, or that return too little

import functools

import jax
import jax.numpy as jnp

@jax.custom_vjp
def clipped_log(x, floor):
    return jnp.log(jnp.maximum(x, floor))

def clipped_log_fwd(x, floor):
    return clipped_log(x, floor), (x, floor)

def clipped_log_bwd(residuals, g):
    x, floor = residuals
    return (g / jnp.maximum(x, floor),)  # finding

clipped_log.defvjp(clipped_log_fwd, clipped_log_bwd)

@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def threshold(x, order):
    return jnp.maximum(x, 0.0) ** order

@threshold.defjvp
def threshold_jvp(primals, tangents):  # finding
    (x,), (dx,) = primals, tangents
    return threshold(x, 2), 2 * x * dx

@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def root(f, x):
    return x - f(x)

def root_fwd(f, x):
    return root(f, x), x

def root_bwd(x, g):  # finding
    return (g * x,)

root.defvjp(root_fwd, root_bwd)

@jax.custom_vjp
def scaled(x, s):
    return x * s

def scaled_fwd(x, s):
    return x * s, x, s  # finding

def scaled_bwd(residuals, g):
    x, s = residuals
    return g * s, g * x

scaled.defvjp(scaled_fwd, scaled_bwd)
