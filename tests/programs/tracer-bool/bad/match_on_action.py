# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


class GridWorld:
    size = 5

    def reset(self, key):
        return jax.random.randint(key, (2,), 0, self.size)

    def move(self, action):
        match action:  # finding-also
            case 0:  # finding
                return jnp.array([0, 1])
            case 1:
                return jnp.array([0, -1])
            case 2:
                return jnp.array([1, 0])
            case _:
                return jnp.array([-1, 0])

    def step(self, position, action):
        position = jnp.clip(position + self.move(action), 0, self.size - 1)
        reward = jnp.all(position == self.size - 1).astype(jnp.float32)
        return position, reward


def rollout(env, key, length):
    start = env.reset(key)
    actions = jax.random.randint(key, (length,), 0, 4)
    return jax.lax.scan(env.step, start, actions)


print(rollout(GridWorld(), jax.random.key(0), 10))
