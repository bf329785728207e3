"""`jax.default_device` inside a traced function."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.finding import Severity
from jaxlint_rules._reasons import staged_because


class DefaultDeviceInStaged(Rule):
    """`jax.default_device` is set inside a traced function.

    ## What it does
    Finds `with jax.default_device(...)` in functions under `jit`, `scan` and other transformations
    that trace.

    ## Why is this bad?
    It has no effect there: a compiled function runs as one program, on the devices of its
    arguments.

    ## Example
    ```python
    @jax.jit
    def features(x):
        with jax.default_device(jax.devices("cpu")[0]):
            return jnp.sort(x)
    ```

    ## Use instead
    ```python
    with jax.default_device(jax.devices("cpu")[0]):
        y = features(x)
    ```
    Or move the argument with `jax.device_put` before the call.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the statement has no effect.

    ## References
    - [jax.default_device](https://docs.jax.dev/en/latest/_autosummary/jax.default_device.html)
    """

    code = "JAX1207"
    name = "default-device-in-staged"
    category = "sharding"
    severity = Severity.WARNING

    @concerns("jax.default_device")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != "jax.default_device" or not event.makes_tracers() or event.is_guarded():
            return
        report(
            event.node,
            "`jax.default_device` has no effect inside a traced function; use it around the call",
            reason=staged_because(event.frame),
        )
