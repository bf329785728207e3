"""The mesh axes over which a value in `shard_map` certainly varies: it may differ between their devices."""

from __future__ import annotations

from collections.abc import Mapping

from jaxlint.staging.tracking.meshes import spec_entries, strings
from jaxlint.staging.values.arrays import Array, Operation
from jaxlint.staging.values.objects import AtIndexer, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Origin, Value

Axes = frozenset[str]
_NONE: Axes = frozenset()
_MAX_DEPTH = 40
# Their result is the same on all devices of the axis.
_REDUCING = frozenset({"psum", "pmean", "pmax", "pmin", "all_gather_invariant"})
# They depend on the shape of their argument alone, or do more than the values of their arguments say.
_OTHERS = frozenset(
    """zeros_like ones_like full_like empty_like shape size ndim result_type axis_size preduced pbroadcast custom_root
    custom_linear_solve""".split()  # noqa: SIM905
)
_KNOWN = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.random.")


def varies_over(value: Value, parameters: Mapping[Origin, Axes], depth: int = 0) -> Axes:
    """The axes over which `value` certainly varies. `parameters`: those of each argument of the function."""
    if isinstance(value, AtIndexer):
        return varies_over(value.array, parameters, depth)
    if isinstance(value, (TupleValue, ListValue)):
        return _NONE.union(*(varies_over(part, parameters, depth + 1) for part in value.items or ()))
    if not isinstance(value, Array) or depth > _MAX_DEPTH:
        return _NONE
    if value.made is not None:
        return _of_result(value.made, parameters, depth + 1)
    if not value.certain:
        return _NONE
    origin = value.origin
    while origin is not None:
        if origin in parameters:
            return parameters[origin]
        origin = origin.parent
    return _NONE


def axes_of_spec(spec: Value | None) -> Axes | None:
    """The axes of a PartitionSpec; None if one of them is unknown."""
    entries = spec_entries(spec)
    if entries is None:
        return None
    found: set[str] = set()
    for entry in entries:
        if entry is None:
            return None
        found.update(entry)
    return frozenset(found)


def _of_result(made: Operation, parameters: Mapping[Origin, Axes], depth: int) -> Axes:
    short = made.name.rpartition(".")[2]
    if short in _OTHERS or not (not made.full or made.full.startswith(_KNOWN)):
        return _NONE
    if short == "axis_index":
        return _named(made.operand(0, "axis_name")) or _NONE
    if short in _REDUCING or (short == "all_gather" and "to" in made.kwargs):
        over = _named(made.operand(1, "axis_name"))
        if over is None or "axis_index_groups" in made.kwargs or not made.args:
            return _NONE
        if not over <= _NONE.union(*parameters.values()):
            return _NONE  # perhaps an axis that the mesh does not have
        return varies_over(made.args[0], parameters, depth) - over
    return _NONE.union(
        *(varies_over(part, parameters, depth) for part in (*made.args, *made.kwargs.values()))
    )


def _named(axis: Value | None) -> Axes | None:
    """The axes that a collective names; None if unknown."""
    const = constant(axis) if axis is not None else None
    if isinstance(const, str):
        return frozenset({const})
    names = strings(axis) if axis is not None else None
    return frozenset(names) if names is not None else None
