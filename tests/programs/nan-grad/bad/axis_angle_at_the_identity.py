# source: kornia/kornia#3949
# blind: sixth

"""Pose refinement with an exponential map."""
import jax
import jax.numpy as jnp


def hat(v):
    z = jnp.zeros(())
    return jnp.array([[z, -v[2], v[1]], [v[2], z, -v[0]], [-v[1], v[0], z]])


def rotation(rotvec):
    angle = jnp.sqrt(jnp.sum(rotvec**2))  # finding
    axis = jnp.where(angle > 1e-8, rotvec / angle, rotvec)
    k = hat(axis)
    return jnp.eye(3) + jnp.sin(angle) * k + (1.0 - jnp.cos(angle)) * (k @ k)


def residual(pose, source, target):
    moved = source @ rotation(pose[:3]).T + pose[3:]
    return jnp.sum((moved - target) ** 2)


@jax.jit
def refine(pose, source, target):
    def body(pose, _):
        return pose - 1e-2 * jax.grad(residual)(pose, source, target), None

    return jax.lax.scan(body, pose, None, length=100)[0]


if __name__ == "__main__":
    source = jax.random.normal(jax.random.key(0), (20, 3))
    print(refine(jnp.zeros(6), source, source + 0.3))
