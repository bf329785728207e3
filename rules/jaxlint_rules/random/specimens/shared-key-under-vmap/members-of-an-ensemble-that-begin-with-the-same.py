# members of an ensemble that begin with the same weights

import equinox as eqx
import jax
import jax.numpy as jnp

def ensemble(key, size):
    def make(_):
        return eqx.nn.MLP(2, 1, 16, 2, key=key)  # finding

    return eqx.filter_vmap(make)(jnp.arange(size))

def distinct(key, size):
    @eqx.filter_vmap
    def make(k):
        return eqx.nn.MLP(2, 1, 16, 2, key=k)

    return make(jax.random.split(key, size))
