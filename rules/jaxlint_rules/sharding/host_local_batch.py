"""Host-local batches that a multi-process program places as global ones."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, name_loads
from jaxlint.api.values import ExternalObject
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._purpose import says
from jaxlint_rules.sharding._placements import mesh_and_spec

_SEVERAL = re.compile(r"\bdistributed\.initialize\(|\bprocess_(?:count|index)\(")
_GLOBAL = (
    "make_array_from_process_local_data",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
    "host_local_array_to_global_array",
    "form_global_array",
)


class HostLocalBatch(Rule):
    """`device_put` treats the batch of one process as the global batch.

    ## What it does
    Finds, in files that call `jax.distributed.initialize`,
    `jax.device_put(batch, NamedSharding(mesh, P("data")))` inside loops, if nothing in the file
    creates global arrays from local data. Also finds batches that a multi-process program reshapes
    for `pmap` by `jax.device_count()`, the number of devices of all processes.

    ## Why is this bad?
    `device_put` expects the global array, equal on every process. JAX keeps only the rows of each
    host's batch that belong to its devices and drops the rest, or raises if it checks that the
    hosts agree. `pmap` takes one part for each device of its own process, of which there are
    `jax.local_device_count()`. With one process the two counts are equal, so the mistake is
    invisible.

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
    There is no automatic fix: the rule cannot be certain that the batch is local.

    ## When not to fix
    Keep it if each process loads the same global batch. It is not reported below a comment that
    speaks of a single host.

    ## References
    - [JAX: distributed data loading](https://docs.jax.dev/en/latest/distributed_data_loading.html)
    """

    code = "JAX1208"
    name = "host-local-batch"
    category = "sharding"
    severity = Severity.WARNING

    @concerns("jax.device_put", "jax.device_count")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name == "jax.device_count":
            self.check_cut(event, report)
            return
        if event.name != "jax.device_put" or event.frame.stage.staged or event.frame.in_loop() is None:
            return
        _, spec = mesh_and_spec(argument(event, 1, "device")) or (None, None)
        if not isinstance(spec, ExternalObject) or not spec.args or not _is_multi_process(report):
            return
        report(
            event.node,
            "`device_put` treats each process's own batch as the global one; use `make_array_from_process_local_data`",
            reason="the file calls `jax.distributed.initialize`",
        )

    def check_cut(self, event: CallEvent, report: Reporter) -> None:
        """The leading dimension of an argument of `pmap`."""
        text = report.module.source.text
        if "pmap" not in text or report.module.is_test or not _SEVERAL.search(text):
            return
        if says(event.frame, event.node, _ALONE):
            return
        if _cuts_by(event.node, report):
            report(
                event.node,
                "`pmap` takes one part per local device; divide the batch by `jax.local_device_count()`",
                reason="`jax.device_count()` counts the devices of all processes",
            )


_ALONE = re.compile(r"single[- ](host|process)", re.IGNORECASE)


def _cuts_by(node: ast.AST, report: Reporter) -> bool:
    """Whether a number, or its variable, is the first size of a `reshape`."""
    parents = report.module.parents
    above = parents.get(node)
    if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        owner = next((a for a in report.module.ancestors(node) if isinstance(a, functions)), None)
        name = above.targets[0].id
        loads = name_loads(owner if owner is not None else report.module.tree)
        return any(use.id == name and _cuts_by(use, report) for use in loads)
    if isinstance(above, ast.Tuple) and above.elts[0] is node:
        node, above = above, parents.get(above)
        if isinstance(above, ast.BinOp) and above.left is node:  # `(n, -1) + x.shape[1:]`
            node, above = above, parents.get(above)
    if not isinstance(above, ast.Call) or not isinstance(above.func, ast.Attribute):
        return False
    return above.func.attr == "reshape" and node in above.args[:2]


def _is_multi_process(report: Reporter) -> bool:
    """Whether the file starts several processes and never creates a global array from local data."""
    names = [
        dotted(node) for node in ast.walk(report.module.tree) if isinstance(node, (ast.Attribute, ast.Name))
    ]
    return any(name.endswith("distributed.initialize") for name in names) and not any(
        name.rpartition(".")[2] in _GLOBAL for name in names
    )
