# a loop whose last step adds no noise

import jax
import jax.numpy as jnp

T = 1000
BETAS = jnp.linspace(1e-4, 0.02, T)


@jax.jit
def sample(key, x):
    for t in reversed(range(T)):  # finding
        key, sub = jax.random.split(key)
        x = (x - BETAS[t] * jnp.tanh(x)) / jnp.sqrt(1 - BETAS[t])
        if t > 0:
            x = x + jnp.sqrt(BETAS[t]) * jax.random.normal(sub, x.shape)
    return x


@jax.jit
def by_kind(x):
    for t in range(T):
        x = jnp.sin(x) if t % 3 == 0 else jnp.cos(x) + x
    return x
