# source: kornia/kornia#3949
# blind: sixth

"""Pose refinement, safe at the identity."""
import jax
import jax.numpy as jnp


def rotate(rotvec, points):
    sq = jnp.sum(rotvec**2)
    tiny = sq < 1e-12
    angle = jnp.sqrt(jnp.where(tiny, 1.0, sq))
    sinc = jnp.where(tiny, 1.0 - sq / 6.0, jnp.sin(angle) / angle)
    versine = jnp.where(tiny, 0.5 - sq / 24.0, (1.0 - jnp.cos(angle)) / angle**2)
    cross = jnp.cross(rotvec[None, :], points)
    return points + sinc * cross + versine * jnp.cross(rotvec[None, :], cross)


def residual(pose, source, target):
    return jnp.mean((rotate(pose[:3], source) + pose[3:] - target) ** 2)


@jax.jit
def refine(pose, source, target):
    return pose - 0.1 * jax.grad(residual)(pose, source, target)


if __name__ == "__main__":
    source = jax.random.normal(jax.random.key(0), (10, 3))
    print(refine(jnp.zeros(6), source, source + 1.0))
