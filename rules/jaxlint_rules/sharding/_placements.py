"""The parts of a `NamedSharding`, for the rules on sharding."""

from __future__ import annotations

from jaxlint.api.values import ExternalObject, Value
from jaxlint_rules._callables import argument


def mesh_and_spec(sharding: Value | None) -> tuple[Value | None, Value | None] | None:
    """The mesh and spec of a `NamedSharding`; None for anything else."""
    if not isinstance(sharding, ExternalObject) or sharding.name != "jax.sharding.NamedSharding":
        return None
    return argument(sharding, 0, "mesh"), argument(sharding, 1, "spec")
