"""A division, root or logarithm whose gradient is not finite where its guard sets in."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import OperationEvent
from jaxlint.staging.frame import Frame
from jaxlint.staging.values import Operation, Value
from jaxlint_rules.numerics._expressions import made, number, same, unviewed

_EDGES = {
    "sqrt": (0.0,),
    "log": (0.0,),
    "log2": (0.0,),
    "arccos": (-1.0, 1.0),
    "arcsin": (-1.0, 1.0),
    "arctanh": (-1.0, 1.0),
}


class UnsafeDivision(Rule):
    """The gradient is infinite or NaN where a vector is zero, or where a clamp sets in.

    ## What it does
    In functions that a gradient is taken of, finds `x / jnp.linalg.norm(x)` without an epsilon, and `sqrt`, `log`, `arccos` and
    `arcsin` of a value that is clamped to exactly the edge of their domain: `jnp.sqrt(jnp.maximum(x, 0.0))`.

    ## Why is this bad?
    The norm has no gradient at zero: JAX gives NaN, also with an epsilon added after it. A clamp to the edge makes the value
    finite and leaves the slope infinite there; zero times infinity is NaN, and one such entry makes all parameters NaN.

    ## Example
    ```python
    unit = x / jnp.linalg.norm(x)
    d = jnp.sqrt(jnp.maximum(d2, 0.0))
    ```

    ## Use instead
    ```python
    unit = x * jax.lax.rsqrt(jnp.sum(x**2) + 1e-12)
    d = jnp.sqrt(jnp.maximum(d2, 1e-12))
    ```

    ## Fix safety
    There is no automatic fix: the epsilon is a choice.

    ## When not to fix
    When the argument cannot be zero.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html)
    """

    code = "JAX1107"
    name = "unsafe-division"
    category = "numerics"
    severity = Severity.WARNING
    preview = True
    examples = (
        Example(
            "a norm without epsilon, clamps to the edge",
            """
import jax
import jax.numpy as jnp

def unit(x):
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)  # finding

def distance(a, b):
    d2 = jnp.sum(jnp.square(a - b), axis=-1)
    return jnp.sqrt(jnp.maximum(d2, 0.0))  # finding

def angle(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(a, b), -1.0, 1.0))  # finding

def loss(a, b):
    a = jnp.asarray(a)
    return jnp.sum(distance(unit(a), b)) + angle(a, b)

grad = jax.grad(loss)
""",
        ),
        Example(
            "with an epsilon inside, a clamp short of the edge, or no gradient",
            """
import jax
import jax.numpy as jnp

def unit(x):
    return x * jax.lax.rsqrt(jnp.sum(x**2, axis=-1, keepdims=True) + 1e-12)

def distance(a, b):
    return jnp.sqrt(jnp.maximum(jnp.sum(jnp.square(a - b), axis=-1), 1e-12))

def angle(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(a, b), -0.999, 0.999))

def loss(a, b):
    return jnp.sum(distance(unit(a), b)) + angle(a, b)

grad = jax.grad(loss)

def metric(x):
    x = jnp.asarray(x)
    return x / jnp.linalg.norm(x), jnp.sqrt(jnp.maximum(x, 0.0))
""",
        ),
    )

    def __init__(self) -> None:
        self.found: list[tuple[OperationEvent, str, str]] = []

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test or _has_own_gradient(event.frame):
            return
        operation = event.operation
        if operation.name == "divide" and len(operation.args) == 2:
            norm = made(unviewed(operation.args[1]), "norm")
            if norm is not None and same(norm.args[0], operation.args[0]):
                message = "the gradient of this division by a norm is NaN where the vector is zero"
                self.found.append(
                    (event, message, "the norm has no gradient at zero, and no epsilon is under its root")
                )
            return
        edges = _EDGES.get(operation.name)
        clamp = made(operation.args[0], "maximum", "clip", "relu") if edges and operation.args else None
        if clamp is not None and edges is not None and any(_clamps_to(clamp, edge) for edge in edges):
            message = f"the slope of `{operation.name}` is infinite at the edge that its argument is clamped to: the gradient is NaN there"
            self.found.append((event, message, f"`{clamp.name}` clamps to exactly the edge of the domain"))

    def finish(self, report: Reporter) -> None:
        for event, message, reason in self.found:
            report.event = event
            if report.differentiated(event.frame):
                report(event.node, message, reason=reason)


def _has_own_gradient(frame: Frame) -> bool:
    """Whether the function has rules of its own for its derivative."""
    node = frame.function.node if frame.function is not None else None
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return any("custom_" in ast.unparse(decorator) for decorator in decorators)


def _clamps_to(clamp: Operation, edge: float) -> bool:
    if clamp.name == "relu":
        return edge == 0.0
    bounds: list[Value] = [*clamp.args[1:], *clamp.kwargs.values()]
    if clamp.name == "maximum":
        bounds = list(clamp.args)
    return any(number(bound) == edge for bound in bounds)
