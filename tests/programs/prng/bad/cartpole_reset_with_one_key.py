# source: google-deepmind/mujoco_playground#349
# blind: fourth

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class ResetNoise:
    position: float = 0.05
    velocity: float = 0.05


class CartPole:
    def __init__(self, n_joints, noise=ResetNoise()):
        self.n_joints = n_joints
        self.noise = noise

    def _joint_angles(self, rng):
        return self.noise.position * jax.random.normal(rng, (self.n_joints,))

    def _joint_velocities(self, rng):
        return self.noise.velocity * jax.random.normal(rng, (self.n_joints,))

    def reset(self, rng):
        qpos = self._joint_angles(rng)
        qvel = self._joint_velocities(rng)  # finding
        return {"qpos": qpos, "qvel": qvel, "time": jnp.zeros(())}


def reset_all(env, seed, n_envs):
    keys = jax.random.split(jax.random.key(seed), n_envs)
    return jax.jit(jax.vmap(env.reset))(keys)


if __name__ == "__main__":
    state = reset_all(CartPole(2), 0, 128)
    print(jnp.corrcoef(state["qpos"].ravel(), state["qvel"].ravel()))
