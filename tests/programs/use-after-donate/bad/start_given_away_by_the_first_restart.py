# source: jax-ml/jax#1705
# blind: second

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=(0,), static_argnames="steps")
def anneal(state, key, steps):
    def body(carry, key):
        x, energy = carry
        y = x + 0.1 * jax.random.normal(key, x.shape)
        new = jnp.sum(y**4 - y**2)
        better = new < energy
        return (jnp.where(better, y, x), jnp.where(better, new, energy)), None

    (x, energy), _ = jax.lax.scan(body, state, jax.random.split(key, steps))
    return x, energy


def restarts(x, key, count):
    state = (x, jnp.sum(x**4 - x**2))
    results = []
    for sub in jax.random.split(key, count):
        results.append(anneal(state, sub, steps=10))  # finding
    return min(results, key=lambda r: float(r[1]))


if __name__ == "__main__":
    print(restarts(jnp.ones(3), jax.random.key(0), 3))
