"""A PartitionSpec names an axis that its mesh does not have."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
from jaxlint.staging.meshes import mesh_axes, spec_axes
from jaxlint.staging.values import ExternalObject
from jaxlint_rules._reasons import is_parameter


class UnknownMeshAxis(Rule):
    """A `PartitionSpec` names an axis that its mesh does not have.

    ## What it does
    Finds `NamedSharding(mesh, P("model"))` where the axes of the mesh are known and "model" is not among them, or where
    a spec names one axis twice.

    ## Why is this bad?
    It raises `ValueError` (`DuplicateSpecError`) when the sharding is made.

    ## Example
    ```python
    mesh = jax.make_mesh((8,), ("data",))
    sharding = NamedSharding(mesh, P("batch"))
    ```

    ## Use instead
    ```python
    mesh = jax.make_mesh((8,), ("data",))
    sharding = NamedSharding(mesh, P("data"))
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Never: the call fails.

    ## References
    - [jax.sharding.NamedSharding](https://docs.jax.dev/en/latest/jax.sharding.html)
    """

    code = "JAX1201"
    name = "unknown-mesh-axis"
    category = "sharding"
    severity = Severity.ERROR
    examples = (
        Example(
            "an axis that is not there, and one named twice",
            """
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
rows = NamedSharding(mesh, P("batch", None))  # finding
grid = jax.make_mesh((1, 1), ("data", "model"))
both = NamedSharding(grid, P(("data", "stage")))  # finding
twice = NamedSharding(grid, P("data", "data"))  # finding

def sharded(mesh):
    return {"rows": NamedSharding(mesh, P("data")), "columns": NamedSharding(mesh, P("stage"))}  # finding

sharded(grid)
""",
        ),
        Example(
            "axes that are there, or not known",
            """
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def sharded(mesh):
    if "stage" in mesh.axis_names:
        return NamedSharding(mesh, P("stage"))
    return NamedSharding(mesh, P("data"))

sharded(jax.make_mesh((1,), ("data",)))

def shardings(mesh, axis):
    grid = jax.make_mesh((1, 1), ("data", "model"))
    return NamedSharding(grid, P(("data", "model"))), NamedSharding(grid, P(None, axis)), NamedSharding(mesh, P("stage"))
""",
        ),
    )

    @concerns("jax.sharding.NamedSharding")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != "jax.sharding.NamedSharding":
            return
        values = [*event.args, *(event.kwargs[k] for k in ("mesh", "spec") if k in event.kwargs)]
        if len(values) < 2 or not isinstance(event.node, ast.Call):
            return
        specs = [*event.node.args[1:2], *(k.value for k in event.node.keywords if k.arg == "spec")]
        if any(is_parameter(spec, event.frame) for spec in specs) or event.frame.guards:
            return
        mesh = values[0]
        # A mesh that comes from another file may be one of several.
        here = isinstance(mesh, ExternalObject) and mesh.node in report.module.parents
        axes, named = mesh_axes(mesh) if here else None, list(spec_axes(values[1]))
        for name in named:
            if axes is not None and name not in axes:
                have = ", ".join(f"`{axis}`" for axis in axes)
                report(event.node, f"the mesh has no axis `{name}`", reason=f"its axes are {have}")
                return
            if named.count(name) > 1:
                report(
                    event.node,
                    f"the spec names the axis `{name}` twice",
                    reason="an axis of the mesh may shard one dimension only",
                )
                return
