# source: jax-ml/jax#9085

import math

import jax
import jax.numpy as jnp


class Rotation:
    def __init__(self, axis, angle):
        self.axis = axis
        self.angle = angle

    def matrix(self):
        norm = jnp.linalg.norm(self.axis)
        axis = self.axis if math.isclose(norm, 1.0) else self.axis / norm  # finding
        k = jnp.cross(jnp.eye(3), axis)
        return jnp.eye(3) + jnp.sin(self.angle) * k + (1 - jnp.cos(self.angle)) * k @ k


def pose_error(params, source, target):
    rotated = source @ Rotation(params["axis"], params["angle"]).matrix().T
    return jnp.mean((rotated - target) ** 2)


solve = jax.jit(jax.value_and_grad(pose_error))
print(solve({"axis": jnp.array([0.0, 0.0, 1.0]), "angle": jnp.array(0.1)}, jnp.eye(3), jnp.eye(3)))
