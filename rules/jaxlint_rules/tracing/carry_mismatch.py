"""Loops whose carry changes its type."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import CarryEvent
from jaxlint.staging.values import (
    ListValue,
    TupleValue,
)
from jaxlint_rules._reasons import guarded
from jaxlint_rules.tracing._structures import changed_in_size, describe, difference, kind_of, shapes_of_parts


class CarryMismatch(Rule):
    """The carry of a loop changes its type.

    ## What it does
    Finds `lax.scan`, `lax.while_loop` and `lax.fori_loop` whose body certainly returns a carry of another structure,
    dtype or shape than the one it starts from, and bodies of `lax.scan` that do not return a pair.

    ## Why is this bad?
    The loop is compiled once, for one type of carry: `TypeError: ... carry input and carry output must have equal types`.

    ## Example
    ```python
    lax.scan(lambda total, x: (total + x.sum(), None), jnp.int32(0), xs)  # xs are floats
    ```

    ## Use instead
    ```python
    lax.scan(lambda total, x: (total + x.sum(), None), jnp.float32(0), xs)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    A Python number as the start takes on the dtype of the body's result where that is wider (`0` may become a float),
    and is not reported then. Where a type is not certain, nothing is reported.

    ## References
    - [jax.lax.scan](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html)
    """

    code = "JAX113"
    name = "carry-mismatch"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    examples = (
        Example(
            "other dtypes, shapes and structures",
            """
import jax
import jax.numpy as jnp
from jax import lax

def body(carry, x):
    return carry + 1

def run(xs, n):
    a = lax.scan(lambda c, x: (c * 0.5, x), jnp.int32(3), xs)  # finding
    b = lax.fori_loop(0, n, lambda i, c: jnp.ones(3) + c, 0.0)  # finding
    c = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1,), (0, 1.0))  # finding
    d = lax.scan(body, jnp.zeros(()), xs)  # finding
    e = lax.fori_loop(0, n, lambda i, s: {"x": s["x"], "i": i}, {"x": 0.0})  # finding
    f = lax.scan(lambda c, x: (c.astype(jnp.bfloat16), None), jnp.zeros(4), xs)  # finding
    g = lax.scan(lambda c, x: (x, x, x), 0.0, xs)  # finding
    return a, b, c, d, e, f, g
""",
        ),
        Example(
            "a body that returns its next carry alone, which is taken for the carry and an output",
            """
import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)

def update(params, state, x):
    gradient = jax.grad(lambda p: jnp.sum(p * x))(params)
    updates, state = tx.update(gradient, state)
    return optax.apply_updates(params, updates), state

def alone(carry, x):
    return update(*carry, x)

def paired(carry, x):
    return update(*carry, x), None

def fit(params, xs):
    return jax.lax.scan(alone, (params, tx.init(params)), xs)  # finding

def fitted(params, xs):
    return jax.lax.scan(paired, (params, tx.init(params)), xs)

def plain(params, xs):
    return jax.lax.scan(lambda p, x: (optax.apply_updates(p, x), x), params, xs)
""",
        ),
        Example(
            "a carry that grows or shrinks",
            """
import jax
import jax.numpy as jnp
from jax import lax

def run(history, xs, n):
    def keep(history, x):
        history = jnp.concatenate([history, x[None]])
        return history, history.sum()

    def slide(history, x):
        return jnp.concatenate([history[1:], x[None]]), None

    a = lax.scan(keep, jnp.zeros(0), xs)  # finding
    b = lax.scan(lambda c, x: (jnp.append(c, x), None), history, xs)  # finding
    c = lax.fori_loop(0, n, lambda i, c: c[1:], jnp.ones(4))  # finding
    d = lax.fori_loop(0, n, lambda i, s: (s[0] + 1, jnp.vstack([s[1], s[1]])), (0, history))  # finding
    e = lax.scan(lambda c, x: ((c, x), None), history, xs)  # finding
    f = lax.scan(slide, history, xs)
    g = lax.fori_loop(0, n, lambda i, c: c[::-1], jnp.ones(4))
    return a, b, c, d, e, f, g
""",
        ),
        Example(
            "a carry that keeps its type, and numbers that widen",
            """
import jax
import jax.numpy as jnp
from jax import lax

def run(xs, state, n):
    a = lax.scan(lambda c, x: (c * 0.5, x), 0, xs)
    b = lax.fori_loop(0, n, lambda i, c: c + jnp.ones(3), jnp.zeros(3))
    c = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, 1.0))
    d = lax.scan(lambda c, x: ({"total": c["total"] + x}, x), {"total": 0.0}, xs)
    e = lax.scan(lambda c, x: (c, None), None, xs)
    f = lax.scan(lambda c, x: [c + 1, x], jnp.int32(0), xs)
    g = lax.fori_loop(0, n, lambda i, c: c.at[i].set(1.5), jnp.zeros(3, dtype=jnp.bfloat16))
    return a, b, c, d, e, f, g, lax.scan(lambda c, x: (c + x, x), state, xs)
""",
        ),
    )

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        if guarded(event, convention=False):
            return
        result = event.result
        if event.api.endswith("scan"):
            if self.no_pair(event, report):
                return
            assert isinstance(result, (TupleValue, ListValue))
            if result.items is None or len(result.items) != 2:
                return
            result = result.items[0]
        known = shapes_of_parts(event.init, event.carry)
        found = difference(event.init, result, known, carry=True) or changed_in_size(event.carry, result)
        if found:
            report(
                event.node,
                f"the carry of `{event.api}` changes its type in the body: {found}",
                reason="the loop is compiled once, for the type of the carry that it starts from",
            )

    def no_pair(self, event: CarryEvent, report: Reporter) -> bool:
        """Whether the body of a scan does not return a pair, or may not."""
        result = event.result
        kind = kind_of(result)
        pair = isinstance(result, (TupleValue, ListValue)) and len(result.items or ()) == 2
        if kind and not pair:
            report(
                event.node,
                f"the body of `{event.api}` must return a pair `(carry, output)`, and returns {describe(result)}",
                reason="the first part is the next carry, the second is stacked; `None` where there is none",
            )
        return not pair
