# blind: ninth

from functools import partial

import jax
import jax.numpy as jnp


def langevin(key, x, score, steps=10):
    def step(x, key):
        return x + 1e-2 * (score @ x) + jax.random.normal(key, x.shape), None

    return jax.lax.scan(step, x, jax.random.split(key, steps))[0]


@partial(jax.jit, static_argnames="steps", donate_argnums=1)
def sample_all(key, particles, score, steps=10):
    keys = jax.random.split(key, particles.shape[0])
    return jax.vmap(partial(langevin, steps=steps), in_axes=(0, 0, None))(keys, particles, score)


def chain(seed, particles, rounds):
    key, score = jax.random.key(seed), -jnp.eye(particles.shape[1])
    for i in range(rounds):
        particles = sample_all(jax.random.fold_in(key, i), particles, score)
    return particles


if __name__ == "__main__":
    print(chain(0, jnp.ones((64, 3)), 20).mean(0))
