# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit
def act(params, obs):
    key = jax.random.PRNGKey(42)  # finding
    mean = jnp.tanh(obs @ params)
    return mean + 0.1 * jax.random.normal(key, mean.shape)  # finding-also


params = jnp.ones((3, 2))
obs = jnp.ones(3)
for _ in range(4):
    action = act(params, obs)
    obs = obs + action.sum()
print(obs)
