# gradients at integers

import jax
import jax.numpy as jnp

def cube(x, n=3):
    return x**n

slope = jax.grad(cube)
print(slope(2))  # finding
print(jax.vmap(slope)(jnp.arange(5)))  # finding
print(slope(2.0), slope(2.0, 4), slope(jnp.float32(2)), jax.vmap(slope)(jnp.arange(5.0)))
print(jax.vmap(jax.grad(cube, argnums=0), in_axes=(0, None))(jnp.linspace(0, 1, 5), 3))
print(jax.grad(cube, allow_int=True)(2), jax.grad(lambda n, x: cube(x, n), argnums=1)(3, 2.0))
