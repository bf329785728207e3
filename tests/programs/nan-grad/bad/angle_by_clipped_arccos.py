# source: jax-ml/jax#23649
# blind: first

import jax
import jax.numpy as jnp


def geodesic(r1, r2):
    cosine = 0.5 * (jnp.trace(r1.T @ r2) - 1.0)
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))  # finding


def pose_loss(r, target):
    return geodesic(r, target) ** 2


if __name__ == "__main__":
    print(jax.grad(pose_loss)(jnp.eye(3), jnp.eye(3)))
