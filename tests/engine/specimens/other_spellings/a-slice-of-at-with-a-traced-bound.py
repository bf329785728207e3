# a slice of `.at` with a traced bound
import jax
import jax.numpy as jnp

@jax.jit
def f(x, n):
    x = x.at[n].set(1.0).at[: x.shape[0] // 2].add(1.0)
    return x.at[:n].set(0.0)  # finding: tracer-index

f(jnp.ones(8), 2)
