# by position, and NumPy
import jax.numpy as jnp
import numpy as np

y = jnp.clip(jnp.ones(3), 0.0, 6.0), jnp.sort(jnp.ones(3), kind=None)
z = np.clip(np.ones(3), a_min=0.0, a_max=6.0)
