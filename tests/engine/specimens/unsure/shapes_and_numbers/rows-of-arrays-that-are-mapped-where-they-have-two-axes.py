# rows of arrays that are mapped where they have two axes
import jax
import jax.numpy as jnp

def advantages(rewards, values):
    return rewards - values.mean()

def both(rewards, values):
    if rewards.ndim == 1:
        return advantages(rewards, values)
    return jax.vmap(advantages)(rewards, values)

print(both(jnp.ones(4), jnp.ones(5)))
