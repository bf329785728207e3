# small matrices, determinants that no logarithm takes, and slogdet
import jax
import jax.numpy as jnp


@jax.jit
def log_area(scale):
    rotation = jnp.eye(2) * scale
    return jnp.log(jnp.linalg.det(rotation))


@jax.jit
def log_volume(matrix):
    sign, logdet = jnp.linalg.slogdet(matrix)
    return jnp.where(sign > 0, logdet, -jnp.inf)


@jax.jit
def orientation(matrix):
    return jnp.sign(jnp.linalg.det(matrix)), jnp.log(jnp.trace(matrix))
