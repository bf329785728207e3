"""Gradients through loops that have no reverse mode."""

from __future__ import annotations

from jaxlint.api import Reporter, ReverseModeEvent, Rule
from jaxlint.finding import Severity


class ReverseModeWhileLoop(Rule):
    """A gradient is taken through a while loop.

    ## What it does
    Finds `lax.while_loop`, and `lax.fori_loop` with a traced bound, whose result depends on what `jax.grad`, `jax.vjp`,
    `jax.jacrev` or `jax.hessian` differentiates, and reaches the result of the differentiated function.

    ## Why is this bad?
    Reverse mode must keep the values of every step, and how many there are is not known: `ValueError: Reverse-mode
    differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop values`.

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
    A number of steps that is a Python number becomes a scan, which has a reverse mode. Solutions of equations are better
    differentiated implicitly, with `jax.lax.custom_root` or a `jax.custom_vjp`. `jax.jacfwd` and `jax.jvp` differentiate a
    while loop as it is, and `lax.stop_gradient` says that no gradient is wanted.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Loops over counters, indices and conditions, which have no gradient, are not reported; nor is what a `custom_vjp` or
    `custom_jvp` does inside.

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
