"""Meshes whose axis types depend on a default that changed."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import (
    Array,
    External,
    ExternalObject,
    NumpyArray,
    Operation,
    Transformed,
    TupleValue,
    Value,
    is_spec,
    mesh_axes,
    spec_axes,
    spec_entries,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules.sharding._placements import is_unplaced, mesh_and_spec

_PLACING = ("jax.device_put", "jax.sharding.reshard", "jax.reshard")
_SETTERS = ("jax.set_mesh", "jax.sharding.set_mesh", "jax.sharding.use_mesh")


class MeshWithoutAxisTypes(Rule):
    """`jax.make_mesh` without `axis_types` means `Explicit` axes since JAX 0.9.

    ## What it does
    Finds `with_sharding_constraint` over axes of a mesh from `jax.make_mesh` without `axis_types`,
    or with `Explicit` axes. This includes constraints by a bare spec over axes of the mesh that the
    program sets. Also finds calls of `jax.shard_map` over such a mesh whose `in_specs` split an
    array that nothing has sharded, such as `jnp.ones((8, 3))`.

    ## Why is this bad?
    Up to JAX 0.8 such axes are `Auto`: the compiler chooses shardings, and the constraint guides
    it. Since 0.9 they are `Explicit`: the sharding is part of an array's type. The constraint
    raises `ValueError`, or `AssertionError` for a bare spec that is not the sharding of the array.
    `shard_map` raises `ValueError` if `in_specs` are not the sharding of the argument.
    `jax.sharding.Mesh` still means `Auto`.

    ## Example
    ```python
    mesh = jax.make_mesh((8,), ("data",))

    @jax.jit
    def step(x):
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))
    ```

    ## Use instead
    ```python
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    ```
    Or use `jax.sharding.reshard(x, P("data"))` with an explicit mesh.

    ## Fix safety
    There is no automatic fix: only you know which of the two is meant.

    ## When not to fix
    Keep it if the program is pinned to JAX before 0.9.

    ## References
    - [JAX: explicit sharding](https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html)
    """

    code = "JAX1206"
    name = "mesh-without-axis-types"
    category = "sharding"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.meshes: list[Value | None] = []  # those that the program sets
        self.bare: list[
            tuple[CallEvent, ExternalObject]
        ] = []  # constraints by a spec, for the mesh that is set
        self.placed: dict[int, Operation] = {}  # what computed the arrays that the program places

    @concerns("jax.lax.with_sharding_constraint", *_SETTERS, *_PLACING, callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if isinstance(event.callee, Transformed):
            self.check_arguments(event, report)
            return
        if event.name in _PLACING:
            given = event.args[0] if event.args else None
            if isinstance(given, (Array, NumpyArray)) and given.made is not None:
                self.placed[id(given.made)] = given.made
            return
        if event.name in _SETTERS:
            self.meshes.append(argument(event, 0, "mesh"))
            return
        if event.name != "jax.lax.with_sharding_constraint" or len(event.args) + len(event.kwargs) < 2:
            return
        shardings = argument(event, 1, "shardings")
        if is_spec(shardings) and isinstance(shardings, ExternalObject) and event.frame.stage.staged:
            self.bare.append((event, shardings))
        placed = mesh_and_spec(shardings)
        if placed is None:
            return
        mesh, spec = placed
        if not isinstance(mesh, ExternalObject) or _explicit_of(mesh, spec) == ():
            return
        by_default = _axis_types(mesh) is None
        report(
            event.node,
            "`with_sharding_constraint` raises ValueError: this mesh has `Explicit` axes; "
            + ("pass `axis_types`" if by_default else "use `jax.sharding.reshard`"),
            reason=_why_explicit(mesh, report),
        )

    def check_arguments(self, event: CallEvent, report: Reporter) -> None:
        """`shard_map` over explicit axes compares `in_specs` with the sharding that each argument has."""
        t = event.callee
        while isinstance(t, Transformed) and t.kind == "jit":
            t = t.target
        if not isinstance(t, Transformed) or t.kind != "shard_map" or event.is_caught():
            return
        mesh, specs = t.options.get("mesh"), t.options.get("in_specs")
        several = isinstance(specs, TupleValue) and specs.cls is None
        wanted = specs.items if isinstance(specs, TupleValue) and several else [specs] * len(event.args)
        for position, (given, spec) in enumerate(zip(event.args, wanted or (), strict=False)):
            axes = _explicit_of(mesh, spec) if is_spec(spec) else ()
            if axes and all(axes) and is_unplaced(given, self.placed):
                assert isinstance(mesh, ExternalObject)
                report(
                    event.node,
                    f"`shard_map` raises ValueError: argument {position + 1} is not sharded over `{axes[0]}`, an `Explicit` axis; "
                    + ("pass `axis_types`" if _axis_types(mesh) is None else "reshard it"),
                    reason=_why_explicit(mesh, report),
                )
                return

    def finish(self, report: Reporter) -> None:
        """Runs once all meshes that the program sets are known."""
        for event, spec in self.bare:
            axes = [_explicit_of(mesh, spec) for mesh in self.meshes]
            if not axes or not all(axes) or event.is_caught():
                continue
            report.event = event
            report(
                event.node,
                "`with_sharding_constraint` moves nothing over `Explicit` axes; use `jax.sharding.reshard`",
                reason="it raises AssertionError unless the array is sharded like that already",
            )


def _why_explicit(mesh: ExternalObject, report: Reporter) -> str:
    here = mesh.node in report.module.parents
    return (
        f"`jax.make_mesh` {f'at line {mesh.node.lineno} ' if here and isinstance(mesh.node, ast.expr) else ''}"
        + (
            "has no `axis_types`, and since JAX 0.9 that means `Explicit`"
            if _axis_types(mesh) is None
            else "passes `Explicit` axis types"
        )
    )


def _axis_types(mesh: ExternalObject) -> Value | None:
    return argument(mesh, 2, "axis_types")


def _explicit_of(mesh: Value | None, spec: Value | None) -> tuple[str, ...]:
    """The axes of a spec that are explicit in the mesh, if known."""
    if not isinstance(mesh, ExternalObject) or mesh.name != "jax.make_mesh" or "**" in mesh.kwargs:
        return ()
    named, types, axes = tuple(spec_axes(spec)), _axis_types(mesh), mesh_axes(mesh)
    if types is None:
        unread = any(entry is None for entry in spec_entries(spec) or ())
        return named or (("",) if unread else ())
    if not isinstance(types, TupleValue) or types.items is None or axes is None:
        return ()
    kinds = dict(zip(axes, types.items, strict=False))
    return tuple(axis for axis in named if _is_explicit(kinds.get(axis)))


def _is_explicit(kind: Value | None) -> bool:
    return isinstance(kind, External) and kind.name.endswith("AxisType.Explicit")
