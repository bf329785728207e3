"""Multi-process computations that only one process starts."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import ExternalObject, Transformed
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, names_in, passed

_MULTIHOST = "jax.experimental.multihost_utils."
_TOGETHER = frozenset(
    {
        "process_allgather",
        "sync_global_devices",
        "broadcast_one_to_all",
        "assert_equal",
        "reached_preemption_sync_point",
    }
)
_COMPILED = frozenset({"jit", "pmap", "shard_map"})
_PLACED = (
    "make_array_from_process_local_data",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
)


class OneProcessOnly(Rule):
    """Only one process starts a computation that needs all processes.

    ## What it does
    Finds, in files that call `jax.distributed.initialize`, code under
    `if jax.process_index() == 0:` that needs every process: calls of jitted functions with arrays
    that are sharded over the processes, and functions of `jax.experimental.multihost_utils` that
    gather or synchronize.

    ## Why is this bad?
    A computation on a global array runs on the devices of all processes, and each process must
    start it. If only one does, it waits for the others: the job hangs without a message, or the
    processes run out of step. With one process the mistake is invisible.

    ## Example
    ```python
    if jax.process_index() == 0:
        print(evaluate(params, held_out))
    ```

    ## Use instead
    ```python
    loss = evaluate(params, held_out)
    if jax.process_index() == 0:
        print(loss)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if the arrays are only on the devices of that process.

    ## References
    - [JAX: multi-process programs](https://docs.jax.dev/en/latest/multi_process.html)
    """

    code = "JAX1212"
    name = "one-process-only"
    category = "sharding"
    severity = Severity.WARNING

    @concerns(_MULTIHOST, callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.frame.stage.staged or report.module.is_test or not isinstance(event.node, ast.Call):
            return
        gathers = event.name.startswith(_MULTIHOST) and event.name.rpartition(".")[2] in _TOGETHER
        compiled = isinstance(event.callee, Transformed) and event.callee.kind in _COMPILED
        if not (gathers or compiled) or not _under_first(event.node, report):
            return
        if not _is_multi_process(report) or not (gathers or _takes_shared(event, report)):
            return
        what = f"`{event.name.rpartition('.')[2]}`" if gathers else f"`{event.callee.label}`"  # type: ignore[attr-defined]
        report(
            event.node,
            f"{what} needs all processes, but only the first calls it: it hangs; call it in every process",
            reason="the file calls `jax.distributed.initialize`"
            + ("" if gathers else " and spreads its arrays over the processes"),
        )


def _is_multi_process(report: Reporter) -> bool:
    return any(
        dotted(call.func).endswith("distributed.initialize")
        for call in nodes_of(report.module.tree, ast.Call)
    )


def _under_first(node: ast.AST, report: Reporter) -> bool:
    """Whether it is in the body of an `if` that only the first process enters."""
    below = node
    for around in report.module.ancestors(node):
        if isinstance(around, ast.If) and below in around.body and _asks_for_first(around.test, report):
            return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        below = around
    return False


def _asks_for_first(test: ast.AST, report: Reporter, depth: int = 2) -> bool:
    """`jax.process_index() == 0`, also under a name, alone or combined."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks_for_first(part, report, depth) for part in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        sides = (test.left, test.comparators[0])
        return any(_is_index(side) for side in sides) and any(
            isinstance(side, ast.Constant) and side.value == 0 for side in sides
        )
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_index(test.operand)
    if isinstance(test, ast.Name) and depth:
        given = [
            made.value
            for made in nodes_of(report.module.tree, ast.Assign)
            if any(isinstance(target, ast.Name) and target.id == test.id for target in made.targets)
        ]
        return len(given) == 1 and _asks_for_first(given[0], report, depth - 1)
    return False


def _is_index(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "process_index"


def _takes_shared(event: CallEvent, report: Reporter) -> bool:
    """Whether an argument is distributed over the processes: a compiled function's result, or an array placed by a
    sharding."""
    node = event.node
    assert isinstance(node, ast.Call)
    passed_on = set().union(*(names_in(a) for a in passed(node)), set())
    owner = event.frame.owner
    for made in nodes_of(owner, ast.Assign):
        targets: set[str] = set().union(*(names_in(target) for target in made.targets))
        if targets & passed_on and isinstance(made.value, ast.Call) and _is_shared(made.value, event, report):
            return True
    return False


def _is_shared(call: ast.Call, event: CallEvent, report: Reporter) -> bool:
    name = dotted(call.func)
    if name.rpartition(".")[2] in _PLACED:
        return True
    value = event.frame.value_of(name) if name and "." not in name else None
    return (isinstance(value, Transformed) and value.kind in _COMPILED) or (
        name.endswith("device_put") and len(call.args) > 1 and _is_sharding(call.args[1], event)
    )


def _is_sharding(node: ast.AST, event: CallEvent) -> bool:
    if isinstance(node, ast.Call):
        return dotted(node.func).endswith("NamedSharding")
    value = event.frame.value_of(node.id) if isinstance(node, ast.Name) else None
    return isinstance(value, ExternalObject) and value.name == "jax.sharding.NamedSharding"
