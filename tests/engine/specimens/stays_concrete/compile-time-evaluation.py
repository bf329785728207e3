# compile-time evaluation
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    with jax.ensure_compile_time_eval():
        table = jnp.arange(4) * 2
        if table[1] > 1:
            x = x + 1
    return x

f(jnp.ones(3))
