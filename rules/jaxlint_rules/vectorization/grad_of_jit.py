"""Training steps that are compiled in pieces: a gradient of a jitted loss, and an update outside of jit."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
from jaxlint.staging.syntax_facts import dotted
from jaxlint.staging.values import Partial, Transformed, Value
from jaxlint_rules._loops import host_loops, names_in

_KINDS = frozenset({"grad", "value_and_grad", "jacobian"})


class GradOfJit(Rule):
    """The gradient of a jitted function is taken outside of jit, in a loop.

    ## What it does
    Finds `jax.grad` or `jax.value_and_grad` of a jitted function, called in a loop outside of jit.

    ## Why is this bad?
    Jit belongs around the whole step. Differentiating a jitted function outside of jit runs its forward and its backward
    pass as programs of their own, works through the rules of differentiation in Python at every call, and leaves the
    update of the parameters to one small program per operation. For a small network a step took 3.9 ms that way and
    0.07 ms jitted as a whole (on a CPU).

    ## Example
    ```python
    grad_fn = jax.grad(jax.jit(loss))
    for batch in batches:
        grads = grad_fn(params, batch)
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    ```

    ## Use instead
    ```python
    @jax.jit
    def step(params, batch):
        grads = jax.grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)

    for batch in batches:
        params = step(params, batch)
    ```

    ## Fix safety
    There is no automatic fix: which lines make up the step is for the author to say.

    ## When not to fix
    When the function is so large that Python's share does not matter, or each gradient is looked at on the host.

    ## References
    - [JAX: key concepts, transformations](https://docs.jax.dev/en/latest/key-concepts.html#transformations)
    """

    code = "JAX705"
    name = "grad-of-jit"
    category = "vectorization"
    severity = Severity.WARNING
    examples = (
        Example(
            "a gradient of a jitted loss in a training loop",
            """
import jax
import jax.numpy as jnp

@jax.jit
def loss(w, x):
    return jnp.mean((x @ w) ** 2)

grad_fn = jax.grad(loss)

def train(w, xs):
    for x in xs:
        w = w - 0.1 * grad_fn(w, x)  # finding
    return w

def fit(w, x, steps):
    for _ in range(steps):
        value, grads = jax.value_and_grad(loss)(w, x)  # finding
        w = jax.tree.map(lambda p, g: p - 0.1 * g, w, grads)
    return w

def newton(w, x, steps):
    for _ in range(steps):
        w = w - jnp.linalg.solve(jax.hessian(loss)(w, x), w)  # finding
    return w
""",
        ),
        Example(
            "jit around the gradient, gradients inside of a step, once",
            """
import jax
import jax.numpy as jnp

@jax.jit
def loss(w, x):
    return jnp.mean((x @ w) ** 2)

grad_fn = jax.jit(jax.grad(loss))

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)

def train(w, xs):
    for x in xs:
        w = w - 0.1 * grad_fn(w, x)
        w = step(w, x)
    return w, jax.grad(loss)(w, xs[0])
""",
        ),
    )

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, frame = event.callee, event.frame
        if not isinstance(callee, Transformed) or callee.kind not in _KINDS or frame.stage.staged:
            return
        inner = _jitted(callee.target)
        if inner is None or frame.module.is_test or not isinstance(event.node, ast.Call):
            return
        loops = host_loops(frame)
        if not loops or not _steps(event.node, loops[0].node, report):
            return
        api = callee.api
        report(
            event.node,
            f"`{api}` of the jitted `{inner.label}` runs outside of jit in every iteration; jit the whole step",
            reason=(
                f"{inner.why.explain(report.module)}, {callee.why.explain(report.module)}, and called in the loop at "
                f"line {getattr(loops[0].node, 'lineno', '?')}"
            ),
        )


def _jitted(target: Value) -> Transformed | None:
    if isinstance(target, Partial):
        return _jitted(target.function)
    if isinstance(target, Transformed):
        return target if target.kind in JIT_KINDS and target.kind != "pmap" else None
    return None


def _steps(node: ast.Call, loop: ast.AST, report: Reporter) -> bool:
    """Whether the loop updates what it differentiates: an argument is bound anew in the body."""
    given = {name for argument in node.args for name in names_in(argument)}
    stored: set[str] = set()
    for child in ast.walk(loop):
        if isinstance(child, (ast.Name, ast.Attribute)) and isinstance(child.ctx, ast.Store):
            stored.add(dotted(child).partition(".")[0])
    target = getattr(loop, "target", None)
    return bool(given & (stored - (names_in(target) if target is not None else set())))
