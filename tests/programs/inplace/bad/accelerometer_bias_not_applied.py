# source: apirrone/Open_Duck_Playground#24
# blind: third

from functools import partial

import jax
import jax.numpy as jnp

ACC, GYRO = slice(0, 3), slice(3, 6)


class DuckEnv:
    def __init__(self, noise=0.05, bias=1.3):
        self.noise = noise
        self.bias = bias

    def _sensors(self, qpos, qvel):
        return jnp.concatenate([qvel[:3] * 0.1, qpos[:3]])

    def _observe(self, qpos, qvel, key):
        sensors = self._sensors(qpos, qvel)
        accelerometer = sensors[ACC]
        accelerometer.at[0].add(self.bias)  # finding
        noisy = sensors[GYRO] + self.noise * jax.random.normal(key, (3,))
        return jnp.concatenate([accelerometer, noisy])

    @partial(jax.jit, static_argnums=0)
    def step(self, qpos, qvel, key):
        qvel = 0.9 * qvel
        return self._observe(qpos + 0.02 * qvel, qvel, key)


if __name__ == "__main__":
    env = DuckEnv()
    obs = env.step(jnp.zeros(6), jnp.zeros(6), jax.random.key(0))
    print("bias seen by the policy:", obs[0])
