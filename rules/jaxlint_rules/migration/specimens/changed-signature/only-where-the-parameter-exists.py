# only where the parameter exists
import jax
import jax.numpy as jnp

if jax.__version_info__ < (0, 4, 27):
    y = jnp.clip(jnp.ones(3), a_min=0.0)
else:
    y = jnp.clip(jnp.ones(3), min=0.0)
