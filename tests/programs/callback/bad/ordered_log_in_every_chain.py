# source: jax-ml/jax#18001
# blind: seventh

"""Metropolis chains that report their acceptance to a host-side counter."""

import collections

import jax
import jax.numpy as jnp
from jax.experimental import io_callback

accepted = collections.Counter()


def report(chain, ok):
    accepted[int(chain)] += int(ok)


def log_prob(x):
    return -0.5 * jnp.sum(x**2)


def kernel(chain, x, key):
    pkey, akey = jax.random.split(key)
    proposal = x + 0.5 * jax.random.normal(pkey, x.shape)
    ok = jnp.log(jax.random.uniform(akey)) < log_prob(proposal) - log_prob(x)
    io_callback(report, None, chain, ok, ordered=True)  # finding
    return jnp.where(ok, proposal, x)


@jax.jit
def sweep(xs, key):
    chains = jnp.arange(xs.shape[0])
    keys = jax.random.split(key, xs.shape[0])
    return jax.vmap(kernel)(chains, xs, keys)  # finding-also


if __name__ == "__main__":
    print(sweep(jnp.zeros((4, 3)), jax.random.key(0)))
