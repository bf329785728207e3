"""The parts of a `NamedSharding`, for the rules on sharding."""

from __future__ import annotations

from collections.abc import Collection

from jaxlint.api.tables import MAKERS
from jaxlint.api.values import Array, ExternalObject, ListValue, NumpyArray, Static, TupleValue, Value
from jaxlint_rules._callables import argument


def mesh_and_spec(sharding: Value | None) -> tuple[Value | None, Value | None] | None:
    """The mesh and spec of a `NamedSharding`; None for anything else."""
    if not isinstance(sharding, ExternalObject) or sharding.name != "jax.sharding.NamedSharding":
        return None
    return argument(sharding, 0, "mesh"), argument(sharding, 1, "spec")


_COMPUTING = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.random.", "jax.scipy.")
_PLACING = frozenset({"device_put", "reshard", "with_sharding_constraint", "pcast", "pvary"})
_PLACES = frozenset({"device", "out_sharding", "out_shardings"})
_DEEP = 12


def is_unplaced(value: Value, placed: Collection[int], depth: int = _DEEP) -> bool:
    """Whether an array certainly has no sharding: it comes from constants and random numbers alone, and nothing placed it.

    `placed`: the operations, by `id`, whose results the program places.
    """
    if isinstance(value, NumpyArray):
        return value.made is None or id(value.made) not in placed
    if isinstance(value, (TupleValue, ListValue)):
        return value.items is not None and all(is_unplaced(item, placed, depth - 1) for item in value.items)
    if not isinstance(value, Array):
        return isinstance(value, Static)
    made = value.made
    if made is None or not value.certain or depth == 0 or _PLACES & made.kwargs.keys() or id(made) in placed:
        return False
    name = made.name.rpartition(".")[2]
    if name in _PLACING or not made.full.startswith(_COMPUTING):
        return False
    if name in MAKERS and not name.endswith("_like") and name not in ("array", "asarray"):
        return True
    operands = made.args[1:] if made.full.startswith("jax.random.") else made.args
    return bool(made.args) and all(is_unplaced(operand, placed, depth - 1) for operand in operands)
