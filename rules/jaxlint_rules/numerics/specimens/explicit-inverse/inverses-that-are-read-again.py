# inverses that are the result, that several products read, or that a loop reads; small matrices
import jax
import jax.numpy as jnp


@jax.jit
def whiten(points):
    precision = jnp.linalg.inv(points.T @ points + jnp.eye(128))
    return precision @ points.T, points @ precision


@jax.jit
def covariance(hessian):
    return jnp.linalg.inv(hessian + jnp.eye(100))


def steps(matrix, vectors):
    inverse = jnp.linalg.inv(matrix + jnp.eye(100))
    found = []
    for vector in vectors:
        found.append(inverse @ vector)
    return found


def mapped(matrix, vectors):
    inverse = jnp.linalg.inv(matrix + jnp.eye(100))
    return jax.vmap(lambda vector: inverse @ vector)(vectors)


@jax.jit
def to_camera(pixels):
    intrinsics = jnp.array([[500.0, 0.0, 320.0], [0.0, 500.0, 240.0], [0.0, 0.0, 1.0]])
    return jnp.linalg.inv(intrinsics) @ pixels


@jax.jit
def solved(matrix, vector):
    return jnp.linalg.solve(matrix + jnp.eye(100), vector)


@jax.jit
def distances(covariances, offsets):
    batch = covariances[jnp.newaxis]
    inverses = jnp.linalg.inv(batch)
    return jnp.matmul(inverses, offsets[..., jnp.newaxis])
