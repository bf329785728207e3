# a shared matrix, another axis, a decorator

import jax
import jax.numpy as jnp

w, xs = jnp.ones((8, 4)), jnp.zeros((100, 8))
y = jax.vmap(lambda w, x: x @ w)(w, xs)  # finding
z = jax.vmap(jnp.dot, in_axes=(1, 0))(w, xs)  # finding

@jax.vmap
def distance(a, b):
    return jnp.sum((a - b) ** 2)

def main(key):
    points = jax.random.normal(key, (32, 3))
    return distance(points, jnp.zeros((16, 3)))  # finding
