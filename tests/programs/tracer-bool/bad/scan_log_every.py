# source: jax-ml/jax#16430

import functools

import jax
import jax.numpy as jnp


def langevin_update(x, key, step_size):
    noise = jax.random.normal(key, x.shape)
    return x - step_size * x + jnp.sqrt(2 * step_size) * noise


def body(thin, step_size, state, inputs):
    x, total = state
    i, key = inputs
    x = langevin_update(x, key, step_size)
    if i % thin == 0:  # finding
        total = total + x
    return (x, total), None


def sample(key, dim, n=200, thin=10, step_size=1e-2):
    keys = jax.random.split(key, n)
    start = jnp.zeros(dim)
    scan_body = functools.partial(body, thin, step_size)
    (x, total), _ = jax.lax.scan(scan_body, (start, jnp.zeros(dim)), (jnp.arange(n), keys))
    return x, total / (n // thin)


if __name__ == "__main__":
    print(sample(jax.random.key(0), 3))
