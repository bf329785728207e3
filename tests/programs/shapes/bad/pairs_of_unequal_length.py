# blind: tenth

import jax
import jax.numpy as jnp


def td_error(value, next_value, reward, discount=0.99):
    return reward + discount * next_value - value


def all_errors(values, rewards):
    batched = jax.vmap(td_error, in_axes=(0, 0, 0))
    return batched(values[:-1], values[1:], rewards)  # finding


trajectory = jnp.arange(65, dtype=jnp.float32)
values = jnp.sin(trajectory)
rewards = jnp.cos(trajectory)
print(all_errors(values, rewards).sum())
