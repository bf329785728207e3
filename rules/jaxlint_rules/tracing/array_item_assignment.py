"""Assignment to items of a JAX array."""

from __future__ import annotations

import ast

from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import StoreEvent
from jaxlint.staging.values import Array
from jaxlint_rules._reasons import guarded, traced


class ArrayItemAssignment(Rule):
    """An item of a JAX array is assigned to.

    ## What it does
    Finds `x[i] = v` and `x[i] += v` where `x` is a JAX array.

    ## Why is this bad?
    JAX arrays are immutable: `TypeError`, inside and outside `jit`.

    ## Example
    ```python
    x = jnp.zeros(3)
    x[0] = 1.0
    ```

    ## Use instead
    ```python
    x = jnp.zeros(3)
    x = x.at[0].set(1.0)
    ```
    Inside `jit` the update is done in place where that is possible.

    ## Fix safety
    Safe for plain variables: the statement raised before. Targets that are attributes or items themselves are left
    alone, since another name may hold the same array.

    ## When not to fix
    NumPy arrays, lists, dicts and Pallas references may be assigned to, and are not reported.

    ## References
    - [jax.numpy.ndarray.at](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html)
    """

    code = "JAX106"
    name = "array-item-assignment"
    category = "tracing"
    severity = Severity.ERROR
    fixable = "safe"
    examples = (
        Example(
            "plain and augmented assignment",
            """
import jax.numpy as jnp

def f(gain):
    v = jnp.zeros(8)
    v[0] = 1.0  # finding
    v[2:4] += gain  # finding
    return v
""",
            """
import jax.numpy as jnp

def f(gain):
    v = jnp.zeros(8)
    v = v.at[0].set(1.0)  # finding
    v = v.at[2:4].add(gain)  # finding
    return v
""",
        ),
        Example(
            "things that may be assigned to",
            """
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def f(x, batch):
    host = np.zeros(3)
    host[0] = 1.0
    parts = [jnp.zeros(2), jnp.ones(2)]
    parts[0] = x
    batch["x"] = x
    copy = np.array(jnp.ones(3))
    copy[0] = 2.0
    out = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((3,), jnp.float32))(x)
    return host, parts, batch, copy, out
""",
        ),
    )

    def on_store(self, event: StoreEvent, report: Reporter) -> None:
        base = event.base
        if (
            not isinstance(base, Array)
            or base.tree
            or not base.certain
            or base.role == "ref"
            or event.frame.stage.within("pallas")  # kernels hand references to loops and helpers
            or guarded(event)
        ):
            return
        name = ast.unparse(event.target.value)
        where = "a traced" if base.staged else "a JAX"
        fix = None
        if isinstance(event.target.value, ast.Name) and isinstance(event.node, (ast.Assign, ast.AugAssign)):
            step = Step("item-assignment-to-at", report.path, report.span(event.node))
            fix = FixRequest(Safety.SAFE, f"Replace by `{name}.at[...]`", (step,))
        report(
            event.node,
            f"`{name}` is {where} array and cannot be assigned to; use `{name} = {name}.at[...].set(...)`",
            reason=traced(event, base) if base.staged else f"`{name}` is the result of a JAX array function",
            fix=fix,
        )
