"""Device meshes and partition specs: the axes that they name, if known."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.values import (
    ExternalObject,
    ListValue,
    Transformed,
    TupleValue,
    Value,
    constant,
)

MESHES = ("jax.sharding.Mesh", "jax.make_mesh", "jax.sharding.AbstractMesh")


def strings(value: Value | None) -> tuple[str, ...] | None:
    """One name or several; None if unknown."""
    const = constant(value)
    if isinstance(const, str):
        return (const,)
    if isinstance(const, tuple) and all(isinstance(name, str) for name in const):
        return const
    return None


def mesh_axes(mesh: Value | None) -> tuple[str, ...] | None:
    """The names of a mesh's axes, if known."""
    if not isinstance(mesh, ExternalObject) or mesh.name not in MESHES:
        return None
    return strings(mesh.args[1] if len(mesh.args) > 1 else mesh.kwargs.get("axis_names")) or None


def mesh_sizes(mesh: Value | None) -> dict[str, int] | None:
    """The number of devices along each axis, if known: `jax.make_mesh((4, 2), ("data", "model"))`, or a `Mesh` of
    devices that were reshaped to `(4, 2)`."""
    names = mesh_axes(mesh)
    if not isinstance(mesh, ExternalObject) or names is None:
        return None
    sizes: object
    if mesh.name == "jax.make_mesh":
        sizes = constant(mesh.args[0] if mesh.args else mesh.kwargs.get("axis_shapes"))
    else:
        devices = mesh.args[0] if mesh.args else mesh.kwargs.get("devices")
        sizes = symbolic_shape(devices) if devices is not None and mesh.name == "jax.sharding.Mesh" else None
    if not isinstance(sizes, tuple) or len(sizes) != len(names) or not all(type(n) is int for n in sizes):
        return None
    return dict(zip(names, sizes, strict=True))


def is_spec(value: Value | None) -> bool:
    return isinstance(value, ExternalObject) and value.name == "jax.sharding.PartitionSpec"


def spec_axes(spec: Value | None) -> Iterator[str]:
    """The axes that a PartitionSpec names."""
    for entry in spec_entries(spec) or ():
        yield from entry or ()


def spec_entries(spec: Value | None) -> list[tuple[str, ...] | None] | None:
    """The entries of a PartitionSpec by dimension: its axes, none, or None if unknown."""
    if not isinstance(spec, ExternalObject) or not is_spec(spec):
        return None
    entries: list[tuple[str, ...] | None] = []
    for argument in spec.args:
        const = constant(argument)
        entries.append(() if const is None else strings(argument))
    return entries


def keeps_value(t: Transformed, specs: Value | None, position: int) -> bool:
    """Whether shard_map passes an argument whose truth Python may test, unless an outer trace makes it a tracer.

    JAX knows the value of an argument that all devices share (`P()`), unless `check_vma=False` prevents that.
    """
    if any(constant(t.options[name]) is not True for name in ("check_vma", "check_rep") if name in t.options):
        return False
    spec = (
        specs.items[position]
        if isinstance(specs, (TupleValue, ListValue))
        and specs.items is not None
        and position < len(specs.items)
        else specs
    )
    entries = spec_entries(spec)
    return entries is not None and all(entry == () for entry in entries)


def bound_axes(t: Transformed) -> tuple[str, ...] | None:
    """The axis names that collectives may use inside a transformed function; None if unknown."""
    if t.kind in ("vmap", "pmap"):
        name = t.options.get("axis_name")
        if "**" in t.options:
            return None
        if name is None:
            return ()
        const = constant(name)
        return () if const is None else strings(name)
    if t.kind == "shard_map":
        return mesh_axes(t.options.get("mesh"))
    return ()


def arguments_of(specs: Value | None) -> int | None:
    """The number of arguments that a tuple of specs covers; None for a single spec, which covers all."""
    if isinstance(specs, (TupleValue, ListValue)) and specs.items is not None:
        return len(specs.items)
    return None
