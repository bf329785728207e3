"""Callbacks under differentiation or `vmap`."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array, constant, flow_in
from jaxlint.finding import Severity
from jaxlint_rules._mapped import is_mapped, mapping, mapping_around, varies
from jaxlint_rules._reasons import staged_because

_PURE, _IO = "jax.pure_callback", "jax.experimental.io_callback"


class CallbackTransformed(Rule):
    """A callback is differentiated or mapped, which JAX cannot do.

    ## What it does
    Finds `jax.pure_callback` and `io_callback` of differentiated values, `pure_callback` of values
    that `vmap` maps over without `vmap_method`, and `io_callback(..., ordered=True)` under `vmap`.

    ## Why is this bad?
    JAX does not know the derivative of a host function, nor whether it accepts a batch.
    Differentiation raises `ValueError`. `vmap` raises `NotImplementedError` for `pure_callback` and
    `ValueError` for an ordered `io_callback`.

    ## Example
    ```python
    def loss(w):
        return jnp.sum(jax.pure_callback(host_gamma, jax.ShapeDtypeStruct(w.shape, w.dtype), w))

    jax.grad(loss)(w)
    ```

    ## Use instead
    ```python
    @jax.custom_jvp
    def gamma(w):
        return jax.pure_callback(host_gamma, jax.ShapeDtypeStruct(w.shape, w.dtype), w)

    gamma.defjvp(...)  # its derivative
    ```
    For `vmap`, pass `vmap_method="sequential"` or `"expand_dims"`. Use `jax.debug.callback` for
    functions that only observe values.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the code raises. Callbacks of values without a gradient (`lax.stop_gradient`,
    arguments that are not differentiated) are not reported.

    ## References
    - [JAX: external callbacks](https://docs.jax.dev/en/latest/external-callbacks.html)
    """

    code = "JAX812"
    name = "callback-transformed"
    category = "api"
    severity = Severity.ERROR
    follows_calls = True

    @concerns(_PURE, _IO)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name not in (_PURE, _IO) or report.module.is_test or event.is_guarded():
            return
        short = event.name.rpartition(".")[2]
        if flow_in(event.args[2:]) is not None:
            report(
                event.node,
                f"`{short}` has no derivative: `grad` raises ValueError; wrap it in `jax.custom_jvp`",
                reason=staged_because(event.frame),
            )
            return
        mapped, around = mapping(event.frame.stage), mapping_around(event.frame.stage)
        if mapped is not None:
            found = any(
                isinstance(value, Array) and value.staged and value.certain and is_mapped(value, mapped)
                for value in event.args[2:]
            )
        else:
            found = around is not None and any(varies(value, around) for value in event.args[2:])
        if not found:
            return
        if event.name == _IO and constant(event.kwargs.get("ordered")) is True:
            report(
                event.node,
                "`vmap` of an ordered `io_callback` raises ValueError; call it outside `vmap`",
                reason=staged_because(event.frame),
            )
        elif event.name == _PURE and not event.kwargs.keys() & {"vmap_method", "vectorized", "**"}:
            report(
                event.node,
                "`vmap` of a `pure_callback` raises NotImplementedError; pass `vmap_method=`",
                reason=staged_because(event.frame),
            )
