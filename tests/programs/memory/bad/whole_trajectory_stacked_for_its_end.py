# source: jax-ml/jax#1491
# blind: second

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Walkers(NamedTuple):
    x: jax.Array
    logp: jax.Array
    accepted: jax.Array


def log_density(x):
    return -0.5 * jnp.sum(x**2, axis=-1) + jnp.log1p(jnp.sum(x**4, axis=-1))


def metropolis(state, key):
    propose_key, accept_key = jax.random.split(key)
    proposal = state.x + 0.3 * jax.random.normal(propose_key, state.x.shape)
    logp = log_density(proposal)
    take = jnp.log(jax.random.uniform(accept_key, logp.shape)) < logp - state.logp
    new = Walkers(
        jnp.where(take[:, None], proposal, state.x),
        jnp.where(take, logp, state.logp),
        state.accepted + take,
    )
    return new, new


@jax.jit
def burn_in(state, keys):
    final, trace = jax.lax.scan(metropolis, state, keys)  # finding
    last = jax.tree.map(lambda leaf: leaf[-1], trace)  # finding-also
    return last


def main():
    x = jax.random.normal(jax.random.key(0), (1000, 64))
    state = Walkers(x, log_density(x), jnp.zeros(1000, jnp.int32))
    state = burn_in(state, jax.random.split(jax.random.key(1), 200))
    print(state.accepted.mean())


if __name__ == "__main__":
    main()
