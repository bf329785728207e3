# a static argument given by position stays concrete
import jax
import jax.numpy as jnp

def f(x, n, mode="a"):
    if mode == "a" and n > 2:
        x = x.reshape(n, -1)
    return jnp.zeros(n) + x.sum()

g = jax.jit(f, static_argnums=(1, 2))
g(jnp.ones(8), 4, "a")
