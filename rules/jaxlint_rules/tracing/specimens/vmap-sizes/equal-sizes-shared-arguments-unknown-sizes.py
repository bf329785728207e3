# equal sizes, shared arguments, unknown sizes

import jax
import jax.numpy as jnp

w, xs = jnp.ones((8, 4)), jnp.zeros((100, 8))
a = jax.vmap(lambda w, x: x @ w, in_axes=(None, 0))(w, xs)
b = jax.vmap(jnp.dot, in_axes=(0, 1))(w, xs)
c = jax.vmap(lambda x, k: x * k, in_axes=(0, None))(xs, 3.0)

def main(keys, n):
    return jax.vmap(lambda key, x: jax.random.normal(key) * x)(keys, jnp.ones(n))
