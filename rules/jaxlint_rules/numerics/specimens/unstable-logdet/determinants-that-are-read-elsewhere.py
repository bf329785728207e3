# determinants whose sign is guarded, or that are read elsewhere too
import jax
import jax.numpy as jnp


def safe_log(jacobian):
    return jnp.where(jacobian > 1e-4, jnp.log(jacobian), -9.2 + (jacobian - 1e-4) / 1e-4)


@jax.jit
def energy(gradient):
    deformation = gradient + jnp.eye(gradient.shape[-1])
    return safe_log(jnp.linalg.det(deformation)) ** 2


@jax.jit
def density(matrix):
    determinant = jnp.linalg.det(matrix)
    return jnp.log(determinant), 1 / determinant
