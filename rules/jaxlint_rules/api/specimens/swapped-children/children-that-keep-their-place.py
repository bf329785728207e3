# children in the order of the constructor, taken apart in their own order, by name, and a constructor that does more

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, scale):
        self.mean, self.scale = mean, scale

    def tree_flatten(self):
        return (self.mean, self.scale), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@jax.tree_util.register_pytree_node_class
class Ray:
    def __init__(self, origin, direction):
        self.origin = origin
        self.direction = direction

    def tree_flatten(self):
        return (self.direction, self.origin), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        direction, origin = children
        return cls(origin, direction)


@jax.tree_util.register_pytree_node_class
@dataclass
class Box:
    low: jax.Array
    high: jax.Array

    def tree_flatten(self):
        return (self.high, self.low), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(high=children[0], low=children[1])


@jax.tree_util.register_pytree_node_class
class Interval:
    def __init__(self, one, other):
        if not isinstance(one, object):
            one, other = other, one
        self.low, self.high = one, other

    def tree_flatten(self):
        return (self.high, self.low), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        made = object.__new__(cls)
        made.high, made.low = children
        return made


boxes = (Normal(0.0, 1.0), Ray(jnp.zeros(3), jnp.ones(3)), Box(jnp.zeros(2), jnp.ones(2)), Interval(0.0, 1.0))
for one in boxes:
    print(vars(jax.tree.map(lambda x: x, one)))
