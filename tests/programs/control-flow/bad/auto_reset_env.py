# blind: twenty-first

import flax.struct
import jax
import jax.numpy as jnp

GOAL = (3.0, 3.0)
START = (0, 0)  # finding-also
LIMIT = 60


@flax.struct.dataclass
class EnvState:
    pos: jax.Array
    t: jax.Array


class PointMass:
    def reset(self):
        return EnvState(pos=jnp.array(START), t=jnp.zeros((), jnp.int32))  # finding-also

    def initial(self, key):
        pos = jax.random.uniform(key, (2,), minval=-1.0, maxval=1.0)
        return EnvState(pos=pos, t=jnp.zeros((), jnp.int32))

    def step(self, state, action):
        pos = state.pos + 0.2 * jnp.clip(action, -1.0, 1.0)
        dist = jnp.linalg.norm(pos - jnp.array(GOAL))
        done = (dist < 0.3) | (state.t + 1 >= LIMIT)
        new = EnvState(pos=pos, t=state.t + 1)
        new = jax.lax.cond(done, lambda s: self.reset(), lambda s: s, new)  # finding
        return new, -dist, done


def controller(state, noise):
    direction = jnp.array(GOAL) - state.pos
    return direction / (1e-6 + jnp.linalg.norm(direction)) + noise


def run(key, steps=200):
    env = PointMass()
    k_init, k_noise = jax.random.split(key)

    def body(state, noise):
        state, reward, done = env.step(state, controller(state, noise))
        return state, (reward, done)

    noises = 0.5 * jax.random.normal(k_noise, (steps, 2))
    state, (rewards, dones) = jax.lax.scan(body, env.initial(k_init), noises)
    return state, rewards.sum(), dones.sum()


def main():
    state, total, episodes = jax.jit(run)(jax.random.key(0))
    print("return", float(total), "episodes", int(episodes))


if __name__ == "__main__":
    main()
