"""What rules on sharding ask of a `NamedSharding`."""

from __future__ import annotations

from jaxlint.api.values import ExternalObject, Value
from jaxlint_rules._callables import argument


def mesh_and_spec(sharding: Value | None) -> tuple[Value | None, Value | None] | None:
    """What a `NamedSharding` is made of; None of what is none."""
    if not isinstance(sharding, ExternalObject) or sharding.name != "jax.sharding.NamedSharding":
        return None
    return argument(sharding, 0, "mesh"), argument(sharding, 1, "spec")
