"""Tracers that outlive their trace."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import LeakEvent
from jaxlint.staging.values import find_array
from jaxlint_rules._reasons import guarded, staged_because


class TracerLeak(Rule):
    """A traced value is kept outside of the trace.

    ## What it does
    Finds staged code that appends traced values to an outer list, or stores them in a global, an outer dict or an
    attribute of an ordinary object.

    ## Why is this bad?
    After tracing, the stored object is a dead tracer: using it raises `UnexpectedTracerError`. On later calls, which do
    not run the Python code, nothing is stored at all.

    ## Example
    ```python
    seen = []

    @jax.jit
    def f(x):
        seen.append(x * 2)
        return x
    ```

    ## Use instead
    ```python
    @jax.jit
    def f(x):
        return x, x * 2
    ```

    ## Fix safety
    There is no automatic fix: the function must return the value.

    ## When not to fix
    Lists, dicts and objects that are made inside the staged function are fine, and not reported.

    ## References
    - [JAX errors: UnexpectedTracerError](https://docs.jax.dev/en/latest/errors.html#jax.errors.UnexpectedTracerError)
    """

    code = "JAX201"
    name = "tracer-leak"
    category = "purity"
    severity = Severity.ERROR
    examples = (
        Example(
            "an outer list, a global and a cache",
            """
import jax
import jax.numpy as jnp

SEEN = []
CACHE = {}
last = None

def remember(h):
    SEEN.append(h)  # finding

@jax.jit
def f(x):
    global last
    last = x * 2  # finding
    remember(x)
    CACHE["x"] = jnp.sin(x)  # finding
    return x
""",
        ),
        Example(
            "containers made inside, and functional state",
            """
import jax
import jax.numpy as jnp

@jax.jit
def f(layers, x):
    outputs = []
    named = {}
    for i, layer in enumerate(layers):
        x = jnp.tanh(x @ layer)
        outputs.append(x)
        named[i] = x
    return outputs, named

def host(xs):
    results = []
    for x in xs:
        results.append(f([x], x))
    return results
""",
        ),
    )

    def on_leak(self, event: LeakEvent, report: Reporter) -> None:
        array = find_array(event.value, True)
        if array is None or not array.certain or not event.frame.stage.certain or guarded(event):
            return
        report(
            event.node,
            f"a traced value is stored in {event.where}, which outlives the trace",
            reason=staged_because(event.frame),
        )
