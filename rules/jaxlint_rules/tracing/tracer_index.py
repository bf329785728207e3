"""Tracers as indices of Python sequences, slice bounds and loop counts."""

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
    """A tracer is used as a list index, a slice bound or a loop count.

    ## What it does
    Finds `layers[i]` where `layers` is a Python list or tuple and `i` is a tracer, lookups of a
    tracer in a dict, slices such as `x[:n]` with a traced bound, and `range(n)` with a traced `n`.

    ## Why is this bad?
    Python needs a concrete integer. Lists and `range` raise `TracerIntegerConversionError`, slices
    of arrays raise `IndexError`, and dicts raise `TypeError`, since a tracer is not hashable.

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
    For slices of constant size with a traced start, use `jax.lax.dynamic_slice`. A traced size
    needs a mask. Write a loop with a traced count as `lax.fori_loop`.

    ## Fix safety
    Unsafe:

    - A `for` over a traced `range` becomes `lax.fori_loop`. Its carry must keep its types, and it
      has no reverse-mode derivative if its length is traced.
    - `weights[i]` becomes `jnp.array(weights)[i]`, which needs items of one shape.
    - `x[i:i + 3]` becomes `lax.dynamic_slice_in_dim(x, i, 3)`, which moves the start back where
      fewer than 3 items are left.
    - A parameter that is a size becomes a static argument where its function is jitted, so each new
      value recompiles.

    Slices whose size depends on data are not rewritten: they need a mask or a static bound.

    ## When not to fix
    Indexing an array with a traced integer is fine and not reported.

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
                "this dict key contains the text of a tracer, not its value: KeyError; stack the arrays and index them",
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
