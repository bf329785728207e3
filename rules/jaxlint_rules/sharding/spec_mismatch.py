"""Partition specs that do not match their arrays, arguments or meshes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, Reporter, Rule, StagedReturnEvent, TransformEvent, concerns
from jaxlint.api.syntax import dotted, nodes_of, positional_parameters, walk
from jaxlint.api.values import (
    Array,
    DictValue,
    External,
    Function,
    ListValue,
    NumpyArray,
    Origin,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    arguments_of,
    axes_of_spec,
    constant,
    is_none,
    mesh_sizes,
    shape_of,
    short_source,
    spec_entries,
    strings,
    symbolic_shape,
    varies_over,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._names import function_around
from jaxlint_rules.memory._sizes import shape_written
from jaxlint_rules.sharding._placements import mesh_and_spec

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "std", "var"})
_OVER_DEVICES = frozenset({"psum", "pmean", "pmax", "pmin"})


class SpecMismatch(Rule):
    """A `PartitionSpec` does not match its array, its arguments or its mesh.

    ## What it does
    Finds, where the program writes all parts as literals:

    - specs with more entries than the array has dimensions;
    - dimensions that the size of the mesh axes does not divide;
    - `in_specs` of `shard_map` and `in_shardings` of `jit` with another number of entries than the
      function has arguments;
    - `out_specs` that shard a scalar, or that leave out an axis over which a result varies, since it
      is computed from sharded arguments and not reduced;
    - keyword arguments of a function with `in_shardings`;
    - `make_mesh` and `Mesh` with another number of names than dimensions.

    ## Why is this bad?
    JAX raises `ValueError` when the array is placed or the function is traced.

    ## Example
    ```python
    mesh = jax.make_mesh((4,), ("data",))
    x = jax.device_put(jnp.ones((6, 3)), NamedSharding(mesh, P("data")))
    ```

    ## Use instead
    ```python
    x = jax.device_put(jnp.ones((8, 3)), NamedSharding(mesh, P("data")))
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [jax.shard_map](https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html)
    """

    code = "JAX1209"
    name = "spec-mismatch"
    category = "sharding"
    severity = Severity.ERROR
    follows_calls = True

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.kind == "shard_map" and isinstance(t.target, Function) and not event.is_caught():
            self.check_results(event, t.target, report)
        option = {"shard_map": "in_specs", "jit": "in_shardings"}.get(t.kind)
        if option is None or option not in t.options or not isinstance(t.target, Function):
            return
        if any(key.startswith("static") or key == "**" for key in t.options) or event.is_caught():
            return  # static arguments have no sharding
        given = arguments_of(t.options.get(option))
        arguments = t.target.node.args
        if given is None or arguments.vararg is not None or report.module.is_test:
            return
        if isinstance(t.options[option], TupleValue) and t.options[option].cls is not None:  # type: ignore[attr-defined]
            return
        names = positional_parameters(t.target.node)
        least = len(names) - len(arguments.defaults)
        if not least <= given <= len(names):
            report(
                event.decorator or event.node,
                f"`{option}` has {given} entr{'ies' if given != 1 else 'y'}, but `{t.label}` takes {len(names)} argument{'s' * (len(names) != 1)}; "
                + ("jit raises ValueError" if t.kind == "jit" else "`shard_map` raises ValueError"),
                reason=f"`{option}` needs one entry per argument",
            )

    def check_results(self, event: TransformEvent, function: Function, report: Reporter) -> None:
        """A scalar result that `out_specs` of `shard_map` splits: scalars from the devices have no dimension to
        concatenate along."""
        entries = spec_entries(event.transformed.options.get("out_specs"))
        node = function.node
        if not entries or report.module.is_test:
            return
        if isinstance(node, ast.Lambda):
            given = [node.body]
        else:
            inner = {
                r for f in nodes_of(node, ast.FunctionDef) if f is not node for r in nodes_of(f, ast.Return)
            }
            given = [r.value for r in nodes_of(node, ast.Return) if r not in inner and r.value is not None]
        total = next(filter(_is_total, given), None)
        if total is not None:
            report(
                event.decorator or event.node,
                f"`out_specs` shards the result of `{event.transformed.label}`, which is a scalar: ValueError; add an axis: `[None]`",
                reason=f"`{short_source(total)}` has no axes, but the spec has {len(entries)}",
            )

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        """The results of `shard_map` beside `out_specs`: their dimensions, and the axes over which they vary."""
        t = event.transformed
        if t.kind != "shard_map" or event.is_caught() or report.module.is_test or "**" in t.options:
            return
        if any(
            constant(t.options[name]) is not True for name in ("check_vma", "check_rep") if name in t.options
        ):
            return  # JAX does not compare them
        wanted = t.options.get("out_specs")
        several = isinstance(wanted, TupleValue) and wanted.cls is None
        specs = wanted.items if isinstance(wanted, TupleValue) and several else [wanted]
        results = event.value.items if several and isinstance(event.value, TupleValue) else [event.value]
        if specs is None or results is None or (several and len(specs) != len(results)):
            return
        arguments = _arguments(event)
        for spec, result in zip(specs, results, strict=True):
            if spec is not None and self.check_result(event, spec, result, arguments, report):
                return

    def check_result(
        self,
        event: StagedReturnEvent,
        spec: Value,
        result: Value,
        arguments: dict[Origin, frozenset[str]],
        report: Reporter,
    ) -> bool:
        """Whether one result was reported."""
        t = event.transformed
        entries, axes = spec_entries(spec), axes_of_spec(spec)
        parts = result.items if isinstance(result, TupleValue) else [result]
        for part in parts or ():
            if entries and _is_scalar(part):
                report(
                    _place_of_specs(event),
                    f"`out_specs` shards a scalar result of `{t.label}`; pass `P()`, or add an axis with `[None]`",
                    reason=f"the result has no axes, but the spec has {len(entries)}",
                )
                return True
            missing = sorted(varies_over(part, arguments) - axes) if axes is not None else []
            if missing:
                report(
                    _place_of_specs(event),
                    f"a result of `{t.label}` varies over `{missing[0]}`, against `out_specs`: ValueError; use `lax.pmean`",
                    reason=f"it is computed from values that are sharded over `{missing[0]}` and not reduced",
                )
                return True
        return False

    @concerns("jax.make_mesh", "jax.sharding.Mesh", "jax.device_put", callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name == "jax.make_mesh":
            self.check_mesh(event, report)
        elif event.name == "jax.sharding.Mesh":
            self.check_devices(event, report)
        elif event.name == "jax.device_put" and event.args:
            self.check_placed(event, event.args[0], argument(event, 1, "device"), report)
        elif isinstance(event.callee, Transformed) and event.callee.kind == "jit":
            self.check_keywords(event, event.callee, report)
            self.check_arguments(event, event.callee, report)
        elif isinstance(event.callee, Transformed) and event.callee.kind == "shard_map":
            specs = event.callee.options.get("in_specs")
            mesh = event.callee.options.get("mesh")
            items = specs.items if isinstance(specs, TupleValue) else None
            for position, value in enumerate(event.args):
                spec = items[position] if items and position < len(items) else specs
                self.check_spec(event, value, mesh, spec, report)

    def check_keywords(self, event: CallEvent, callee: Transformed, report: Reporter) -> None:
        """`in_shardings` applies to positional arguments: beside it, `jit` accepts no keyword arguments."""
        shardings = callee.options.get("in_shardings")
        if shardings is None or is_none(shardings) or isinstance(shardings, (External, Unknown)):
            return
        if not event.kwargs or "**" in event.kwargs or event.is_caught():
            return
        passed = ", ".join(f"`{name}`" for name in event.kwargs)
        report(
            event.node,
            f"keyword arguments of `{callee.label}` raise ValueError (`in_shardings`); pass {passed} by position",
            reason=callee.why.explain(report.module),
        )

    def check_mesh(self, event: CallEvent, report: Reporter) -> None:
        if len(event.args) < 2:
            return
        sizes, names = constant(event.args[0]), strings(event.args[1])
        if isinstance(event.args[0], TupleValue) and event.args[0].items is not None and names is not None:
            count = len(event.args[0].items)
            if count != len(names) and (isinstance(sizes, tuple) or count):
                report(
                    event.node,
                    f"the mesh has {count} size{'s' * (count != 1)} but {len(names)} name{'s' * (len(names) != 1)}, which raises ValueError; give each axis both",
                    reason="each mesh axis has a size and a name",
                )

    def check_devices(self, event: CallEvent, report: Reporter) -> None:
        """`Mesh(devices, names)`: one name for each dimension of the device array."""
        node = event.node
        given = argument(event, 1, "axis_names")
        names = (
            [str(constant(given))] if isinstance(constant(given), str) else strings(given) if given else None
        )
        if not isinstance(node, ast.Call) or not node.args or names is None or event.is_caught():
            return
        rank = _rank_of_devices(node.args[0], node, report)
        if rank is not None and rank != len(names):
            report(
                node,
                f"the device array has {rank} dimension{'s' * (rank != 1)} but the mesh has {len(names)} "
                f"name{'s' * (len(names) != 1)}, which raises ValueError; name each dimension",
                reason="each mesh axis has a name",
            )

    def check_arguments(self, event: CallEvent, callee: Transformed, report: Reporter) -> None:
        """The arguments of a jitted function beside `in_shardings`."""
        given = callee.options.get("in_shardings")
        if given is None or any(key.startswith("static") for key in callee.options):
            return
        apart = (
            given.items if isinstance(given, TupleValue) and given.cls is None else [given] * len(event.args)
        )
        for value, sharding in zip(event.args, apart or (), strict=False):
            if self.check_placed(event, value, sharding, report):
                return

    def check_placed(self, event: CallEvent, value: Value, sharding: Value | None, report: Reporter) -> bool:
        """Whether an array, or one in a tree, does not fit its sharding, which is reported."""
        for part, wanted in _each_beside(value, sharding, 3):
            placed = mesh_and_spec(wanted)
            if placed is not None and self.check_spec(event, part, *placed, report):
                return True
        return False

    def check_spec(
        self, event: CallEvent, value: Value, mesh: Value | None, spec: Value | None, report: Reporter
    ) -> bool:
        shape, entries = _shape(value, event), spec_entries(spec)
        if shape is None or entries is None or event.is_caught():
            return False
        if len(entries) > len(shape):
            report(
                event.node,
                f"the spec has {len(entries)} entr{'ies' if len(entries) != 1 else 'y'} but the array has {len(shape)} dimension{'s' if len(shape) != 1 else ''}, which raises ValueError; remove the rest",
                reason=f"the array has shape {shape}",
            )
            return True
        sizes = mesh_sizes(mesh)
        for dimension, (length, axes) in enumerate(zip(shape, entries, strict=False)):
            if not axes or sizes is None or any(axis not in sizes for axis in axes):
                continue
            parts = 1
            for axis in axes:
                parts *= sizes[axis]
            if length % parts:
                report(
                    event.node,
                    f"dimension {dimension} of the array has size {length}, which {parts} devices do not divide: ValueError; pad it",
                    reason=f"the spec shards it over {', '.join(f'`{axis}`' for axis in axes)}",
                )
                return True
        return False


def _each_beside(value: Value, sharding: Value | None, depth: int) -> Iterator[tuple[Value, Value]]:
    """The arrays of a tree, each with its sharding: the same for all, or those of a tree like it."""
    if sharding is None:
        return
    apart = _children(value) if depth else None
    if apart is None:
        yield value, sharding
        return
    wanted = _children(sharding)
    for name, part in apart.items():
        yield from _each_beside(part, sharding if wanted is None else wanted.get(name), depth - 1)


def _children(value: Value) -> dict[object, Value] | None:
    if isinstance(value, DictValue):
        return dict(value.items)
    if isinstance(value, (TupleValue, ListValue)) and value.items is not None:
        if isinstance(value, TupleValue) and value.cls is not None:
            return None
        return dict(enumerate(value.items))
    return None


def _shape(value: Value, event: CallEvent) -> tuple[int, ...] | None:
    """The shape of an argument; for a NumPy array of unknown make, as far as the call shows it."""
    known = shape_of(value)
    if known is not None or not isinstance(value, NumpyArray):
        return known
    shape = symbolic_shape(value)
    sizes = tuple(size for size in shape or () if isinstance(size, int))
    if shape is not None and len(sizes) == len(shape):
        return sizes
    if not isinstance(event.node, ast.Call):
        return None
    place = next((index for index, given in enumerate(event.args) if given is value), len(event.node.args))
    written = event.node.args[place] if place < len(event.node.args) else None
    if not isinstance(written, ast.Call):
        return None
    return shape_written(written, event.frame.scope, event.frame.module)


def _is_scalar(value: Value) -> bool:
    """Whether a result certainly has no axes. Collectives keep the shape of their argument."""
    while isinstance(value, Array) and value.made is not None and value.made.args:
        if value.made.name.rpartition(".")[2] not in _OVER_DEVICES:
            break
        value = value.made.args[0]
    return isinstance(value, Array) and value.certain and not value.tree and shape_of(value) == ()


def _place_of_specs(event: StagedReturnEvent) -> ast.AST:
    """The value of `out_specs` in the decorator or the call that states it, or else that call."""
    for stated in getattr(event.node, "decorator_list", (event.node,)):
        for part in ast.walk(stated) if isinstance(stated, ast.Call) else ():
            if isinstance(part, ast.keyword) and part.arg == "out_specs":
                return part.value
    return event.node


def _arguments(event: StagedReturnEvent) -> dict[Origin, frozenset[str]]:
    """The axes over which each argument of a function under `shard_map` varies, as far as `in_specs` is known."""
    specs = event.transformed.options.get("in_specs")
    found: dict[Origin, frozenset[str]] = {}
    for position, value in enumerate(event.parameters.values()):
        spec: Value | None = specs
        if isinstance(specs, TupleValue):
            items = specs.items or []
            spec = items[position] if specs.cls is None and position < len(items) else None
        axes = axes_of_spec(spec)
        if axes and isinstance(value, Array) and value.origin is not None:
            found[value.origin] = axes
    return found


def _is_total(node: ast.expr) -> bool:
    """A reduction over all axes, `jnp.mean(x)` or `x.sum()`, and collectives of it."""
    if not isinstance(node, ast.Call):
        return False
    base, _, last = dotted(node.func).rpartition(".")
    if last in _OVER_DEVICES:
        return bool(node.args) and _is_total(node.args[0])
    if last not in _REDUCTIONS or node.keywords or not isinstance(node.func, ast.Attribute):
        return False
    return len(node.args) == (1 if base in ("jnp", "jax.numpy") else 0)


def _rank_of_devices(node: ast.expr, call: ast.Call, report: Reporter) -> int | None:
    """The number of dimensions of a device array, from the source that creates it."""
    if isinstance(node, ast.Name):
        owner: ast.AST = function_around(call, report.module) or report.module.tree
        stores = [
            n
            for n in walk(owner)
            if isinstance(n, ast.Name) and n.id == node.id and not isinstance(n.ctx, ast.Load)
        ]
        made = report.module.parents.get(stores[0]) if len(stores) == 1 else None
        return (
            _rank_of_devices(made.value, call, report)
            if isinstance(made, ast.Assign) and stores[0] in made.targets
            else None
        )
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
        return None
    last = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    if (
        last == "reshape"
        and len(node.args) > 1
        and dotted(node.func).partition(".")[0] in ("np", "numpy", "jnp")
    ):
        asked = node.args[1]  # a function of the array
        if not isinstance(asked, (ast.Tuple, ast.List)):
            return None
        return None if any(isinstance(part, ast.Starred) for part in asked.elts) else len(asked.elts)
    if last in ("create_device_mesh", "reshape") and node.args:
        asked = node.args[0]
        if isinstance(asked, (ast.Tuple, ast.List)):
            starred = any(isinstance(part, ast.Starred) for part in asked.elts)
            return None if starred or (len(node.args) > 1 and last == "reshape") else len(asked.elts)
        return len(node.args) if last == "reshape" and len(node.args) > 1 else None
    if last in ("array", "asarray") and len(node.args) == 1 and isinstance(node.args[0], ast.Call):
        inner = dotted(node.args[0].func)
        return 1 if inner in ("jax.devices", "jax.local_devices") else None
    return None
