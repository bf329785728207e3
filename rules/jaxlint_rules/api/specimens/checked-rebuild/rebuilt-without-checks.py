# rebuilt without the constructor, checks that hold for rows too, and objects that are not mapped
import equinox as eqx
import jax
import jax.numpy as jnp
from flax import struct


@jax.tree_util.register_pytree_node_class
class Cloud:
    def __init__(self, points):
        assert points.ndim == 2
        self.points = points

    def tree_flatten(self):
        return (self.points,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        cloud = object.__new__(cls)
        (cloud.points,) = children
        return cloud


@jax.tree_util.register_pytree_node_class
class Grid:
    def __init__(self, values, spacing):
        assert values.shape[-1] > 1
        if isinstance(spacing, float):
            assert spacing > 0
        self.values = values
        self.spacing = spacing

    def tree_flatten(self):
        return (self.values,), self.spacing

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


@struct.dataclass
class Table:
    rows: jax.Array

    def __post_init__(self):
        assert self.rows.ndim == 2

    def total(self):
        return self.rows.sum()


class Ray(eqx.Module):
    direction: jax.Array

    def __check_init__(self):
        assert self.direction.ndim == 1


def scaled(table, factor):
    return table.total() * factor


def steps(table):
    return jax.lax.scan(lambda table, x: (table, x * table.total()), table, jnp.ones(3))[1]


table = Table(jnp.ones((3, 2)))
print(jax.vmap(lambda cloud: cloud.points.sum())(Cloud(jnp.ones((3, 2)))))
print(jax.vmap(lambda grid: grid.values.sum())(Grid(jnp.ones((3, 2)), 0.5)))
print(jax.vmap(scaled, in_axes=(None, 0))(table, jnp.ones(3)), jax.jit(scaled)(table, 2.0), steps(table))
print(jax.tree.map(lambda x: 2 * x, table), jax.vmap(Ray)(jnp.ones((5, 3))))
