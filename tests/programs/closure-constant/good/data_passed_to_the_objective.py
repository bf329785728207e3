# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def negative_log_likelihood(beta, design, counts):
    rate = jnp.exp(design @ beta)
    return jnp.mean(rate - counts * jnp.log(rate))


def fit(design, counts, steps=100):
    @jax.jit  # finding-other
    def update(beta, design, counts):
        return beta - 0.01 * jax.grad(negative_log_likelihood)(beta, design, counts)

    beta = jnp.zeros(design.shape[1])
    for _ in range(steps):
        beta = update(beta, design, counts)
    return beta


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    print(fit(jnp.asarray(rng.normal(size=(500_000, 20)), jnp.float32), jnp.ones(500_000)))
