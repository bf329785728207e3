# source: jax-ml/jax#15761
# blind: first

import jax
import jax.numpy as jnp


def rbf(x, y):
    return jnp.exp(-0.5 * jnp.sum((x - y) ** 2))


@jax.jit
def mean_embedding(query, samples):
    total = sum(rbf(query, s) for s in samples)  # finding
    return total / samples.shape[0]


if __name__ == "__main__":
    print(mean_embedding(jnp.zeros(3), jnp.ones((250, 3))))
