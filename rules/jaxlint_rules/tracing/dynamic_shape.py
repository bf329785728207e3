"""Shapes, lengths and counts that depend on a tracer."""

from __future__ import annotations

from jaxlint.api import IndexEvent, Reporter, Rule, ShapeEvent
from jaxlint.api.values import Array
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import certain_tracer, traced
from jaxlint_rules._static_sizes import static_size


class DynamicShape(Rule):
    """A shape depends on a tracer.

    ## What it does
    Finds tracers used as shapes, lengths, counts and axes: `jnp.zeros(n)`, `jnp.arange(n)`,
    `one_hot(x, n)`, `random.normal(key, (n,))`, `x.sum(axis=n)`. Also finds traced boolean masks as
    indices (`x[mask]`, `x.at[mask]`), and functions whose result has a data-dependent size without
    the option that fixes the size: `jnp.nonzero`, `jnp.unique`, `jnp.where(mask)`, `jnp.repeat`,
    `jnp.bincount`, `segment_sum`.

    ## Why is this bad?
    XLA compiles for static shapes, so every shape must be known at trace time. JAX raises
    `TypeError` for a shape, `ConcretizationTypeError` for a length, count or axis, and
    `NonConcreteBooleanIndexError` for a mask.

    ## Example
    ```python
    @jax.jit
    def draw(key, n):
        return jax.random.normal(key, (n,))
    ```

    ## Use instead
    ```python
    @partial(jax.jit, static_argnames="n")
    def draw(key, n):
        return jax.random.normal(key, (n,))
    ```
    For masks, `jnp.where(mask, x, 0)` keeps the shape of `x`, and `jnp.nonzero(mask, size=k)`
    returns a fixed number of indices.

    ## Fix safety
    Unsafe, for three reasons. `x.at[x > 1].set(v)` becomes `jnp.where(x > 1, v, x)`, which may have
    a wider dtype than `x`. Sums and means of `x[x > 0]` become sums of zeros, or take `where=`. A
    parameter that is a size becomes a static argument where its function is jitted, so each new
    value recompiles. Other sizes have no automatic fix.

    ## When not to fix
    Sizes from shapes, constants and static arguments are fine and not reported.
    [tracer-index](tracer-index.md) reports loops over a traced `range`.

    ## References
    - [JAX: dynamic shapes](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#dynamic-shapes)
    """

    code = "JAX104"
    name = "dynamic-shape"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "unsafe"

    def on_shape(self, event: ShapeEvent, report: Reporter) -> None:
        value = event.value
        if not isinstance(value, Array) or not value.staged or not value.certain or event.is_guarded():
            return
        if event.function == "range":
            return  # not a shape: tracer-index reports it
        name = event.function.replace("jax.numpy.", "jnp.")
        instead = "; it must be static"
        if event.function == "*":
            message = "repeating a list by a tracer raises TypeError; use `jnp.tile` or `jnp.repeat`"
            instead = ""
        elif event.argument == "the data":
            message = f"`{name}` of a tracer raises ConcretizationTypeError"
            instead = f"; pass `{event.option}=`" if event.option else ""
        else:
            message = f"{event.argument} of `{name}` is a tracer: {_raised(event)}"
        advice, fix = static_size(event, value)
        message += advice or instead
        report(event.node, message, reason=traced(event, value), fix=fix)

    def on_index(self, event: IndexEvent, report: Reporter) -> None:
        if event.how == "mask" and certain_tracer(event.index) and not event.is_guarded():
            assert isinstance(event.index, Array)
            message = "a traced boolean mask as index raises NonConcreteBooleanIndexError; use `jnp.where(mask, x, y)`"
            fix = propose(report, event.node, "mask-to-where", "Use `jnp.where`", safe=False)
            report(event.node, message, reason=traced(event, event.index), fix=fix)


# Arguments that JAX checks as a shape itself; other sizes are converted to integers.
_SHAPES = frozenset(
    f"`{name}`"
    for name in ("shape", "newshape", "new_sizes", "slice_sizes", "sizes", "size", "N", "M", "n", "reps")
)


def _raised(event: ShapeEvent) -> str:
    """The error that JAX raises for a tracer in this argument: ConcretizationTypeError is a TypeError, and more
    specific."""
    shape = event.argument in _SHAPES or event.argument == "a size" or event.function == "jax.random.split"
    return "TypeError" if shape else "ConcretizationTypeError"
