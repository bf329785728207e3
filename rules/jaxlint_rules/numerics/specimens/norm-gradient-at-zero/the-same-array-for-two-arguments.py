# the same array for two arguments

import jax
import jax.numpy as jnp

def stretch(points, rest):
    return jnp.sum(jnp.linalg.norm(points[1:] - rest[1:], axis=-1))  # finding

def safe(points, rest):
    square = jnp.sum((points[1:] - rest[1:]) ** 2, axis=-1)
    return jnp.sum(jnp.sqrt(square + 1e-9))

def lengths(points, rest):
    return jnp.sum(jnp.linalg.norm(points[1:] - rest[:-1], axis=-1)) + jnp.sum(jnp.abs(points - rest))

def moved(points, rest):
    return jnp.sum(jnp.linalg.norm(points - rest, axis=-1))

@jax.jit
def pull(points, rest):
    return jax.grad(stretch)(points, rest), jax.grad(safe)(points, rest), jax.grad(lengths)(points, rest)

@jax.jit
def push(points, rest):
    return jax.grad(moved)(points, rest)

shape = jnp.arange(12.0).reshape(4, 3)
pull(shape, shape)
push(shape + 0.1, shape)
