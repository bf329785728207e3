"""Branches of `lax.cond` and `lax.switch` that return different types."""

from __future__ import annotations

from itertools import combinations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import BranchesEvent
from jaxlint.staging.shapes import Shape
from jaxlint.staging.values import Origin
from jaxlint_rules._reasons import guarded
from jaxlint_rules.tracing._structures import changed_in_size, difference, shapes_of_parts

MAX_COMPARED = 16  # branches


class BranchMismatch(Rule):
    """The branches of a conditional return different types.

    ## What it does
    Finds `lax.cond` and `lax.switch` whose branches certainly return different structures (another number of results,
    other dict keys, `None` in one of them), dtypes or shapes.

    ## Why is this bad?
    All branches become parts of one program, whose result has one type: `TypeError`, whichever branch would be taken. Python
    numbers are no exception: `0` and `0.0` differ.

    ## Example
    ```python
    lax.cond(ok, lambda x: x * 2.0, lambda x: 0, x)
    ```

    ## Use instead
    ```python
    lax.cond(ok, lambda x: x * 2.0, lambda x: jnp.zeros_like(x), x)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Where a type is not certain, nothing is reported.

    ## References
    - [jax.lax.cond](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html)
    """

    code = "JAX112"
    name = "branch-mismatch"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    examples = (
        Example(
            "numbers of other types, other structures, other shapes",
            """
import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def f(ok, x, index):
    a = lax.cond(ok, lambda: 1.0, lambda: 0)  # finding
    b = lax.cond(ok, lambda v: (v, v), lambda v: (v, v, v), x)  # finding
    c = lax.cond(ok, lambda: {"loss": 0.0}, lambda: {"loss": 0.0, "aux": 1.0})  # finding
    d = lax.cond(ok, lambda: jnp.zeros(3), lambda: 0.0)  # finding
    e = lax.switch(index, [lambda v: jnp.sin(v), lambda v: None], x)  # finding
    g = lax.cond(ok, lambda v: jnp.sum(v).astype(jnp.float32), lambda v: jnp.argmax(v), x)  # finding
    return a, b, c, d, e, g
""",
        ),
        Example(
            "what the branches make of an operand",
            """
import jax
import jax.numpy as jnp
from jax import lax

def f(ok, x):
    a = lax.cond(ok, lambda v: v.sum(), lambda v: v, jnp.ones(3))  # finding
    b = lax.switch(1, [lambda v: v[::2], lambda v: v], jnp.ones(6))  # finding
    c = lax.cond(ok, lambda v: (v, 1.0), lambda v: v, x)  # finding
    d = lax.cond(ok, lambda v: jnp.append(v, 0.0), lambda v: v, jnp.sin(x))  # finding
    e = lax.cond(ok, lambda v: v.mean(axis=1), lambda v: v @ jnp.ones(2), jnp.ones((3, 2)))
    g = lax.cond(ok, lambda v: jnp.append(v[1:], 0.0), lambda v: v, jnp.sin(x))
    h = lax.cond(ok, lambda v: v[:3], lambda v: v, x)
    i = lax.switch(2, [lambda v: 1, lambda v: 0.5 * v, lambda v: jnp.cos(v)], x)  # finding
    j = lax.switch(2, [lambda v: 1.0, lambda v: 0.5 * v], x)
    k = lax.switch(2, [lambda v: 1, lambda v: 2 * v], x)
    l = lax.cond(ok, lambda v: v.sum(axis=0), lambda v: v, jnp.sin(x))  # finding
    m = lax.cond(ok, lambda v: jnp.max(v, axis=-1, keepdims=True), lambda v: v, jnp.sin(x))
    n = lax.cond(ok, lambda v: v.sum(), lambda v: v, jnp.sin(x))
    o = lax.cond(ok, lambda v: v.mean(axis=0), lambda v: v[0], jnp.sin(x))
    return a, b, c, d, e, g, h, i, j, k, l, m, n, o

@jax.jit
def pool(ok, x, axis):
    a = lax.cond(ok, lambda v: v.mean(axis=0), lambda v: v.max(axis=0, keepdims=True), x)  # finding
    b = lax.cond(ok, lambda v: jnp.sum(jnp.exp(v), -1), lambda v: jnp.sqrt(v), x)  # finding
    c = lax.cond(ok, lambda v: v.mean(axis=0), lambda v: v.max(axis=1), x)
    d = lax.cond(ok, lambda v: v.sum(keepdims=True), lambda v: jnp.exp(v), x)
    e = lax.cond(ok, lambda v: v.sum(axis=axis), lambda v: jnp.exp(v), x)
    g = lax.cond(ok, lambda v: jnp.expand_dims(v.max(axis=0), 0), lambda v: v.max(axis=0, keepdims=True), x)
    return a, b, c, d, e, g
""",
        ),
        Example(
            "branches that a table holds, and two that differ though of the first nothing is known",
            """
import jax
import jax.numpy as jnp
from jax import lax

def hold(state):
    return state["pos"]

def seek(state):
    return state["pos"] + 0.1, state["goal"]

def drift(state):
    return state["pos"] * 0.9

MODES = {"hold": hold, "seek": seek, "drift": drift}
CALM = {"hold": hold, "drift": drift}

class Agent:
    def __init__(self):
        self.modes = {"hold": hold, "seek": seek, "drift": drift}
        self.order = ("hold", "seek", "drift")

    def act(self, mode, state):
        return lax.switch(mode, [self.modes[name] for name in self.order], state)  # finding

@jax.jit
def control(mode, state):
    a = lax.switch(mode, list(MODES.values()), state)  # finding
    b = lax.switch(mode, [*MODES.values()], state)  # finding
    c = lax.switch(mode, tuple(CALM.values()), state)
    return a, b, c

act = jax.jit(Agent().act)
""",
        ),
        Example(
            "the same types, and types that are not known",
            """
import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def f(ok, x, y):
    a = lax.cond(ok, lambda: 1.0, lambda: jnp.float32(0))
    b = lax.cond(ok, lambda v: v, lambda v: jnp.zeros_like(v), x)
    c = lax.cond(ok, lambda: (x, {"a": 1.0}), lambda: (y, {"a": 2.0}))
    d = lax.cond(ok, lambda: jnp.zeros((2, 3)), lambda: jnp.ones((3,)) * jnp.ones((2, 1)))
    e = lax.cond(ok, lambda: jnp.sum(x), lambda: 0.0)
    g = lax.cond(ok, lambda: None, lambda: None)
    return a, b, c, d, e, g
""",
        ),
    )

    def on_branches(self, event: BranchesEvent, report: Reporter) -> None:
        if len(event.results) < 2 or guarded(event, convention=False):
            return
        known: dict[Origin, Shape] = {}
        for operand in event.operands:
            known.update(shapes_of_parts(operand, operand))
        for one, other in combinations(event.results[:MAX_COMPARED], 2):  # of any one little may be known
            found = difference(one, other, known) or changed_in_size(one, other)
            if found:
                report(
                    event.node,
                    f"the branches of `{event.api}` return different types: {found}",
                    reason="all branches are compiled into one program, whose result has one structure, dtype and shape",
                )
                return
