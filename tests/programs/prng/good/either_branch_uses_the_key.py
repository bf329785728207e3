# source: deepmind/dm-haiku#203
# blind: first

import jax
import jax.numpy as jnp


def draw(key, kind, shape):
    if kind == "normal":
        return jax.random.normal(key, shape)
    elif kind == "uniform":
        return jax.random.uniform(key, shape)
    try:
        return jax.random.laplace(key, shape)
    except TypeError:
        return jnp.zeros(shape)


def paired(key, x, noise):
    """Common random numbers: the same noise for both arms, on purpose."""
    eps = jax.random.normal(key, x.shape)
    return x + noise * eps, x - noise * eps


if __name__ == "__main__":
    k = jax.random.key(0)
    for i, kind in enumerate(["normal", "uniform"]):
        print(draw(jax.random.fold_in(k, i), kind, (2,)))
    print(paired(jax.random.fold_in(k, 99), jnp.ones(2), 0.1))
