# checks where nothing is compiled
import jax
import jax.numpy as jnp

@jax.jit
def root(x):
    y = jnp.sqrt(x)
    if jax.config.jax_disable_jit:
        assert not jnp.any(jnp.isnan(y)), "nans"
    return y
