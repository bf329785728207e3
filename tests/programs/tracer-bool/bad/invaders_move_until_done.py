# source: RobertTLange/gymnax#83
# blind: third

from typing import NamedTuple

import jax
import jax.numpy as jnp


class EnvState(NamedTuple):
    player: jax.Array
    entities: jax.Array
    clock: jax.Array
    terminal: jax.Array


class Asteroids:
    grid = 10

    def reset(self, key):
        col = jax.random.randint(key, (), 0, self.grid)
        field = jnp.zeros((self.grid, self.grid)).at[0, col].set(1.0)
        return EnvState(jnp.int32(self.grid // 2), field, jnp.int32(0), jnp.bool_(False))

    def _advance(self, state):
        field = jnp.roll(state.entities, 1, axis=0)
        hit = jnp.sum(field[-1, state.player])
        return state._replace(entities=field, terminal=bool(hit > 0))  # finding

    def step(self, key, state, action):
        player = jnp.clip(state.player + action - 1, 0, self.grid - 1)
        state = self._advance(state._replace(player=player, clock=state.clock + 1))
        return state, jnp.where(state.terminal, -1.0, 0.1)


def rollout(env, key, n):
    def one(state, k):
        action = jax.random.randint(k, (), 0, 3)
        return env.step(k, state, action)

    return jax.lax.scan(one, env.reset(key), jax.random.split(key, n))


if __name__ == "__main__":
    print(rollout(Asteroids(), jax.random.key(0), 12)[1])
