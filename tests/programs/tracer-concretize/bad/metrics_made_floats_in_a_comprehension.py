# blind: every clause

import jax
import jax.numpy as jnp


@jax.jit
def evaluate(w, x):
    m = {"mse": jnp.mean((x @ w) ** 2), "max": jnp.max(x)}
    return {k: float(v) for k, v in m.items()}  # finding


print(evaluate(jnp.ones(2), jnp.ones((2, 2))))
