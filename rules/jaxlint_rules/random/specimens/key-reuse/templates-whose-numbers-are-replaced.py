# templates of what is restored, whose numbers are thrown away

import equinox as eqx
import flax.serialization
import jax
import jax.numpy as jnp

def both(path):
    key = jax.random.PRNGKey(0)
    encoder = eqx.nn.Linear(4, 8, key=key)
    encoder = eqx.tree_deserialise_leaves(path, encoder)
    decoder = eqx.nn.Linear(8, 4, key=key)
    decoder = eqx.tree_deserialise_leaves(path, like=decoder)
    return encoder, decoder

def one_that_stays(path):
    key = jax.random.PRNGKey(0)
    encoder = eqx.nn.Linear(4, 8, key=key)
    restored = eqx.tree_deserialise_leaves(path, eqx.nn.Linear(8, 4, key=jax.random.PRNGKey(1)))
    decoder = eqx.nn.Linear(8, 4, key=key)  # finding
    return encoder, decoder, restored

def drawn_twice(data):
    key = jax.random.PRNGKey(0)
    template = {"w": jax.random.normal(key, (4,))}
    params = flax.serialization.from_bytes(template, data)
    noise = jax.random.normal(key, (4,))
    return params["w"] + noise
