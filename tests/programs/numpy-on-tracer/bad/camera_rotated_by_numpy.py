# blind: thirteenth
# missed: the class of the camera is not known: no code creates one

import jax
import jax.numpy as jnp
import numpy as np


class Camera:
    def __init__(self, focal, center):
        self.focal = focal
        self.center = center

    def project(self, points):
        depth = points[:, 2:]
        return self.focal * points[:, :2] / depth + self.center

    def rotate(self, points, angles):
        cx, sx = np.cos(angles[0]), np.sin(angles[0])  # finding
        rotation = jnp.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
        return points @ rotation.T


def reprojection(pose, camera, points, seen):
    moved = camera.rotate(points, pose["angles"]) + pose["shift"]
    return jnp.mean((camera.project(moved) - seen) ** 2)


def align(camera, points, seen, steps=20):
    pose = {"angles": jnp.zeros(3), "shift": jnp.array([0.0, 0.0, 5.0])}
    for _ in range(steps):
        grads = jax.grad(reprojection)(pose, camera, points, seen)
        pose = jax.tree.map(lambda p, g: p - 1e-4 * g, pose, grads)
    return pose
