# blind: every clause

import jax
import jax.numpy as jnp


def optimise(f, x, n):
    losses = []

    @jax.jit
    def step(x):
        v, g = jax.value_and_grad(f)(x)
        losses.append(v)  # finding
        return x - 0.1 * g

    for _ in range(n):
        x = step(x)
    return x, jnp.stack(losses)


print(optimise(lambda x: jnp.sum(x ** 2), jnp.ones(2), 3))
