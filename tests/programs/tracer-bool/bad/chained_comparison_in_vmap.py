# source: epignatelli/navix#44
# blind: first

import jax
import jax.numpy as jnp


def reward(position, size):
    inside = 0 <= position[0] < size and 0 <= position[1] < size  # finding
    return 1.0 if inside else -1.0


batch_reward = jax.vmap(reward, in_axes=(0, None))

if __name__ == "__main__":
    print(batch_reward(jnp.array([[0, 1], [9, 9]]), 5))
