"""Python sequences indexed, arrays sliced, and loops counted by a tracer."""

from __future__ import annotations

from jaxlint.api import IndexEvent, Reporter, Rule, ShapeEvent
from jaxlint.api.values import Array
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import traced
from jaxlint_rules._static_sizes import static_size

_ERROR = "raises TracerIntegerConversionError"
_WHAT = {
    "list": "indexing a Python sequence with a tracer",
    "dict": "looking a tracer up in a dict",
    "slice": "a tracer as slice bound",
}


class TracerIndex(Rule):
    """A tracer is a list index, a slice bound or the bound of a Python loop.

    ## What it does
    Finds `layers[i]` where `layers` is a Python list or tuple and `i` is traced, slices such as `x[:n]` whose bound
    is traced, and `range(n)` of a traced `n`.

    ## Why is this bad?
    Python needs the integer: `TracerIntegerConversionError`, or for slices `IndexError`.

    ## Example
    ```python
    def body(i, h):
        return jnp.tanh(h @ weights[i])  # weights is a list

    lax.fori_loop(0, 4, body, h)
    ```

    ## Use instead
    ```python
    stacked = jnp.stack(weights)

    def body(i, h):
        return jnp.tanh(h @ stacked[i])
    ```
    For slices with a moving start use `jax.lax.dynamic_slice`; a moving size needs a mask. A loop as long as a tracer
    says is `lax.fori_loop`.

    ## Fix safety
    Unsafe: a `for` over a traced `range` becomes `lax.fori_loop`, whose carry must keep its types and which has no
    reverse-mode derivative when its length is traced. `weights[i]` becomes `jnp.array(weights)[i]`, for which all items must have the same shape, and `x[i:i + 3]`
    becomes `lax.dynamic_slice_in_dim(x, i, 3)`, which moves the start back where fewer than 3 items are left. Slices whose
    size depends on data are left alone: they need a mask, or a static bound. A parameter that is a size is declared static
    where its function is jitted, which compiles anew for each value.

    ## When not to fix
    Indexing an array by a traced integer is fine, and not reported.

    ## References
    - [JAX errors: TracerIntegerConversionError](https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerIntegerConversionError)
    """

    code = "JAX105"
    name = "tracer-index"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "unsafe"

    def on_shape(self, event: ShapeEvent, report: Reporter) -> None:
        count = event.value
        if event.function != "range" or not isinstance(count, Array) or event.is_guarded():
            return
        if not count.staged or not count.certain:
            return
        advice, fix = static_size(event, count)
        if not advice:
            fix = propose(report, event.node, "range-to-fori-loop", "Use `lax.fori_loop`", safe=False)
        report(
            event.node,
            f"`range` of a tracer {_ERROR}" + (advice or "; use `lax.fori_loop`"),
            reason=traced(event, count),
            fix=fix,
        )

    def on_index(self, event: IndexEvent, report: Reporter) -> None:
        index = event.index
        if (
            event.how not in ("list", "dict", "slice", "text")
            or not isinstance(index, Array)
            or event.is_guarded()
        ):
            return
        if not index.staged or not index.certain:
            return
        if event.how == "text":
            report(
                event.node,
                "this dict key is the text of a tracer, not a number: KeyError; stack the arrays and index them",
                reason=traced(event, index),
            )
            return
        # Only `pl.ds(start, size)` reads a part of it.
        ref = isinstance(event.base, Array) and event.base.role == "ref"
        error = "raises TypeError" if event.how == "dict" else _ERROR
        if event.how == "slice" and isinstance(event.base, Array):
            error = "raises IndexError"
        instead = "use a `jnp` array" if event.how == "list" else "stack the values and index an array"
        if event.how == "slice":
            instead = "use `pl.ds(start, size)`" if ref else "use `lax.dynamic_slice`"
        indexed = event.how != "dict"
        message = "Use `lax.dynamic_slice_in_dim`" if event.how == "slice" else "Index a `jnp` array"
        advice, fix = static_size(event, index)
        if not advice and indexed and not ref:
            fix = propose(report, event.node, "sequence-to-array", message, safe=False)
        report(
            event.node,
            f"{_WHAT[event.how]} {error}{advice or f'; {instead}'}",
            reason=traced(event, index),
            fix=fix,
        )
