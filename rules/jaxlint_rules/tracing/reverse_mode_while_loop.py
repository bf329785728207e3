"""Reverse-mode differentiation through loops that do not support it."""

from __future__ import annotations

from jaxlint.api import Reporter, ReverseModeEvent, Rule
from jaxlint.finding import Severity


class ReverseModeWhileLoop(Rule):
    """Reverse-mode differentiation goes through a while loop.

    ## What it does
    Finds `lax.while_loop`, and `lax.fori_loop` with a traced bound, where the loop's result depends
    on the input that `jax.grad`, `jax.vjp`, `jax.jacrev` or `jax.hessian` differentiates and
    reaches the differentiated output.

    ## Why is this bad?
    Reverse mode must store the values of every iteration, and the number of iterations is unknown
    at trace time. JAX raises `ValueError: Reverse-mode differentiation does not work for
    lax.while_loop or lax.fori_loop with dynamic start/stop values`.

    ## Example
    ```python
    def root(theta):
        return lax.while_loop(unsettled, lambda x: newton(x, theta), jnp.ones_like(theta))

    jax.grad(root)(2.0)
    ```

    ## Use instead
    ```python
    def root(theta):
        return lax.fori_loop(0, 20, lambda _, x: newton(x, theta), jnp.ones_like(theta))

    jax.grad(root)(2.0)
    ```
    `fori_loop` with Python numbers as bounds lowers to a scan, which has a reverse mode.
    Differentiate the solution of an equation implicitly, with `jax.lax.custom_root` or
    `jax.custom_vjp`. Forward mode (`jax.jacfwd`, `jax.jvp`) works through a while loop.
    `lax.stop_gradient` says that no gradient is wanted.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Loops over counters, indices and conditions, which have no gradient, are not reported. Nor is
    code inside a `custom_vjp` or `custom_jvp`.

    ## References
    - [jax.lax.while_loop](https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html)
    - [jax.lax.custom_root](https://docs.jax.dev/en/latest/_autosummary/jax.lax.custom_root.html)
    """

    code = "JAX114"
    name = "reverse-mode-while-loop"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    def on_reverse_mode(self, event: ReverseModeEvent, report: Reporter) -> None:
        if event.is_guarded(convention=False):
            return
        t = event.transformed
        if t is None:
            reason = "`jax.vjp` differentiates a function that returns it"
        else:
            place = t.why.place(report.module)
            reason = f"it is part of the result of `{t.label}`, which `{t.api}` differentiates{place}"
        report(
            event.node,
            f"reverse-mode differentiation of `{event.api}` raises ValueError; use `lax.scan`",
            reason=reason,
        )
