# a comprehension, an index, a list that is filled

import jax
import jax.numpy as jnp

def norm(x):
    return jnp.sqrt(jnp.sum(x**2))

def main():
    xs = jnp.ones((100, 8))
    a = jax.vmap(norm)(xs)  # finding
    b = jax.vmap(norm)(xs)  # finding
    rows = jax.vmap(norm)(xs)  # finding
    return a, b, rows

main()
