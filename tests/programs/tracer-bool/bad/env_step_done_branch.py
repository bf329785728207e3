# source: google/brax#321

import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class EnvState:
    angle: jax.Array
    speed: jax.Array
    done: jax.Array
    steps: jax.Array


class Pendulum:
    dt = 0.05

    def reset(self, key):
        angle = jax.random.uniform(key, (), minval=-0.1, maxval=0.1)
        return EnvState(angle, jnp.zeros(()), jnp.array(False), jnp.array(0))

    def step(self, state, action):
        speed = state.speed + self.dt * (9.8 * jnp.sin(state.angle) + action)
        angle = state.angle + self.dt * speed
        return state.replace(angle=angle, speed=speed, done=jnp.abs(angle) > 1.0, steps=state.steps + 1)


class AutoReset:
    def __init__(self, env):
        self.env = env

    def reset(self, key):
        return self.env.reset(key)

    def step(self, state, action, key):
        state = self.env.step(state, action)
        if state.done:  # finding
            state = self.env.reset(key)
        return state


env = AutoReset(Pendulum())
step = jax.jit(env.step)
state = env.reset(jax.random.key(0))
for i in range(20):
    state = step(state, jnp.array(0.3), jax.random.key(i))
print(state)
