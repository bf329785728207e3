# children that come back in another attribute: by position, unpacked, by number, and of a dataclass

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, scale):
        self.mean = jnp.asarray(mean)
        self.scale = jnp.asarray(scale)

    def tree_flatten(self):
        return (self.scale, self.mean), None  # finding

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@jax.tree_util.register_pytree_node_class
class Ray:
    def __init__(self, origin, direction, name):
        self.origin, self.direction, self.name = origin, direction, name

    def tree_flatten(self):
        children = (self.direction, self.origin)  # finding
        return children, self.name

    @classmethod
    def tree_unflatten(cls, aux, children):
        origin, direction = children
        return cls(origin, direction, aux)


@jax.tree_util.register_pytree_node_class
@dataclass
class Box:
    low: jax.Array
    high: jax.Array

    def tree_flatten(self):
        return (self.low, self.high), None  # finding

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(children[1], children[0])


for one in (Normal(0.0, 1.0), Ray(jnp.zeros(3), jnp.ones(3), "up"), Box(jnp.zeros(2), jnp.ones(2))):
    print(vars(jax.tree.map(lambda x: x, one)))
