"""Batches that are replicated, or placed on devices one by one."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Frame, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import ExternalObject, Static, Value, is_none, short_source
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._loops import loop_variables
from jaxlint_rules._purpose import says
from jaxlint_rules.sharding._placements import mesh_and_spec

_DEVICES = ("devices", "local_devices")


class ReplicatedPut(Rule):
    """Each batch is replicated to every device, or devices are fed one by one.

    ## What it does
    Finds, inside loops, `jax.device_put(batch, NamedSharding(mesh, P()))` and
    `jax.device_put_replicated` of the loop variable, and loops over `jax.devices()` that place data
    and compute device by device.

    ## Why is this bad?
    With a replicated batch every device does the same work: eight devices take as long as one, with
    eight times the memory. A Python loop over devices dispatches one program per device, where one
    sharded program is enough.

    ## Example
    ```python
    for batch in batches:
        state = step(state, jax.device_put(batch, NamedSharding(mesh, P())))
    ```

    ## Use instead
    ```python
    for batch in batches:
        state = step(state, jax.device_put(batch, NamedSharding(mesh, P("data"))))
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if every device needs the whole batch, as in pure model parallelism, or if you measure
    each device on its own. It is advice where the docstring or a comment says that it replicates.

    ## References
    - [JAX: distributed arrays](https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html)
    """

    code = "JAX1205"
    name = "replicated-put"
    category = "sharding"
    severity = Severity.WARNING

    @concerns("jax.device_put", "jax.device_put_replicated")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name not in ("jax.device_put", "jax.device_put_replicated") or event.frame.stage.staged:
            return
        loop = event.frame.in_loop()
        node = event.node
        if loop is None or not isinstance(node, ast.Call) or not node.args or report.module.is_test:
            return
        iterated = getattr(loop.node, "iter", None)
        names = loop_variables(loop.node)
        value = node.args[0]
        if not _is_of(value, names) or isinstance(event.args[0], Static):
            return  # a number cannot be split
        placed = argument(event, 1, "device")
        device = node.args[1] if len(node.args) > 1 else None
        if event.name.endswith("replicated") or _is_replicated(placed):
            report(
                node,
                f"`{short_source(value)}` is replicated to every device, so all do the same work; shard it with `P(axis)`",
                reason="`jax.device_put_replicated` copies its argument to each device"
                if event.name.endswith("replicated")
                else "a `PartitionSpec` without axis names replicates",
                severity=Severity.INFO if says(event.frame, node, _SAID) else None,
            )
        elif (
            isinstance(device, ast.Name)
            and device.id in names
            and iterated is not None
            and any(isinstance(p, ast.Call) and dotted(p.func) in _CALLS for p in ast.walk(iterated))
            and not _assembles(event.frame)
        ):
            report(
                node,
                "the loop feeds the devices one by one; use one sharded array and one jitted call",
                reason="the loop iterates over devices",
            )


_SAID = re.compile(r"replicat", re.IGNORECASE)
_CALLS = tuple(f"jax.{name}" for name in _DEVICES)


def _assembles(frame: Frame) -> bool:
    """Whether the function joins the shards on each device into one array, as a host with a part of it does."""
    owner = frame.owner
    return any(
        dotted(call.func).endswith("make_array_from_single_device_arrays")
        for call in nodes_of(owner, ast.Call)
    )


def _is_of(value: ast.expr, names: set[str]) -> bool:
    """Whether a value is the loop's variable, an item of it, or several of them together."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return bool(value.elts) and all(_is_of(part, names) for part in value.elts)
    if isinstance(value, ast.Dict):
        return bool(value.values) and all(_is_of(part, names) for part in value.values)
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, ast.Name) and value.id in names


def _is_replicated(sharding: Value | None) -> bool:
    _, spec = mesh_and_spec(sharding) or (None, None)
    if not isinstance(spec, ExternalObject) or spec.name != "jax.sharding.PartitionSpec":
        return False
    return all(is_none(entry) for entry in spec.args)
