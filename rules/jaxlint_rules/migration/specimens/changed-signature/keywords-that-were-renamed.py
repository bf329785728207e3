# keywords that were renamed
import jax.numpy as jnp


def relu6(x):
    return jnp.clip(x, a_min=0.0, a_max=6.0)  # finding
