"""Gradients through loops that have no reverse mode."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import ReverseModeEvent
from jaxlint_rules._reasons import guarded


class ReverseModeWhileLoop(Rule):
    """A gradient is taken through a while loop.

    ## What it does
    Finds `lax.while_loop`, and `lax.fori_loop` with a traced bound, whose result depends on what `jax.grad`, `jax.vjp`,
    `jax.jacrev` or `jax.hessian` differentiates, and reaches the result of the differentiated function.

    ## Why is this bad?
    Reverse mode must keep the values of every step, and how many there are is not known: `ValueError: Reverse-mode
    differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop values`.

    ## Example
    ```python
    def root(theta):
        return lax.while_loop(unsettled, lambda x: newton(x, theta), jnp.ones_like(theta))

    jax.grad(root)(2.0)
    ```

    ## Use instead
    ```python
    def root(theta):
        return lax.fori_loop(0, 20, lambda _, x: newton(x, theta), jnp.ones_like(theta))

    jax.grad(root)(2.0)
    ```
    A number of steps that is a Python number becomes a scan, which has a reverse mode. Solutions of equations are better
    differentiated implicitly, with `jax.lax.custom_root` or a `jax.custom_vjp`. `jax.jacfwd` and `jax.jvp` differentiate a
    while loop as it is, and `lax.stop_gradient` says that no gradient is wanted.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Loops over counters, indices and conditions, which have no gradient, are not reported; nor is what a `custom_vjp` or
    `custom_jvp` does inside.

    ## References
    - [jax.lax.while_loop](https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html)
    - [jax.lax.custom_root](https://docs.jax.dev/en/latest/_autosummary/jax.lax.custom_root.html)
    """

    code = "JAX114"
    name = "reverse-mode-while-loop"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    examples = (
        Example(
            "a root by Newton's method",
            """
import jax
import jax.numpy as jnp
from jax import lax

def newton(theta, tolerance=1e-5):
    def unsettled(state):
        return state[1] > tolerance

    def step(state):
        x, _ = state
        change = (x**2 - theta) / (2 * x)
        return x - change, jnp.abs(change)

    x, _ = lax.while_loop(unsettled, step, (jnp.ones_like(theta), jnp.inf))  # finding
    return x

def loss(theta, target):
    return (newton(theta) - target) ** 2

@jax.jit
def update(theta, target):
    return theta - 0.1 * jax.grad(loss)(theta, target)
""",
        ),
        Example(
            "a traced number of steps, and other transformations",
            """
import jax
from jax import lax

@jax.jit
def smooth(x, steps):
    def run(v):
        return lax.fori_loop(0, steps, lambda i, c: c * 0.5, v)  # finding
    return jax.value_and_grad(run)(x)

def grow(x):
    return lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)  # finding

def main():
    value, pullback = jax.vjp(grow, 1.0)
    return value, pullback(1.0), jax.hessian(grow)(1.0)
""",
        ),
        Example(
            "loops that a gradient does not go through",
            """
import jax
import jax.numpy as jnp
from jax import lax

def count(x):
    return lax.while_loop(lambda n: n < 10, lambda n: n + 1, jnp.argmax(x))

def settle(x):
    return lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)

@jax.custom_vjp
def root(x):
    return settle(x)

root.defvjp(lambda x: (root(x), x), lambda x, g: (g / x,))

def loss(x, scale):
    fixed = lax.fori_loop(0, 3, lambda i, c: c * 0.5, x)
    return fixed + count(x) + lax.stop_gradient(settle(x)) + settle(scale) + root(x)

def with_aux(x):
    return x * x, settle(x)

def main(x):
    a = jax.grad(loss)(x, 2.0)
    b = jax.grad(with_aux, has_aux=True)(x)
    c = jax.jacfwd(settle)(x), jax.jvp(settle, (x,), (x,))
    return a, b, c, settle(x)
""",
        ),
    )

    def on_reverse_mode(self, event: ReverseModeEvent, report: Reporter) -> None:
        if guarded(event, convention=False):
            return
        t = event.transformed
        if t is None:
            reason = "a function that returns it is differentiated by `jax.vjp`"
        else:
            place = t.why.place(report.module)
            reason = f"its result reaches the result of `{t.label}`, which is passed to `{t.api}`{place}"
        report(
            event.node,
            f"`{event.api}` on values that are differentiated in reverse mode, which it does not have",
            reason=reason,
        )
