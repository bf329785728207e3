"""A root or logarithm whose gradient is not finite where its clamp sets in."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import OperationEvent
from jaxlint.staging.values import Operation, Value
from jaxlint_rules.numerics._expressions import has_own_gradient, made, number

_EDGES = {
    "sqrt": (0.0,),
    "log": (0.0,),
    "log2": (0.0,),
    "arccos": (-1.0, 1.0),
    "arcsin": (-1.0, 1.0),
    "arctanh": (-1.0, 1.0),
}


class ClampToEdge(Rule):
    """The gradient is infinite or NaN where a clamp sets in.

    ## What it does
    In functions that a gradient is taken of, finds `sqrt`, `log`, `arccos`, `arcsin` and `arctanh` of a value that is clamped to
    exactly the edge of their domain: `jnp.sqrt(jnp.maximum(x, 0.0))`, `jnp.arccos(jnp.clip(x, -1, 1))`.

    ## Why is this bad?
    A clamp to the edge makes the value finite and leaves the slope infinite there; zero times infinity is NaN, and one such entry
    makes the gradient of all parameters NaN. It happens wherever the clamp does its work.

    ## Example
    ```python
    d = jnp.sqrt(jnp.maximum(d2, 0.0))
    angle = jnp.arccos(jnp.clip(cosine, -1.0, 1.0))
    ```

    ## Use instead
    ```python
    d = jnp.sqrt(jnp.maximum(d2, 1e-12))
    angle = jnp.arccos(jnp.clip(cosine, -1.0 + 1e-6, 1.0 - 1e-6))
    ```

    ## Fix safety
    There is no automatic fix: the epsilon is a choice.

    ## When not to fix
    When the argument never reaches the edge, so that the clamp is not needed.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html)
    """

    code = "JAX1109"
    name = "clamp-to-edge"
    category = "numerics"
    severity = Severity.WARNING
    examples = (
        Example(
            "clamps to the edge",
            """
import jax
import jax.numpy as jnp

def distance(a, b):
    d2 = jnp.sum(jnp.square(a - b), axis=-1)
    return jnp.sqrt(jnp.maximum(d2, 0.0))  # finding

def angle(a, b):
    cosine = jnp.dot(a, b)
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))  # finding

class Rotation:
    def pitch(self, q):
        return jnp.arcsin(jnp.clip(2 * (q[0] * q[2]), min=-1, max=1)) + jnp.log(jax.nn.relu(q[3]))  # finding

def loss(a, b):
    return jnp.sum(distance(a, b)) + angle(a, b) + Rotation().pitch(a)

grad = jax.grad(loss)
""",
        ),
        Example(
            "a clamp short of the edge, or no gradient",
            """
import jax
import jax.numpy as jnp

def distance(a, b):
    return jnp.sqrt(jnp.maximum(jnp.sum(jnp.square(a - b), axis=-1), 1e-12))

def angle(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(a, b), -0.999, 0.999)) + jnp.log(jax.nn.relu(a[0]) + 1e-6)

def loss(a, b):
    return jnp.sum(distance(a, b)) + angle(a, b)

grad = jax.grad(loss)

def metric(x):
    x = jnp.asarray(x)
    return jnp.sqrt(jnp.maximum(x, 0.0)), jnp.arccos(jnp.clip(x, -1.0, 1.0))
""",
        ),
    )

    def __init__(self) -> None:
        self.found: list[tuple[OperationEvent, Operation]] = []

    @concerns(*_EDGES)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        edges = _EDGES.get(operation.name)
        if edges is None or event.frame.module.is_test or has_own_gradient(event.frame):
            return
        clamp = made(operation.args[0], "maximum", "clip", "relu") if operation.args else None
        if clamp is not None and any(_clamps_to(clamp, edge) for edge in edges):
            self.found.append((event, clamp))

    def finish(self, report: Reporter) -> None:
        for event, clamp in self.found:
            report.event = event
            if report.differentiated(event.frame):
                report(
                    event.node,
                    f"the slope of `{event.operation.name}` is infinite at the edge that its argument is clamped to: the gradient "
                    "is NaN there",
                    reason=f"`{clamp.name}` clamps to exactly the edge of the domain",
                )


def _clamps_to(clamp: Operation, edge: float) -> bool:
    if clamp.name == "relu":
        return edge == 0.0
    bounds: list[Value] = [*clamp.args[1:], *clamp.kwargs.values()]
    if clamp.name == "maximum":
        bounds = list(clamp.args)
    return any(number(bound) == edge for bound in bounds)
