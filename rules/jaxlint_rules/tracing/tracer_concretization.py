"""Concretization of a tracer to a Python number, list or text."""

from __future__ import annotations

import ast

from jaxlint.api import ConvertEvent, Reporter, Rule
from jaxlint.api.values import Array
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import traced

_FUNCTIONS = frozenset({"float", "int", "bool", "complex", "hash", "hex", "oct", "bin", "chr"})
_ERRORS = {
    "bool": "TracerBoolConversionError",
    "hash": "TypeError",
    **dict.fromkeys(("hex", "oct", "bin", "chr", "operator.index"), "TracerIntegerConversionError"),
}
_HARMLESS = frozenset({"str", "print", "block_until_ready", "device_get", "format_method"})


class TracerConcretization(Rule):
    """A tracer is converted to a Python number.

    ## What it does
    Finds `float()`, `int()`, `bool()`, `complex()`, `hex()`, `.item()`, `.tolist()`, `math.*` and
    number formats (`f"{x:.3f}"`) applied to a tracer. Also finds tracers that are hashed: as dict
    keys, as set elements, or as arguments of a function under `functools.cache`.

    ## Why is this bad?
    A tracer has no concrete value. JAX raises `ConcretizationTypeError` for numbers,
    `TracerBoolConversionError` for `bool()`, `TracerIntegerConversionError` where Python asks for
    an index, and `TypeError` for number formats and hashes.

    ## Example
    ```python
    @jax.jit
    def n_steps(duration, dt):
        return int(duration / dt)
    ```

    ## Use instead
    ```python
    @jax.jit
    def n_steps(duration, dt):
        return (duration / dt).astype(int)
    ```
    Compute a value that must be a Python number outside the traced function and pass it as a static
    argument. Print with `jax.debug.print`.

    ## Fix safety
    Unsafe: `float(x)` becomes `jnp.asarray(x, dtype=float)`, `math.sqrt(x)` becomes `jnp.sqrt(x)`,
    and `.item()` is removed. The result is an array, of 32 bits by default, instead of a Python
    number. Numbers used as sizes are not rewritten, because an array cannot be a size. A formatted
    number inside `print` becomes `jax.debug.print`, which prints on every run.

    ## When not to fix
    Numbers from shapes, dtypes and static arguments are fine and not reported.

    ## References
    - [JAX errors: ConcretizationTypeError](https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError)
    """

    code = "JAX102"
    name = "tracer-concretization"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "unsafe"

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        value = event.value
        if event.how in _HARMLESS or event.is_guarded():
            return
        # A container would fail here too, so an argument of unknown structure counts.
        if (
            not isinstance(value, Array)
            or not value.staged
            or not value.certain
            or (value.tree and event.how == "bool")
        ):
            return
        if event.how == "hash" and not isinstance(event.node, ast.Call):
            report(
                event.node,
                "hashing a tracer raises TypeError; do not use it as a dict key or in a set",
                reason=traced(event, value),
            )
            return
        if event.how == "format":
            message = "formatting a tracer as a number raises TypeError; use `jax.debug.print`"
        elif event.how.startswith("numpy."):
            return
        else:
            call = f"`{event.how}()`" if event.how in _FUNCTIONS or "." in event.how else f"`.{event.how}()`"
            error = _ERRORS.get(event.how, "ConcretizationTypeError")
            message = f"{call} of a tracer raises {error}{_instead(event.how)}"
        fix = None
        if event.how == "format":
            fix = _printed(event, report)
        elif event.how in ("float", "int", "bool", "complex", "item") or event.how.startswith("math."):
            fix = propose(
                report, event.node, "number-to-array", "Keep the array and convert its dtype", safe=False
            )
        report(event.node, message, reason=traced(event, value), fix=fix)


def _instead(how: str) -> str:
    """The end of the message: what to write in place of `how`."""
    if how in ("float", "int", "complex"):
        return f"; use `.astype({how})`"
    if how.startswith("math."):
        return "; use the `jnp` function"
    return "; keep it an array" if how in ("bool", "item", "tolist") else ""


def _printed(event: ConvertEvent, report: Reporter) -> FixRequest | None:
    """The number is formatted for a `print`."""
    for parent in report.module.ancestors(event.node):
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "print":
            return propose(report, parent, "print-to-debug-print", "Use `jax.debug.print`", safe=False)
        if isinstance(parent, ast.stmt):
            break
    return None
