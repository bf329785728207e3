# what an operator makes of something unknown
import jax.numpy as jnp
from elsewhere import numpy as np

def derivative():
    x = jnp.array([0.5, 0.2])
    parts = 0.5 * np.array([np.cos(x / 2), np.sin(x / 2)])
    parts[:, 1] = 0.0
    return parts
