"""A host's own batch placed as if it were the whole batch of a multi-process program."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
from jaxlint.staging.syntax_facts import dotted
from jaxlint.staging.values import ExternalObject

_GLOBAL = (
    "make_array_from_process_local_data",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
    "host_local_array_to_global_array",
    "form_global_array",
)


class HostLocalBatch(Rule):
    """In a multi-process program, `device_put` treats each host's own batch as the global one.

    ## What it does
    In files that call `jax.distributed.initialize`, finds `jax.device_put(batch, NamedSharding(mesh, P("data")))` inside of loops,
    where nothing in the file makes global arrays of local data.

    ## Why is this bad?
    `device_put` takes its argument for the global array, the same on each process: JAX keeps of each host's batch the rows that
    fall to its devices and drops the rest, or raises where it checks that the hosts agree.

    ## Example
    ```python
    for batch in host_batches:
        x = jax.device_put(batch, NamedSharding(mesh, P("data")))
    ```

    ## Use instead
    ```python
    for batch in host_batches:
        x = jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), batch)
    ```

    ## Fix safety
    There is no automatic fix: whether the batch is local is not certain.

    ## When not to fix
    When each process loads the same global batch.

    ## References
    - [JAX: distributed data loading](https://docs.jax.dev/en/latest/distributed_data_loading.html)
    """

    code = "JAX1208"
    name = "host-local-batch"
    category = "sharding"
    severity = Severity.WARNING
    examples = (
        Example(
            "device_put of each batch",
            """
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def train(step, state, loader):
    jax.distributed.initialize()
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    sharding = NamedSharding(mesh, P("data"))
    for batch in loader:
        state = step(state, jax.device_put(batch, sharding))  # finding
    return state
""",
        ),
        Example(
            "global arrays, replicated state, one process",
            """
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def train(step, state, loader):
    jax.distributed.initialize()
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    state = jax.device_put(state, NamedSharding(mesh, P()))
    for batch in loader:
        state = step(state, jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), batch))
    return state
""",
        ),
        Example(
            "a single process",
            """
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def train(step, state, loader, mesh):
    for batch in loader:
        state = step(state, jax.device_put(batch, NamedSharding(mesh, P("data"))))
    return state
""",
        ),
    )

    @concerns("jax.device_put")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != "jax.device_put" or event.frame.stage.staged or event.frame.in_loop() is None:
            return
        sharding = event.args[1] if len(event.args) > 1 else event.kwargs.get("device")
        if not isinstance(sharding, ExternalObject) or sharding.name != "jax.sharding.NamedSharding":
            return
        spec = sharding.args[1] if len(sharding.args) > 1 else sharding.kwargs.get("spec")
        if not isinstance(spec, ExternalObject) or not spec.args or not _is_multi_process(report):
            return
        report(
            event.node,
            "each process hands in its own batch, and `device_put` takes it for the global one",
            reason="the file calls `jax.distributed.initialize`; `jax.make_array_from_process_local_data` joins local batches",
        )


def _is_multi_process(report: Reporter) -> bool:
    """Whether the file starts several processes and never makes a global array of local data."""
    names = [
        dotted(node) for node in ast.walk(report.module.tree) if isinstance(node, (ast.Attribute, ast.Name))
    ]
    return any(name.endswith("distributed.initialize") for name in names) and not any(
        name.rpartition(".")[2] in _GLOBAL for name in names
    )
