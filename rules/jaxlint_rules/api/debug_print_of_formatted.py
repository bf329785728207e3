"""`jax.debug.print` of text that was formatted at trace time."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, ConvertEvent, Reporter, Rule, concerns
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import staged_because


class DebugPrintOfFormatted(Rule):
    """`jax.debug.print` receives an f-string that contains a tracer.

    ## What it does
    Finds `jax.debug.print(f"... {x}")` where `x` is a tracer, also formatted by `%`, `.format` or
    `str`, and callbacks that receive such text.

    ## Why is this bad?
    Python formats the text at trace time, so it shows a tracer such as `JitTracer(float32[])`
    instead of the value.

    ## Example
    ```python
    jax.debug.print(f"loss {loss}")
    ```

    ## Use instead
    ```python
    jax.debug.print("loss {loss}", loss=loss)
    ```

    ## Fix safety
    Safe: the values of the f-string become arguments. Only the printed text changes.

    ## When not to fix
    f-strings of static values (shapes, names) are fine and not reported.

    ## References
    - [jax.debug.print](https://docs.jax.dev/en/latest/_autosummary/jax.debug.print.html)
    """

    code = "JAX801"
    name = "debug-print-of-formatted"
    category = "api"
    severity = Severity.WARNING
    fixable = "safe"

    def __init__(self) -> None:
        self.formatted: set[ast.AST] = set()

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        if event.how in ("str", "format", "format_method") and event.value.staged and event.value.certain:  # type: ignore[attr-defined]
            self.formatted.add(event.node)

    @concerns("jax.debug.print", "jax.debug.callback", "jax.experimental.io_callback")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if not event.name.startswith("jax.") or not isinstance(event.node, ast.Call) or not event.node.args:
            return
        prints = event.name == "jax.debug.print"
        arguments = [*event.node.args[1:], *(keyword.value for keyword in event.node.keywords)]
        for part in (p for a in ([event.node.args[0]] if prints else arguments) for p in ast.walk(a)):
            if part in self.formatted:
                fix = None
                if prints and isinstance(report.module.parents.get(part), ast.FormattedValue):
                    fix = propose(
                        report, event.node, "print-to-debug-print", "Pass the values as arguments", safe=True
                    )
                report(
                    event.node,
                    "the string is formatted at trace time and shows a tracer; pass the value as an argument",
                    reason=staged_because(event.frame),
                    fix=fix,
                )
                return
