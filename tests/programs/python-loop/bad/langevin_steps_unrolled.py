# source: noegroup/ScoreMD#7
# blind: fifth

from functools import partial

import jax
import jax.numpy as jnp


def energy(x):
    return jnp.sum((x**2 - 1.0) ** 2)


def step_single(key, x, step_size):
    noise = jax.random.normal(key, x.shape)
    return x - step_size * jax.grad(energy)(x) + jnp.sqrt(2.0 * step_size) * noise


@partial(jax.jit, static_argnames="num_steps")
def step_n(key, x, step_size, num_steps):
    for _ in range(num_steps):  # finding
        key, sub = jax.random.split(key)
        x = step_single(sub, x, step_size)
    return key, x


if __name__ == "__main__":
    key, x = step_n(jax.random.key(0), jnp.zeros(5), 1e-3, num_steps=100)
    print(x)
