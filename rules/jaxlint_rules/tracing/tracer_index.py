"""Python sequences indexed, arrays sliced, and loops counted by a tracer."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import IndexEvent, ShapeEvent
from jaxlint.staging.values import Array
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import guarded, traced
from jaxlint_rules._static_sizes import static_size


class TracerIndex(Rule):
    """A list is indexed, an array sliced, or a Python loop counted by a traced value.

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
    For slices with a moving start use `jax.lax.dynamic_slice`; a moving size needs a mask. A loop as long as a traced value
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
    examples = (
        Example(
            "a list by a loop index, a slice by an argument",
            """
import jax
import jax.numpy as jnp
from jax import lax

WEIGHTS = [jnp.eye(2), jnp.ones((2, 2))]

@jax.jit
def f(x, n):
    def body(i, h):
        return h @ WEIGHTS[i]  # finding
    head = x[:n]  # finding
    return lax.fori_loop(0, 2, body, x), head
""",
        ),
        Example(
            "what can be indexed as an array",
            """
import jax
import jax.numpy as jnp

SCALES = [1.0, 2.0, 4.0]

@jax.jit
def window(x, i):
    part = x[i:i + 3]  # finding
    return part * SCALES[i]  # finding
""",
            """
import jax
import jax.numpy as jnp

SCALES = [1.0, 2.0, 4.0]

@jax.jit
def window(x, i):
    part = jax.lax.dynamic_slice_in_dim(x, i, 3)  # finding
    return part * jnp.array(SCALES)[i]  # finding
""",
        ),
        Example(
            "loops as long as an argument says",
            """
import jax
import jax.numpy as jnp

@jax.jit
def power(x, n):
    for _ in range(n):  # finding
        x = x * 2
    return x

@jax.jit
def ramp(x, n):
    total = jnp.zeros(n)
    for i in range(1, n):  # finding
        total = total.at[i].set(x * i)
    return total

@jax.jit
def rows(x):
    for i in range(x.shape[0]):
        x = x.at[i].add(i)
    return x
""",
            """
import functools

import jax
import jax.numpy as jnp

@jax.jit
def power(x, n):
    def body_fun(_, x):
        x = x * 2
        return x

    x = jax.lax.fori_loop(0, n, body_fun, x)
    return x

@functools.partial(jax.jit, static_argnames="n")
def ramp(x, n):
    total = jnp.zeros(n)
    for i in range(1, n):
        total = total.at[i].set(x * i)
    return total

@jax.jit
def rows(x):
    for i in range(x.shape[0]):
        x = x.at[i].add(i)
    return x
""",
        ),
        Example(
            "references of a Pallas kernel, by the place in the grid",
            """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref, *, rows=4):
    i = pl.program_id(0)
    o_ref[0, :] = x_ref[i, :] + x_ref[pl.ds(i * rows, 1), :][0]
    o_ref[1, :] = x_ref[i * rows:(i + 1) * rows, :].sum(axis=0)  # finding
    o_ref[2, :] = x_ref.at[0:rows][...].sum(axis=0)
    scales = [1.0, 2.0]

    @pl.loop(0, 2)
    def scale(row):
        o_ref[row, :] = o_ref[row, :] * scales[row]  # finding

    @pl.loop(0, 2, init_carry=jnp.float32(0.0))
    def total(row, carry):
        return carry + x_ref[row, 0]

def call(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((3, 8), jnp.float32), grid=(2,), interpret=True)(x)

call(jnp.ones((8, 8)))
""",
        ),
        Example(
            "a key that is made of a loop index",
            """
import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def f(params, x):
    def body(i, h):
        return h @ params[f"layer_{i}"]  # finding
    h = lax.fori_loop(0, len(params), body, x)
    for i in range(2):
        h = h @ params[f"layer_{i}"] + params[f"bias_{x.ndim}"]
    return h, {f"{x.shape}": x}
""",
        ),
        Example(
            "the keys of a dict of arrays",
            """
import jax
import jax.numpy as jnp

class Scaled:
    def __init__(self):
        self.scales = {"w": 2.0, "b": 1.0}

    def update(self, params, new):
        params = jax.tree.map(lambda old, new: jnp.where(old > 0, new, old), params, new)
        return sum(jnp.sum(self.scales[key] * params[key]) for key in params)

params = {"w": jnp.zeros(3), "b": jnp.ones(2)}
jax.jit(Scaled().update)(params, params)
""",
        ),
        Example(
            "arrays by a loop index, slices by static bounds",
            """
import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def f(weights, x):
    stacked = jnp.stack([jnp.eye(2), jnp.ones((2, 2))])
    def body(i, h):
        return h @ stacked[i] + weights[i]
    half = x.shape[0] // 2
    return lax.fori_loop(0, 2, body, x), x[:half], x[1:]
""",
        ),
    )

    def on_shape(self, event: ShapeEvent, report: Reporter) -> None:
        count = event.value
        if event.function != "range" or not isinstance(count, Array) or guarded(event):
            return
        if not count.staged or not count.certain:
            return
        advice, fix = static_size(event, count)
        if not advice:
            fix = propose(report, event.node, "range-to-fori-loop", "Loop by `lax.fori_loop`", safe=False)
        report(
            event.node,
            "a bound of `range` must be a Python integer, and this one is traced"
            + (advice or "; use `lax.fori_loop`"),
            reason=traced(event, count),
            fix=fix,
        )

    def on_index(self, event: IndexEvent, report: Reporter) -> None:
        index = event.index
        if (
            event.how not in ("list", "dict", "slice", "text")
            or not isinstance(index, Array)
            or guarded(event)
        ):
            return
        if not index.staged or not index.certain:
            return
        if event.how == "text":
            report(
                event.node,
                "the key is the text of a tracer, which has no number in it; index a stacked array",
                reason=traced(event, index),
            )
            return
        what = "a slice bound" if event.how == "slice" else "the index of a Python sequence"
        indexed = event.how != "dict"
        # Only `pl.ds(start, size)` reads a part of it.
        ref = isinstance(event.base, Array) and event.base.role == "ref"
        message = "Slice by lax.dynamic_slice_in_dim" if event.how == "slice" else "Index an array"
        advice, fix = static_size(event, index)
        if not advice and indexed and not ref:
            fix = propose(report, event.node, "sequence-to-array", message, safe=False)
        report(
            event.node,
            f"{what} must be a Python integer, and this one is traced"
            + (advice or ("; use `pl.ds(start, size)`" if ref else "")),
            reason=traced(event, index),
            fix=fix,
        )
