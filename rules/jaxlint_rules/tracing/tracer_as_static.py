"""Tracers passed for static parameters."""

from __future__ import annotations

from jaxlint.api import Reporter, Rule, StaticArgumentEvent
from jaxlint.api.values import Array
from jaxlint.finding import Severity
from jaxlint_rules._reasons import traced


class TracerAsStatic(Rule):
    """A tracer is passed for a static parameter.

    ## What it does
    Finds calls inside traced code that pass a tracer for a parameter that the called function
    declares in `static_argnums`, `static_argnames` or `nondiff_argnums`.

    ## Why is this bad?
    Static arguments must be hashable, and a tracer is not. JAX raises
    `ValueError: Non-hashable static arguments are not supported`.

    ## Example
    ```python
    @partial(jax.jit, static_argnames="depth")
    def refine(x, depth): ...

    @jax.jit
    def outer(x, depth):
        return refine(x, depth=depth)
    ```

    ## Use instead
    ```python
    @partial(jax.jit, static_argnames="depth")
    def outer(x, depth):
        return refine(x, depth=depth)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the code raises. Shapes and other static values may be passed and are not
    reported.

    ## References
    - [jax.jit: static_argnums](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX108"
    name = "tracer-as-static"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        value = event.value
        custom = event.transformed.kind == "custom"
        declared = (
            "in `nondiff_argnums`, which takes no" if custom else "static, so jit raises ValueError for a"
        )
        if not isinstance(value, Array) or not value.staged or not value.certain or event.is_guarded():
            return
        report(
            event.node,
            f"`{event.parameter}` of `{event.transformed.label}` is {declared} tracer; pass a constant",
            reason=traced(event, value),
        )
