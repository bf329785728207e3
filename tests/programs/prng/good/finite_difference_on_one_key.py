# source: jax-ml/jax#2009
# blind: first

import jax
import jax.numpy as jnp


def estimate(theta, key, n=256):
    return jnp.mean(jnp.exp(theta * jax.random.normal(key, (n,))))


def finite_difference(theta, key, h=1e-2):
    # both sides on the same draws: the noise cancels in the difference
    return (estimate(theta + h, key) - estimate(theta - h, key)) / (2 * h)


if __name__ == "__main__":
    print(finite_difference(0.5, jax.random.key(0)))
