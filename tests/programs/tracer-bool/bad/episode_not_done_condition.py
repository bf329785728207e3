# source: google/brax#512
# blind: first

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class EnvState:
    position: jax.Array
    done: jax.Array
    t: jax.Array


def keep_going(state):
    return not state.done  # finding


def tick(state):
    position = state.position + 0.1 * jnp.cos(state.position)
    return EnvState(position, (position > 1.5) | (state.t > 99), state.t + 1)


@jax.jit
def play(start):
    return jax.lax.while_loop(keep_going, tick, start)


if __name__ == "__main__":
    print(play(EnvState(jnp.array(0.0), jnp.array(False), jnp.array(0))))
