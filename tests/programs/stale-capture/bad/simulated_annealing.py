# source: jax-ml/jax#9023
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


class Annealer:
    def __init__(self, weights, beta=0.05):
        self.weights = weights
        self.beta = beta

    @functools.partial(jax.jit, static_argnums=0)
    def cut_value(self, spins):
        return 0.25 * jnp.sum(self.weights * (1.0 - spins[:, :, None] * spins[:, None, :]), axis=(1, 2))

    @functools.partial(jax.jit, static_argnums=0)  # finding-also
    def sweep(self, spins, key):
        n = spins.shape[1]

        def flip(spins, xs):
            i, u = xs
            gain = spins[:, i] * (spins @ self.weights[:, i])
            accept = u < jnp.exp(self.beta * gain)  # finding-also
            return spins.at[:, i].multiply(jnp.where(accept, -1.0, 1.0)), None

        uniforms = jax.random.uniform(key, (n, spins.shape[0]))
        spins, _ = jax.lax.scan(flip, spins, (jnp.arange(n), uniforms))
        return spins


def random_graph(key, n, density):
    k_edge, k_w = jax.random.split(key)
    upper = jnp.triu(jax.random.bernoulli(k_edge, density, (n, n)), 1)
    w = upper * jax.random.uniform(k_w, (n, n))
    return w + w.T


def main():
    k_graph, k_spin, key = jax.random.split(jax.random.key(0), 3)
    weights = random_graph(k_graph, 60, 0.3)
    annealer = Annealer(weights)
    spins = jnp.where(jax.random.bernoulli(k_spin, 0.5, (16, 60)), 1.0, -1.0)
    start = annealer.cut_value(spins).max()
    for beta in jnp.geomspace(0.05, 8.0, 120).tolist():
        annealer.beta = beta  # finding
        key, sub = jax.random.split(key)
        spins = annealer.sweep(spins, sub)
    values = annealer.cut_value(spins)
    print("start", float(start), "best", float(values.max()), "mean", float(values.mean()))


if __name__ == "__main__":
    main()
