# source: google-deepmind/mujoco_playground#349
# blind: fourth

import jax
import jax.numpy as jnp


class CartPole:
    def __init__(self, n_joints, noise=0.05):
        self.n_joints = n_joints
        self.noise = noise

    def _draw(self, rng):
        return self.noise * jax.random.normal(rng, (self.n_joints,))

    def reset(self, rng):
        rng, position_rng, velocity_rng = jax.random.split(rng, 3)
        state = {"qpos": self._draw(position_rng), "qvel": self._draw(velocity_rng)}
        return state | {"rng": rng, "time": jnp.zeros(())}

    def step(self, state, action):
        rng, push_rng = jax.random.split(state["rng"])
        push = action + 0.01 * jax.random.normal(push_rng, state["qvel"].shape)
        qvel = state["qvel"] + 0.02 * (push - jnp.sin(state["qpos"]))
        qpos = state["qpos"] + 0.02 * qvel
        return {"qpos": qpos, "qvel": qvel, "rng": rng, "time": state["time"] + 0.02}


def episode(env, rng, length):
    def body(state, _):
        state = env.step(state, 0.0)
        return state, state["qpos"]

    return jax.lax.scan(body, env.reset(rng), None, length=length)[1]


if __name__ == "__main__":
    env = CartPole(2)
    keys = jax.random.split(jax.random.key(0), 16)
    print(jax.jit(jax.vmap(lambda k: episode(env, k, 50)))(keys).shape)
