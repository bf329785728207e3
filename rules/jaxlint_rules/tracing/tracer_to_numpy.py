"""NumPy functions called on tracers."""

from __future__ import annotations

import ast

from jaxlint.api import NumpyEvent, Reporter, Rule
from jaxlint.api.tables import IN_PLACE_FUNCTIONS
from jaxlint.api.values import Array
from jaxlint.finding import Severity
from jaxlint_rules._fixes import only_staged, propose
from jaxlint_rules._reasons import traced


class TracerToNumpy(Rule):
    """A tracer is passed to NumPy.

    ## What it does
    Finds NumPy and SciPy functions called on a tracer, NumPy arrays indexed by a tracer, and NumPy
    arrays that a tracer is stored into. Functions that NumPy forwards to a method of the argument
    (`np.sum`, `np.mean`, `np.reshape` ...) work on tracers and are not reported.

    ## Why is this bad?
    NumPy needs concrete values, and a tracer has none. JAX raises `TracerArrayConversionError`.
    NumPy raises `ValueError` where a traced scalar is stored into one of its items.

    ## Example
    ```python
    @jax.jit
    def f(x):
        return np.sin(x)
    ```

    ## Use instead
    ```python
    @jax.jit
    def f(x):
        return jnp.sin(x)
    ```

    ## Fix safety
    Functions that `jax.numpy` has with the same arguments are called from there. A NumPy buffer
    that is filled with tracers becomes a `jnp` array filled by `.at[...].set(...)`. This is safe
    where the function is only ever traced, because it raised there, and the project names no error
    of tracers, which it may expect. Elsewhere it is unsafe: on the host the result becomes a JAX
    array, of 32 bits by default.

    ## When not to fix
    NumPy on shapes and other static values is fine and not reported. It runs at trace time and adds
    nothing to the compiled program.

    ## References
    - [JAX errors: TracerArrayConversionError](https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerArrayConversionError)
    """

    code = "JAX103"
    name = "tracer-to-numpy"
    category = "tracing"
    severity = Severity.ERROR
    needs_whole_program = True
    follows_calls = True
    fixable = "partly safe"

    def __init__(self) -> None:
        self.buffers: dict[ast.AST | None, ast.AST] = {}  # function -> its first such store

    def on_numpy(self, event: NumpyEvent, report: Reporter) -> None:
        value = event.value
        if not isinstance(value, Array) or not value.staged or not value.certain or event.is_guarded():
            return
        if event.changes:
            return  # array-item-assignment reports it
        if event.function == "setitem":
            # One finding for a buffer that several statements fill.
            owner = event.frame.function.node if event.frame.function is not None else None
            if self.buffers.setdefault(owner, event.node) is not event.node:
                return
            message = "storing a tracer in a NumPy array raises ValueError; build the array with `jnp`"
            codemod = "numpy-buffer-to-jnp"
        elif event.function == "getitem":
            message = (
                "indexing a NumPy array with a tracer raises TracerArrayConversionError; use `jnp.asarray`"
            )
            codemod = ""
        else:
            name = event.function.replace("numpy.", "np.")
            message = f"`{name}` on a tracer raises TracerArrayConversionError"
            codemod = "numpy-to-jnp" if _has_twin(event.function) else ""
            if event.function.startswith("scipy."):
                message += "; use `jax.scipy`"
            elif codemod:
                message += f"; use `jnp.{_RENAMED.get(name.removeprefix('np.'), name.removeprefix('np.'))}`"
            else:
                message += "; call it outside, or use `jax.pure_callback`"
        safe = only_staged(event.frame, report)
        fix = propose(report, event.node, codemod, "Use `jax.numpy`", safe=safe) if codemod else None
        report(event.node, message, reason=traced(event, value), fix=fix)


# Functions that `jax.numpy` has under another name only.
_RENAMED = {
    **dict.fromkeys(
        ("asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "require"), "asarray"
    ),
    "row_stack": "vstack",
    "fix": "trunc",
    "trapz": "trapezoid",
    "in1d": "isin",
    "product": "prod",
    "cumproduct": "cumprod",
    "alltrue": "all",
    "sometrue": "any",
    "msort": "sort",
}


def _has_twin(name: str) -> bool:
    """Whether `jax.numpy` is the place to look for the function."""
    others = ("numpy.testing.", "numpy.save", "numpy.vectorize", "numpy.random.")
    changes = name in IN_PLACE_FUNCTIONS and not name.endswith(".at")  # `jnp` only has those of ufuncs
    return name.startswith("numpy.") and not name.startswith(others) and not changes
