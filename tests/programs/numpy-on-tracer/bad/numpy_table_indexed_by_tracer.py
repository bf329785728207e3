# source: scikit-hep/awkward#3333
# blind: eighteenth

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

# grid-world: 6 states x 4 actions
TRANSITIONS = np.array(  # finding-also
    [
        [0, 1, 3, 0],
        [0, 2, 4, 1],
        [1, 2, 5, 2],
        [3, 4, 3, 0],
        [3, 5, 4, 1],
        [4, 5, 5, 2],
    ]
)
REWARDS = np.array([0.0, 0.0, 0.0, -0.1, 0.0, 1.0], dtype=np.float32)


class Step(NamedTuple):
    state: jax.Array
    reward: jax.Array


def env_step(state, action):
    nxt = TRANSITIONS[state, action]  # finding
    return Step(nxt, jnp.asarray(REWARDS)[nxt])


@functools.partial(jax.jit, static_argnames="horizon")
def rollout(key, policy_logits, horizon):
    def body(carry, k):
        action = jax.random.categorical(k, policy_logits[carry])
        out = env_step(carry, action)
        return out.state, out

    return jax.lax.scan(body, jnp.asarray(0), jax.random.split(key, horizon))


def main():
    n_states, n_actions = TRANSITIONS.shape
    final, steps = rollout(jax.random.key(0), jnp.zeros((n_states, n_actions)), 12)
    print(final, steps.reward.sum())


if __name__ == "__main__":
    main()
