"""Training steps that are compiled in pieces, or not at all: a gradient, and an update, outside of jit."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
from jaxlint.staging.values import Partial, Transformed, Value
from jaxlint_rules._eager import report_eager, steps
from jaxlint_rules._loops import host_loops

_KINDS = frozenset({"grad", "value_and_grad", "jacobian"})


class GradOfJit(Rule):
    """A gradient is taken outside of jit, in a loop.

    ## What it does
    Finds `jax.grad` or `jax.value_and_grad` of a jitted function, called in a loop outside of jit; and of a function that nothing
    jits, where the program itself is seen to run the loop, which updates what the gradient is taken of.

    ## Why is this bad?
    Jit belongs around the whole step. Differentiating a jitted function outside of jit runs its forward and its backward
    pass as programs of their own, works through the rules of differentiation in Python at every call, and leaves the
    update of the parameters to one small program per operation; of a function that is not jitted, each operation is one. For a small network a step took 3.9 ms that way and
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
            "a gradient that nothing compiles, in a loop of the program",
            """
import jax
import jax.numpy as jnp
import optax

def loss(params, x, y):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((h @ params["w2"] - y) ** 2)

value_and_grad = jax.value_and_grad(loss)

def train(params, x, y, n):
    opt = optax.sgd(0.1)
    state = opt.init(params)
    for _ in range(n):
        value, grads = value_and_grad(params, x, y)  # finding
        updates, state = opt.update(grads, state)
        params = optax.apply_updates(params, updates)
    return params

def adapt(params, x, y, n):
    for _ in range(n):
        grads = jax.grad(loss)(params, x, y)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return loss(params, x, y)

@jax.jit
def meta_step(params, x, y):
    grads = jax.grad(lambda p: adapt(p, x, y, 5))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

def sensitivity(params, points):
    return [value_and_grad(params, x, x[:, :1])[0] for x in points]

def square(w):
    return w**2

def descend(w):
    for _ in range(100):
        w = w - 0.1 * jax.grad(square)(w)
    return w

def main():
    params = {"w1": jnp.ones((3, 4)), "b1": jnp.zeros(4), "w2": jnp.ones((4, 1))}
    x, y = jnp.ones((8, 3)), jnp.ones((8, 1))
    params = train(meta_step(params, x, y), x, y, 100)
    with jax.disable_jit(False):
        print(value_and_grad(params, x, y), sensitivity(params, [x]), descend(1.0))

main()
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
        inner, api = _jitted(callee.target), callee.api
        if inner is None:
            report_eager(event, callee, report, api, "jit the whole step")
            return
        if frame.module.is_test or not isinstance(event.node, ast.Call):
            return
        loops = host_loops(frame)
        if not loops or not steps(event.node, loops[0].node):
            return
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
