"""Which framework a class follows, by its bases and decorators, and what declares its fields."""

from __future__ import annotations

# Base classes that decide what an instance is to JAX.
BASE_KINDS = {
    "flax.linen.Module": "linen",
    "flax.nnx.Module": "nnx",
    "flax.nnx.Pytree": "nnx",
    "equinox.Module": "equinox",
    "haiku.Module": "haiku",
    "haiku.RNNCore": "haiku",
    "flax.struct.PyTreeNode": "pytree",
    "flax.training.train_state.TrainState": "pytree",
    "typing.NamedTuple": "namedtuple",
    "collections.namedtuple": "namedtuple",
    "enum.Enum": "enum",
    "enum.IntEnum": "enum",
    "enum.StrEnum": "enum",
    "enum.Flag": "enum",
    "enum.IntFlag": "enum",
}


DECORATOR_KINDS = {
    "flax.struct.dataclass": "pytree",
    "flax.nnx.dataclass": "nnx",
    "chex.dataclass": "pytree",
    "chex.mappable_dataclass": "pytree",
    "jax_dataclasses.pytree_dataclass": "pytree",
    "simple_pytree.dataclass": "pytree",
    "jax.tree_util.register_dataclass": "registered",
    "jax.tree_util.register_pytree_node_class": "registered",
    "jax.tree_util.register_pytree_with_keys_class": "registered",
    "jax.tree_util.register_static": "static",
    "dataclasses.dataclass": "dataclass",
    "attr.s": "dataclass",
    "attrs.define": "dataclass",
    "attrs.frozen": "dataclass",
    "attr.dataclass": "dataclass",
    "attr.attrs": "dataclass",
}


# What declares a field, and is told its default.
FIELD_MAKERS = frozenset(
    ["dataclasses.field", "flax.struct.field", "equinox.field", "attrs.field", "attr.ib"]
)


DATACLASS_KINDS = frozenset({"linen", "equinox", "pytree", "registered", "static", "dataclass", "namedtuple"})


MODULE_KINDS = frozenset({"linen", "nnx", "equinox", "haiku"})
