# keywords that were renamed
import jax.numpy as jnp


def relu6(x):
    return jnp.clip(x, min=0.0, max=6.0)
