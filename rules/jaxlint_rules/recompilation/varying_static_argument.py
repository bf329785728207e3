"""Static arguments that are new in every iteration."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import StaticArgumentEvent
from jaxlint.staging.syntax_facts import dotted, walk
from jaxlint.staging.values import Array, Static
from jaxlint_rules._fixes import declare_traced
from jaxlint_rules._loops import assigned_once, counters, growing, host_loops, names_in


class VaryingStaticArgument(Rule):
    """A static argument has another value in every iteration.

    ## What it does
    Finds calls of jitted functions in a loop that pass a counter of the loop, something computed from it, or the length of
    a list that grows, for a parameter that is declared static.

    ## Why is this bad?
    JAX compiles a program for each value of a static argument. A step counter or a learning rate makes every
    iteration compile: over 100 ms a call for a multiplication that takes 0.01 ms with a traced argument (on a CPU).

    ## Example
    ```python
    step = jax.jit(update, static_argnames="i")
    for i in range(steps):
        params = step(params, batch, i=i)
    ```

    ## Use instead
    ```python
    step = jax.jit(update)
    for i in range(steps):
        params = step(params, batch, i=i)
    ```
    With `jnp.where` or `lax.cond` in place of Python branches on `i`.

    ## Fix safety
    Unsafe: the parameter is taken out of what is static. It is then a number of the device (32 bits, weakly typed), not one
    of Python, which rounds otherwise. Only where the function is defined in the same file and does no more than compute with
    it: one that makes a shape, a slice, a range or a Python branch of it, or hands it to a function that might, has to know it.

    ## When not to fix
    When the values are few and come back, as with the levels of a pyramid: each is compiled once.

    ## References
    - [JAX: static arguments](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX402"
    name = "varying-static-argument"
    category = "recompilation"
    severity = Severity.WARNING
    fixable = "unsafe"
    examples = (
        Example(
            "a step counter, a schedule, the length of a list",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("i", "lr", "n"))
def step(w, i=0, lr=0.1, n=1):
    return w * lr + i / n

def train(w, steps, decay):
    seen = []
    for i in range(steps):
        w = step(w, i=i)  # finding
        lr = 0.1 * decay**i
        w = step(w, lr=lr)  # finding
        seen.append(w)
        w = step(w, n=len(seen))  # finding
    return w
""",
        ),
        Example(
            "a counter that is computed with, and one that makes a shape",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("i", "n"))
def step(w, i, n):
    return w * 0.9**i + jnp.ones(n)

def train(w, steps):
    for i in range(steps):
        w = step(w, i, 3)  # finding
    return w

@partial(jax.jit, static_argnums=1)
def window(w, i):
    return w[:i].sum()

def sums(w, steps):
    total = 0.0
    for i in range(steps):
        total += window(w, i)  # finding
    return total
""",
            fixed="""
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="n")
def step(w, i, n):
    return w * 0.9**i + jnp.ones(n)

def train(w, steps):
    for i in range(steps):
        w = step(w, i, 3)
    return w

@partial(jax.jit, static_argnums=1)
def window(w, i):
    return w[:i].sum()

def sums(w, steps):
    total = 0.0
    for i in range(steps):
        total += window(w, i)
    return total
""",
        ),
        Example(
            "traced arguments, few values, the same value each time",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("training", "level"))
def step(w, i, training=True, level=0):
    return w + i if training else w * level

def train(w, steps, size):
    for i in range(steps):
        w = step(w, i)
        w = step(w, i, training=i < 10)
        w = step(w, i, training=i % 100 == 0, level=i % 4)
        w = step(w, i, level=size)
    for level in (1, 2, 3):
        w = step(w, 0, level=level)
    for level in range(3):
        w = step(w, 0, level=level)
    return w
""",
        ),
    )

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        frame, argument = event.frame, event.argument
        if argument is None or frame.stage.staged or frame.module.is_test:
            return
        if isinstance(event.value, Array) and event.value.staged:
            return
        if isinstance(event.value, Static) and event.value.kind in ("bool", "str"):
            return
        for loop in host_loops(frame):
            if len(frame.guards) > loop.guards:
                return
            name = _varies(argument, loop.node)
            if name:
                line = getattr(loop.node, "lineno", "?")
                label = event.transformed.label
                report(
                    argument,
                    f"`{label}` is compiled anew in every iteration: its static argument `{event.parameter}` follows `{name}`",
                    reason=f"{event.transformed.why.explain(report.module)}, and called in the loop at line {line}",
                    fix=declare_traced(event.transformed.node, event.transformed.module, event.parameter),
                )
                return


def _varies(node: ast.expr, loop: ast.AST, depth: int = 0) -> str:
    """The name that makes an expression new in each iteration; "" where it may take few values."""
    for child in walk(node):
        if isinstance(child, (ast.Compare, ast.BoolOp, ast.Not, ast.Subscript, ast.Attribute, ast.IfExp)):
            return ""
        if isinstance(child, ast.BinOp) and isinstance(child.op, (ast.Mod, ast.FloorDiv)):
            return ""
        if isinstance(child, ast.Call) and dotted(child.func) not in ("len", "float", "int"):
            return ""
    if isinstance(node, ast.Call) and dotted(node.func) == "len":
        name = dotted(node.args[0]) if node.args else ""
        return f"len({name})" if name in growing(loop) else ""
    used = names_in(node)
    found = used & counters(loop)
    if found:
        return sorted(found)[0]
    if isinstance(node, ast.Name) and depth < 2:
        bound = assigned_once(loop).get(node.id)
        return _varies(bound, loop, depth + 1) if bound is not None else ""
    return ""
