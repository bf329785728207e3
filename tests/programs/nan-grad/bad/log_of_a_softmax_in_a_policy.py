# blind: tenth

import jax
import jax.numpy as jnp


def policy(params, obs):
    logits = obs @ params
    z = jnp.exp(logits)
    return z / jnp.sum(z, axis=-1, keepdims=True)  # finding-also


def surrogate(params, obs, actions, advantage):
    probs = policy(params, obs)
    logp = jnp.log(jnp.take_along_axis(probs, actions[:, None], axis=-1))[:, 0]  # finding
    return -jnp.mean(logp * advantage)


obs = jnp.ones((4, 3)) * 100.0
print(jax.grad(surrogate)(jnp.eye(3, 2), obs, jnp.zeros(4, jnp.int32), jnp.ones(4)))
