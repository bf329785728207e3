# blind: ninth

import jax
import jax.numpy as jnp


def quaternion_log(q):
    w, xyz = q[0], q[1:]
    norm_sq = jnp.sum(xyz**2)
    small = norm_sq < 1e-8
    norm = jnp.sqrt(jnp.where(small, 1.0, norm_sq))
    safe_w = jnp.where(small, w, 1.0)
    factor = jnp.where(small, 2.0 / safe_w, 2.0 * jnp.arctan2(norm, w) / norm)
    return factor * xyz


def pose_error(q, target):
    return jnp.sum((quaternion_log(q) - target) ** 2)


if __name__ == "__main__":
    print(jax.grad(pose_error)(jnp.array([1.0, 0.0, 0.0, 0.0]), jnp.zeros(3)))
