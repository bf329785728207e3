"""The sharding constraints of a program, transferred to the devices of another mesh with the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxlint_runtime import compat
from jaxlint_runtime.lowering import jaxpr_interpreter


def on_mesh(mesh: Mesh | None, held: Mapping[int, NamedSharding] | None = None) -> jaxpr_interpreter.Rule:
    """A rule for `jaxpr_interpreter.evaluate`: constraints over axes of `mesh` are applied on it, others (or all) are
    dropped.

    `held` adds constraints on the results of equations, by their ids.
    """
    own = held or {}

    def rule(eqn: Any, values: list[Any]) -> Sequence[Any]:
        if eqn.primitive.name == "sharding_constraint":
            return [_constrained(eqn, values[0], mesh)]
        if id(eqn) in own:
            return [jax.lax.with_sharding_constraint(one, own[id(eqn)]) for one in compat.bind(eqn, values)]
        if not _states(eqn, own):
            return compat.bind(eqn, values)
        bodies = [body for _, body in compat.inner_jaxprs(eqn)]
        if jaxpr_interpreter.is_plain_call(eqn):
            return jaxpr_interpreter.evaluate(bodies[0], values, rule)
        try:
            return jaxpr_interpreter.control_flow(eqn, values, [_running(body, rule) for body in bodies])
        except ValueError:  # such as a derivative rule: unchanged
            return compat.bind(eqn, values)

    return rule


def _running(body: Any, rule: jaxpr_interpreter.Rule) -> Any:
    return lambda *values: jaxpr_interpreter.evaluate(body, list(values), rule)


def _constrained(eqn: Any, value: Any, mesh: Mesh | None) -> Any:
    spec = axes_of(eqn.params["sharding"])
    if mesh is None or spec is None or not axes_used(spec) <= set(mesh.axis_names):
        return value
    try:
        return jax.lax.with_sharding_constraint(value, NamedSharding(mesh, spec))
    except ValueError:  # an axis that the other mesh does not divide
        return value


def axes_of(sharding: Any) -> PartitionSpec | None:
    """The spec of a sharding by names; None for other shardings."""
    return sharding.spec if isinstance(sharding, NamedSharding) else None


def axes_used(spec: PartitionSpec) -> set[str]:
    """The names in a spec."""
    found: set[str] = set()
    for part in spec:
        if isinstance(part, str):
            found.add(part)
        elif isinstance(part, tuple):
            found.update(part)
    return found


def _states(eqn: Any, held: Mapping[int, Any] | None = None) -> bool:
    """Whether an equation contains a constraint at any depth, or one of `held`."""
    return any(
        inner.primitive.name == "sharding_constraint" or (held and id(inner) in held) or _states(inner, held)
        for _, body in compat.inner_jaxprs(eqn)
        for inner in compat.open_jaxpr(body).eqns
    )


def constrains(jaxpr: Any) -> bool:
    """Whether a program contains constraints."""
    return any(
        eqn.primitive.name == "sharding_constraint" or _states(eqn) for eqn in compat.open_jaxpr(jaxpr).eqns
    )


def foreign(jaxpr: Any, names: Sequence[str]) -> set[str]:
    """Axes in a program's constraints that a mesh lacks."""
    found: set[str] = set()
    for eqn in compat.open_jaxpr(jaxpr).eqns:
        if eqn.primitive.name == "sharding_constraint":
            spec = axes_of(eqn.params["sharding"])
            found |= axes_used(spec) - set(names) if spec is not None else set()
        for _, body in compat.inner_jaxprs(eqn):
            found |= foreign(body, names)
    return found
