"""Partition specs that name an axis that their mesh does not have."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import ExternalObject, mesh_axes, spec_axes
from jaxlint.finding import Severity
from jaxlint_rules._reasons import is_parameter


class UnknownMeshAxis(Rule):
    """A `PartitionSpec` names an axis that its mesh does not have.

    ## What it does
    Finds `NamedSharding(mesh, P("model"))` if the axes of the mesh are known and `"model"` is not
    one of them, and specs that name one axis twice.

    ## Why is this bad?
    JAX raises `ValueError` when the sharding is created, or `DuplicateSpecError` for an axis named
    twice.

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
    Always fix it: the call raises.

    ## References
    - [jax.sharding.NamedSharding](https://docs.jax.dev/en/latest/jax.sharding.html)
    """

    code = "JAX1201"
    name = "unknown-mesh-axis"
    category = "sharding"
    severity = Severity.ERROR

    @concerns("jax.sharding.NamedSharding")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != "jax.sharding.NamedSharding":
            return
        values = [*event.args, *(event.kwargs[k] for k in ("mesh", "spec") if k in event.kwargs)]
        if len(values) < 2 or not isinstance(event.node, ast.Call):
            return
        specs = [*event.node.args[1:2], *(k.value for k in event.node.keywords if k.arg == "spec")]
        if any(is_parameter(spec, event.frame) for spec in specs) or event.frame.is_conditional():
            return
        mesh = values[0]
        # A mesh from another file may be one of several.
        here = isinstance(mesh, ExternalObject) and mesh.node in report.module.parents
        axes, named = mesh_axes(mesh) if here else None, list(spec_axes(values[1]))
        for name in named:
            if axes is not None and name not in axes:
                have = ", ".join(f"`{axis}`" for axis in axes)
                report(
                    event.node,
                    f"the mesh has no axis `{name}`, which raises ValueError; use one of its axes",
                    reason=f"its {'axes are' if len(axes) > 1 else 'only axis is'} {have}",
                )
                return
            if named.count(name) > 1:
                report(
                    event.node,
                    f"the spec names axis `{name}` twice, which raises DuplicateSpecError; name it once",
                    reason="a mesh axis shards one dimension of an array",
                )
                return
