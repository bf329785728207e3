"""A mesh whose axis types are left to a default that has changed."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import ExternalObject
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules.sharding._placements import mesh_and_spec


class MeshWithoutAxisTypes(Rule):
    """`jax.make_mesh` without `axis_types` means another kind of sharding since JAX 0.9.

    ## What it does
    Finds `with_sharding_constraint` over the axes of a mesh that `jax.make_mesh` made without `axis_types`.

    ## Why is this bad?
    Up to JAX 0.8 such axes are `Auto`: the compiler chooses shardings and the constraint guides it. Since 0.9 they are `Explicit`:
    shardings are part of an array's type, and the constraint raises `ValueError`. `jax.sharding.Mesh` still means `Auto`.

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
    or `jax.sharding.reshard(x, P("data"))` under an explicit mesh.

    ## Fix safety
    There is no automatic fix: which of the two is meant is not known.

    ## When not to fix
    When the program is pinned to a JAX before 0.9.

    ## References
    - [JAX: explicit sharding](https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html)
    """

    code = "JAX1206"
    name = "mesh-without-axis-types"
    category = "sharding"
    severity = Severity.WARNING

    @concerns("jax.lax.with_sharding_constraint")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != "jax.lax.with_sharding_constraint" or len(event.args) + len(event.kwargs) < 2:
            return
        placed = mesh_and_spec(argument(event, 1, "shardings"))
        if placed is None:
            return
        mesh, spec = placed
        if not isinstance(mesh, ExternalObject) or mesh.name != "jax.make_mesh":
            return
        if not isinstance(spec, ExternalObject) or not spec.args:
            return
        if "axis_types" in mesh.kwargs or "**" in mesh.kwargs or len(mesh.args) > 2:
            return
        report(
            event.node,
            "`with_sharding_constraint` raises ValueError: this mesh has `Explicit` axes; pass `axis_types`",
            reason=f"`jax.make_mesh` at line {getattr(mesh.node, 'lineno', '?')} has no `axis_types`, and since JAX 0.9 that means `Explicit`",
        )
