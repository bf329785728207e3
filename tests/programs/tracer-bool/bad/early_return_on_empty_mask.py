# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp
from jax import tree_util


@tree_util.register_pytree_node_class
class PointCloud:
    def __init__(self, points, mask):
        self.points = points
        self.mask = mask

    def tree_flatten(self):
        return (self.points, self.mask), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)

    def centroid(self):
        if not self.mask.any():  # finding
            return jnp.zeros(3)
        weights = self.mask / self.mask.sum()
        return weights @ self.points


@jax.vmap
def centroids(cloud):
    return cloud.centroid()


def chamfer(a, b):
    return jnp.sum((centroids(a) - centroids(b)) ** 2)


if __name__ == "__main__":
    key = jax.random.key(0)
    clouds = PointCloud(jax.random.normal(key, (4, 10, 3)), jnp.ones((4, 10)))
    print(chamfer(clouds, clouds))
