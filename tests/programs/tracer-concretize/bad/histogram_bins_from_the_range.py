# source: jax-ml/jax#17690
# blind: sixth

"""Streaming summary of latencies."""
import functools
import math

import jax
import jax.numpy as jnp


def bin_width(samples):
    return 2.0 * jnp.std(samples) / math.sqrt(samples.shape[0])


@functools.partial(jax.jit, static_argnames=("log",))
def summarise(samples, log=False):
    if log:
        samples = jnp.log1p(samples)
    width = bin_width(samples)
    bins = math.ceil((samples.max() - samples.min()) / width)  # finding
    counts, edges = jnp.histogram(samples, bins=bins)
    return counts, edges


if __name__ == "__main__":
    data = jax.random.exponential(jax.random.key(0), (200,))
    print(summarise(data, log=True))
