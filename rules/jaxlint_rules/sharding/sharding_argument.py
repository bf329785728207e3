"""Wrong objects in place of a mesh, sharding or partition spec, and specs without a mesh."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.api import CallEvent, Event, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.values import (
    MESHES,
    DictValue,
    ExternalObject,
    ListValue,
    TupleValue,
    Value,
    constant,
    is_spec,
    spec_axes,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules.migration._changed_names import SpelledNames

_SHARDINGS = ("in_shardings", "out_shardings")
_SPECS = ("in_specs", "out_specs")
_MAKES_MESH = re.compile(r"\b(?:make_mesh|Mesh)\(")
_SETS_MESH = re.compile(
    r"^\s*with\b[^:]{0,200}mesh|\b(?:set|use)_(?:abstract_|concrete_)?mesh\b|\benter_context\(|\.__enter__\(",
    re.IGNORECASE | re.MULTILINE,
)


class ShardingArgument(Rule):
    """An argument takes another kind of sharding object than it receives.

    ## What it does
    Finds:

    - `NamedSharding(spec, mesh)`, with its arguments in the wrong order;
    - axis names in `in_shardings`, `out_shardings` and `with_sharding_constraint`, which take specs
      and shardings;
    - shardings in `in_specs` and `out_specs` of `shard_map`, which take only specs;
    - `jax.shard_map` with a mesh or specs by position;
    - specs passed to `jit`, `device_put` or `with_sharding_constraint` in programs that create a
      mesh and never set it.

    ## Why is this bad?
    Each of these raises when the array is placed or the function is traced: `AttributeError` for
    `NamedSharding(spec, mesh)`, `TypeError` for strings (`ValueError` from `device_put`) and for
    `shard_map`, `ValueError` or `RuntimeError` for a spec without a mesh. A `PartitionSpec` names
    axes of a mesh, but not the mesh: that comes from `jax.set_mesh`, or from a `NamedSharding`.

    ## Example
    ```python
    mesh = jax.make_mesh((4,), ("data",))
    x = jax.device_put(x, P("data"))
    step = jax.jit(step, in_shardings=("data",))
    ```

    ## Use instead
    ```python
    mesh = jax.make_mesh((4,), ("data",))
    x = jax.device_put(x, NamedSharding(mesh, P("data")))
    step = jax.jit(step, in_shardings=(NamedSharding(mesh, P("data")),))
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    A spec without a mesh is fine if another program sets the mesh around this code.

    ## References
    - [JAX: distributed arrays and automatic parallelization](https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html)
    """

    code = "JAX1211"
    name = "sharding-argument"
    category = "sharding"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self._spelled = SpelledNames()

    @concerns(
        "jax.sharding.NamedSharding", "jax.device_put", "jax.lax.with_sharding_constraint", "jax.shard_map"
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.is_caught():
            return
        if event.name == "jax.sharding.NamedSharding":
            if len(event.args) > 1 and is_spec(event.args[0]) and _is_mesh(event.args[1]):
                report(
                    event.node,
                    "`NamedSharding(spec, mesh)` raises AttributeError; pass the mesh first",
                    reason="the first argument is a `PartitionSpec`, the second a mesh",
                )
        elif event.name == "jax.shard_map":
            # Its predecessor in `jax.experimental`, treated as the same function here, accepts them by position.
            spelled = isinstance(event.node, ast.Call) and self._spelled.meaning(
                event.node.func, report.module.tree
            )
            if len(event.args) > 1 and spelled == event.name:
                report(
                    event.node,
                    "`jax.shard_map` takes only the function by position; name `mesh`, `in_specs`, `out_specs`",
                    reason="`jax.experimental.shard_map.shard_map` took them by position",
                )
        elif event.name in ("jax.device_put", "jax.lax.with_sharding_constraint"):
            last = "device" if event.name == "jax.device_put" else "shardings"
            given = argument(event, 1, last)
            if given is not None:
                self.check_sharding(event, f"`{event.name}`", given, report)

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if event.is_caught():
            return
        if t.kind == "jit":
            for option in _SHARDINGS:
                if option in t.options:
                    self.check_sharding(event, f"`{option}`", t.options[option], report)
        elif t.kind == "shard_map":
            for option in _SPECS:
                wrong = next(
                    (leaf for leaf in _leaves(t.options.get(option)) if not _may_be_spec(leaf)), None
                )
                if wrong is not None:
                    what = (
                        f"the string {constant(wrong)!r}"
                        if isinstance(constant(wrong), str)
                        else "a `NamedSharding`"
                    )
                    report(
                        event.decorator or event.node,
                        f"`{option}` of `shard_map` takes `PartitionSpec`s; {what} raises TypeError",
                        reason="`shard_map` has a `mesh` argument of its own",
                    )
                    return

    def check_sharding(self, event: Event, where: str, given: Value, report: Reporter) -> None:
        """Shardings, or specs if a mesh is set."""
        place = getattr(event, "decorator", None) or event.node
        leaves = list(_leaves(given))
        name = next((constant(leaf) for leaf in leaves if isinstance(constant(leaf), str)), None)
        if name is not None:
            report(
                place,
                f"{where} takes shardings, not axis names; use `NamedSharding(mesh, PartitionSpec({name!r}))`",
                reason=f"the string {name!r} is not a sharding: the call raises "
                + ("ValueError" if where == "`jax.device_put`" else "TypeError"),
            )
        elif any(next(spec_axes(leaf), None) is not None for leaf in leaves) and _sets_no_mesh(report):
            error = "ValueError" if where == "`jax.device_put`" else "RuntimeError"
            report(
                place,
                f"a `PartitionSpec` in {where} without a mesh raises {error}; use `NamedSharding`",
                reason="the program creates a mesh but never sets it; `jax.set_mesh` does",
                severity=Severity.WARNING,
            )


def _is_mesh(value: Value) -> bool:
    return isinstance(value, ExternalObject) and value.name in MESHES


def _leaves(value: Value | None) -> Iterator[Value]:
    """The leaves of tuples, lists and dicts of specs."""
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        for part in value.elements():
            yield from _leaves(part)
    elif value is not None:
        yield value


def _may_be_spec(value: Value) -> bool:
    """Whether it is not known to be an axis name or a sharding."""
    return not isinstance(constant(value), str) and not (
        isinstance(value, ExternalObject) and value.name == "jax.sharding.NamedSharding"
    )


def _sets_no_mesh(report: Reporter) -> bool:
    """Whether the file creates a mesh, like a program and unlike a library, and the project sets none anywhere."""
    module = report.module
    return (
        not module.is_test
        and _MAKES_MESH.search(module.source.text) is not None
        and not report.project.mentions(_SETS_MESH, module)
    )
