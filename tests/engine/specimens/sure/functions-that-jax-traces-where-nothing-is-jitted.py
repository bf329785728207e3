# functions that JAX traces where nothing is jitted
import jax
import jax.numpy as jnp

def relu(x):
    if x > 0:  # finding: tracer-branch
        return x
    return 0.0

def soft(x):
    if x > 0:
        return x
    return 0.1 * x

def hard(x):
    if x > 0:  # finding: tracer-branch
        return x
    return -1.0

with jax.disable_jit():
    jax.vmap(jax.jit(relu))(jnp.ones(3))  # finding: vmap-of-jit
    jax.lax.scan(lambda carry, x: (soft(carry), x * 2), 1.0, jnp.ones(3))
with jax.disable_jit(False):
    jax.jit(hard)(1.0)
