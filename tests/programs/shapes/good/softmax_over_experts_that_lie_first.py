# blind: tenth

import jax
import jax.numpy as jnp


def mix(params, tokens):
    gates = jnp.einsum("ed,td->et", params["router"], tokens)
    weights = jax.nn.softmax(gates, axis=0)
    outs = jnp.einsum("edf,td->etf", params["experts"], tokens)
    return jnp.einsum("et,etf->tf", weights, outs)


params = {"router": jnp.ones((4, 8)), "experts": jnp.ones((4, 8, 6))}
print(jax.jit(mix)(params, jnp.ones((10, 8))).shape)
