# source: google-deepmind/tapnet#44
# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def masked_mean(values, weights):
    return jnp.sum(values * weights) / jnp.sum(weights)


def stream(n_batches, batch_size, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        values = rng.normal(size=batch_size).astype(np.float32)
        values[rng.random(batch_size) < 0.2] = np.nan
        yield values


def summarise(n_batches=4, batch_size=64):
    means = []
    for values in stream(n_batches, batch_size):
        valid = values[~np.isnan(values)]
        means.append(masked_mean(valid, np.ones_like(valid)))  # finding
    return jnp.stack(means)


if __name__ == "__main__":
    print(summarise())
