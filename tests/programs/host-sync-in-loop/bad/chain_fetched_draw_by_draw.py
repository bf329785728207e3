# source: pyro-ppl/numpyro#463
# blind: fourth

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class HMCState(NamedTuple):
    q: jax.Array
    energy: jax.Array


def potential(q):
    return 0.5 * jnp.sum(q**2)


def leapfrog(q, p, eps, n):
    def body(_, qp):
        q, p = qp
        p = p - 0.5 * eps * jax.grad(potential)(q)
        q = q + eps * p
        return q, p - 0.5 * eps * jax.grad(potential)(q)

    return jax.lax.fori_loop(0, n, body, (q, p))


@jax.jit
def kernel(state, key):
    k1, k2 = jax.random.split(key)
    p = jax.random.normal(k1, state.q.shape)
    q, p_new = leapfrog(state.q, p, 0.1, 10)
    energy = potential(q) + 0.5 * jnp.sum(p_new**2)
    old = potential(state.q) + 0.5 * jnp.sum(p**2)
    accept = jnp.log(jax.random.uniform(k2)) < old - energy
    return HMCState(jnp.where(accept, q, state.q), energy)


class Sampler:
    def __init__(self, dim, n_samples):
        self.state = HMCState(jnp.zeros(dim), jnp.inf)
        self.samples = np.zeros((n_samples, dim), np.float32)

    def run(self, key):
        for i, k in enumerate(jax.random.split(key, len(self.samples))):
            self.state = kernel(self.state, k)
            self.samples[i] = self.state.q  # finding
        return self.samples


if __name__ == "__main__":
    print(Sampler(3, 50).run(jax.random.key(1)).std(0))
