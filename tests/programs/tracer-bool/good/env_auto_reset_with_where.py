# source: google/brax#321

import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class EnvState:
    angle: jax.Array
    done: jax.Array
    steps: jax.Array


class Pendulum:
    def __init__(self, max_steps=None):
        self.max_steps = max_steps

    def reset(self, key):
        return EnvState(0.1 * jax.random.normal(key), jnp.array(False), jnp.array(0))

    def step(self, state, action):
        angle = state.angle + 0.05 * (jnp.sin(state.angle) + action)
        done = jnp.abs(angle) > 1.0
        if self.max_steps is not None:
            done = done | (state.steps + 1 >= self.max_steps)
        return state.replace(angle=angle, done=done, steps=state.steps + 1)


def auto_reset_step(env, state, action, key):
    state = env.step(state, action)
    fresh = env.reset(key)
    return jax.tree.map(lambda a, b: jnp.where(state.done, a, b), fresh, state)


def rollout(env, key, length=20):
    def body(state, key):
        state = auto_reset_step(env, state, 0.3, key)
        return state, state.angle

    first, *rest = jax.random.split(key, length + 1)
    return jax.lax.scan(body, env.reset(first), jnp.stack(rest))


print(rollout(Pendulum(max_steps=5), jax.random.key(0))[1])
