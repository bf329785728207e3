# source: blackjax-devs/blackjax#656
# blind: fourth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class ChainState(NamedTuple):
    position: jax.Array
    log_density: jax.Array
    rng_key: jax.Array


def log_density(x):
    return -0.5 * jnp.sum(x**2)


def init(position, seed):
    return ChainState(position, log_density(position), jax.random.key(seed))


@jax.jit
def one_step(state):
    key_move, key_accept = jax.random.split(state.rng_key)  # finding-also
    proposal = state.position + 0.5 * jax.random.normal(key_move, state.position.shape)
    new_density = log_density(proposal)
    accept = jnp.log(jax.random.uniform(key_accept)) < new_density - state.log_density
    return state._replace(  # finding
        position=jnp.where(accept, proposal, state.position),
        log_density=jnp.where(accept, new_density, state.log_density),
    )


def sample(n, seed=0):
    state = init(jnp.zeros(2), seed)
    draws = []
    for _ in range(n):
        state = one_step(state)  # finding-also
        draws.append(state.position)
    return jnp.stack(draws)


if __name__ == "__main__":
    print(sample(50).std(0))
