# source: jax-ml/jax#390
# blind: twenty-first
# missed: how often a comprehension of a function reads an element

import bisect

import jax
import jax.numpy as jnp
import numpy as np


def log_prob(theta):
    return -0.5 * jnp.sum(theta ** 2) - 0.1 * jnp.sum(theta ** 4)


def run_chain(key, num_samples, dim=2, scale=0.8):
    def body(carry, key_t):
        theta, lp = carry
        k1, k2 = jax.random.split(key_t)
        prop = theta + scale * jax.random.normal(k1, theta.shape)
        lp_prop = log_prob(prop)
        accept = jnp.log(jax.random.uniform(k2)) < lp_prop - lp
        theta = jnp.where(accept, prop, theta)
        lp = jnp.where(accept, lp_prop, lp)
        return (theta, lp), theta

    start = jnp.zeros(dim)
    keys = jax.random.split(key, num_samples)
    _, draws = jax.lax.scan(body, (start, log_prob(start)), keys)
    return draws


def histogram(values, edges):
    counts = [0] * (len(edges) - 1)
    for v in values:
        slot = bisect.bisect_right(edges, v) - 1
        if 0 <= slot < len(counts):
            counts[slot] += 1
    return counts


def summarise(draws, param, edges):
    values = [float(draws[i, param]) for i in range(draws.shape[0])]  # finding
    values_sorted = sorted(values)
    lower = values_sorted[int(0.05 * len(values))]
    upper = values_sorted[int(0.95 * len(values))]
    return histogram(values, edges), (lower, upper)


def main():
    draws = jax.jit(run_chain, static_argnums=1)(jax.random.key(0), 25_000)
    edges = np.linspace(-2.0, 2.0, 9).tolist()
    for param in range(draws.shape[1]):
        counts, interval = summarise(draws, param, edges)
        print("param", param, "90% interval", interval, counts)


if __name__ == "__main__":
    main()
