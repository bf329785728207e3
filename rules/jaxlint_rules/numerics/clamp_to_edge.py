"""Roots and logarithms whose gradient is not finite at the bound of a clamp."""

from __future__ import annotations

import ast
import struct

from jaxlint.api import DifferentiatedEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array, Operation, Value, dtype_of
from jaxlint.finding import Severity
from jaxlint_rules._x64 import may_have_x64
from jaxlint_rules.numerics._expressions import has_own_gradient, made, number, without_views
from jaxlint_rules.numerics._needs import Needs

_EDGES = {
    "sqrt": (0.0,),
    "log": (0.0,),
    "log2": (0.0,),
    "arccos": (-1.0, 1.0),
    "arcsin": (-1.0, 1.0),
    "arctanh": (-1.0, 1.0),
    "arccosh": (1.0,),
}


_LARGEST = 1e38  # of float32, about


class ClampToEdge(Rule):
    """The gradient is NaN where a clamp reaches the edge of a domain.

    ## What it does
    Finds, in differentiated functions, `sqrt`, `log`, `arccos`, `arcsin`, `arctanh` and `arccosh`
    of a value that is clamped to exactly the edge of the domain: `jnp.sqrt(jnp.maximum(x, 0.0))`,
    `jnp.arccos(jnp.clip(x, -1, 1))`. A bound such as `1 - 1e-8` is 1 in float32. The complement
    counts too: `jnp.log(1 - jnp.clip(p, 1e-12, 1 - 1e-12))`. Also finds, without a clamp, the angle
    `jnp.arccos(u @ v / (norm(u) * norm(v)))` and the distance `jnp.arccosh(1 + x)`.

    ## Why is this bad?
    At the edge the value is finite but its derivative is infinite. The chain rule multiplies
    infinity by the zero gradient of the clamp, which is NaN, and one such element makes the
    gradient of all parameters NaN. It happens wherever the clamp takes effect.

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
    There is no automatic fix: you must choose the epsilon.

    ## When not to fix
    Keep it if the argument never reaches the edge; then you do not need the clamp.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html)
    """

    code = "JAX1109"
    name = "clamp-to-edge"
    category = "numerics"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.found: list[tuple[OperationEvent, str]] = []
        self.needs = Needs()
        self.in_kernels: set[ast.AST] = (
            set()
        )  # reverse mode through a kernel raises: it has a rule, or no gradient

    @concerns(*_EDGES)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        edges = _EDGES.get(operation.name)
        if edges is None or event.frame.module.is_test or has_own_gradient(event.frame):
            return
        if event.frame.stage.within("pallas"):
            self.in_kernels.add(event.node)
            return
        argument = operation.args[0] if operation.args else None
        clamp = made(argument, "maximum", "clip")  # `relu` drops the gradient where it clamps
        if operation.name == "log" and clamp is None and (rest := made(argument, "subtract")) is not None:
            # `log(1 - p)` of a probability
            if len(rest.args) == 2 and number(rest.args[0]) == 1.0:
                clamp, edges = made(rest.args[1], "minimum", "clip"), (1.0,)
        found = next(filter(None, (_clamped(clamp, edge, report) for edge in edges)), "") if clamp else ""
        if found:
            self.found.append((event, found))
        elif (
            isinstance(argument, Array)
            and argument.flow is not None
            and (reason := _reaches(operation.name, argument))
        ):
            self.found.append((event, reason))

    def on_differentiated(self, event: DifferentiatedEvent, report: Reporter) -> None:
        self.needs.add(event)

    def finish(self, report: Reporter) -> None:
        for event, reason in self.found:
            report.event = event
            if event.node in self.in_kernels or self.needs.are_none_for(event.operation):
                continue
            if report.differentiated(event.frame):
                report(
                    event.node,
                    f"the gradient of `{event.operation.name}` is NaN at the edge of its domain, which is reached; clamp strictly inside it",
                    reason=reason,
                )


def _reaches(name: str, argument: Value) -> str:
    """Why an unclamped argument reaches the bound anyway; "" if it is not known to."""
    if name in ("arccos", "arcsin"):
        quotient = made(argument, "divide")
        if quotient is not None and len(quotient.args) == 2 and _is_length(quotient.args[1]):
            return "the cosine of parallel vectors is 1, and rounding may exceed 1"
    if name == "arccosh":
        total = made(argument, "add")
        positive = total is not None and any(made(part, "exp", "softplus") is not None for part in total.args)
        if total is not None and not positive and any(number(part) == 1.0 for part in total.args):
            return "it is 1 where the added term is zero, for example for a point and itself"
    return ""


def _is_length(value: Value, depth: int = 4) -> bool:
    """A norm, or a product of norms."""
    operation = made(without_views(value), "norm", "multiply")
    if operation is None or depth == 0:
        return False
    return operation.name == "norm" or all(_is_length(part, depth - 1) for part in operation.args)


def _clamped(clamp: Operation, edge: float, report: Reporter) -> str:
    """Why a clamp reaches the edge of a domain; "" if it does not."""
    given = [*clamp.args, *clamp.kwargs.values()] if clamp.name in ("maximum", "minimum") else None
    values: list[Value] = given or [*clamp.args[1:], *clamp.kwargs.values()]
    bounds = [found for value in values if isinstance(found := number(value), (int, float))]
    if edge in bounds:
        return f"`{clamp.name}` clamps exactly to the edge of the domain"
    wide = any(dtype_of(value) == "float64" for value in clamp.args) or may_have_x64(report, report.module)
    for bound in () if wide else bounds:
        if abs(bound) < _LARGEST and struct.unpack("f", struct.pack("f", bound))[0] == edge:
            return f"the bound {bound!r} of `{clamp.name}` rounds to {edge:g} in float32"
    return ""
