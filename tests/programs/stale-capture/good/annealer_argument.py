# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


class Annealer:
    def __init__(self, sites):
        self.sites = sites

    @functools.partial(jax.jit, static_argnums=0)
    def sweep(self, spins, weights, beta, key):
        def flip(spins, xs):
            i, u = xs
            gain = spins[:, i] * (spins @ weights[:, i])
            accept = u < jnp.exp(beta * gain)
            return spins.at[:, i].multiply(jnp.where(accept, -1.0, 1.0)), None

        uniforms = jax.random.uniform(key, (self.sites, spins.shape[0]))
        return jax.lax.scan(flip, spins, (jnp.arange(self.sites), uniforms))[0]


@jax.jit
def cut_value(spins, weights):
    return 0.25 * (weights.sum() - jnp.einsum("bi,ij,bj->b", spins, weights, spins))


def main():
    k_w, k_s, key = jax.random.split(jax.random.key(0), 3)
    upper = jnp.triu(jax.random.uniform(k_w, (40, 40)), 1)
    weights = upper + upper.T
    annealer = Annealer(40)
    spins = jnp.where(jax.random.bernoulli(k_s, 0.5, (8, 40)), 1.0, -1.0)
    start = cut_value(spins, weights).max()
    for beta in [0.05 * 1.06 ** i for i in range(80)]:
        key, sub = jax.random.split(key)
        spins = annealer.sweep(spins, weights, beta, sub)
    print("start", float(start), "best", float(cut_value(spins, weights).max()))


if __name__ == "__main__":
    main()
