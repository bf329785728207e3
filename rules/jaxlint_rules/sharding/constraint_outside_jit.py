"""`with_sharding_constraint` in code that nothing traces."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array
from jaxlint.finding import Severity


class ConstraintOutsideJit(Rule):
    """`jax.lax.with_sharding_constraint` is called outside `jit`.

    ## What it does
    Finds `with_sharding_constraint` on arrays in code that certainly runs on the host.

    ## Why is this bad?
    The function is a hint to the compiler. On a concrete array there is no compiler to guide: JAX
    copies the array immediately. A bare `PartitionSpec` without a mesh in context raises
    `RuntimeError`.

    ## Example
    ```python
    x = jnp.ones((8, 128))
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))
    ```

    ## Use instead
    ```python
    x = jax.device_put(jnp.ones((8, 128)), NamedSharding(mesh, P("data")))
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it in a function that traced code also calls.

    ## References
    - [jax.lax.with_sharding_constraint](https://docs.jax.dev/en/latest/_autosummary/jax.lax.with_sharding_constraint.html)
    """

    code = "JAX1204"
    name = "constraint-outside-jit"
    category = "sharding"
    severity = Severity.WARNING
    needs_whole_program = True

    @concerns("jax.lax.with_sharding_constraint")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != "jax.lax.with_sharding_constraint" or event.frame.stage.staged or not event.args:
            return
        if not isinstance(event.args[0], Array) or report.module.is_test or event.is_caught():
            return
        frame = event.frame
        while frame.caller is not None:
            frame = frame.caller
        # Traced code may also use helpers in another file.
        if frame.function is None and not frame.is_without_call() and frame.module is event.frame.module:
            report(
                event.node,
                "`with_sharding_constraint` outside jit copies the array immediately; use `jax.device_put`",
                reason="no transformation runs this code",
            )
