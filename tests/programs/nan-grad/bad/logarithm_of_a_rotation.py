# source: brentyi/jaxlie#9
# blind: ninth

import jax
import jax.numpy as jnp


def quaternion_log(q):
    w, xyz = q[0], q[1:]
    norm_sq = jnp.sum(xyz**2)
    small = norm_sq < 1e-8
    norm = jnp.sqrt(norm_sq)  # finding-also
    factor = jnp.where(small, 2.0 / w, 2.0 * jnp.arctan2(norm, w) / norm)  # finding
    return factor * xyz


def pose_error(params, target):
    q = params / jnp.linalg.norm(params)
    return jnp.sum((quaternion_log(q) - target) ** 2)


def align(q, target, steps=20):
    step = jax.jit(lambda q: q - 0.1 * jax.grad(pose_error)(q, target))
    for _ in range(steps):
        q = step(q)
    return q


if __name__ == "__main__":
    print(align(jnp.array([1.0, 0.0, 0.0, 0.0]), jnp.array([0.1, 0.0, 0.0])))
