# source: jax-ml/jax#12596
# blind: second

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


class HostEnv:
    def __init__(self):
        self.position = np.zeros(2, np.float32)

    def step(self, action):
        self.position = self.position + 0.1 * np.asarray(action)
        return np.float32(-np.sum(self.position**2))


def objective(policy, obs, env):
    action = jnp.tanh(obs @ policy)
    reward = io_callback(env.step, None, action, ordered=True)  # finding
    return reward * jnp.sum(policy**2)  # finding-also


if __name__ == "__main__":
    env = HostEnv()
    print(jax.jit(lambda p, o: objective(p, o, env))(jnp.ones((3, 2)), jnp.ones(3)))
