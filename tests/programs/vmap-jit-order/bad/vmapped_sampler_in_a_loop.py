# source: jax-ml/jax#9288
# blind: ninth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def langevin(key, x, score, steps=10):
    def step(x, key):
        noise = jax.random.normal(key, x.shape)
        return x + 1e-2 * (score @ x) + jnp.sqrt(2e-2) * noise, None

    return jax.lax.scan(step, x, jax.random.split(key, steps))[0]


def sample_all(key, particles, score):
    keys = jax.random.split(key, particles.shape[0])
    return jax.vmap(langevin, in_axes=(0, 0, None))(keys, particles, score)  # finding


def chain(seed, particles, rounds):
    key, score = jax.random.key(seed), -jnp.eye(particles.shape[1])
    for i in range(rounds):
        particles = sample_all(jax.random.fold_in(key, i), particles, score)
    return particles


if __name__ == "__main__":
    print(chain(0, jnp.ones((64, 3)), 20).mean(0))
