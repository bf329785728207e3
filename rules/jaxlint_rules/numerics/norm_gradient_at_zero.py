"""The norm of what is certainly zero, or begins as zero, is differentiated."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import OperationEvent
from jaxlint.staging.values import Array, Operation, Value, constant
from jaxlint_rules.numerics._expressions import made, same, unviewed

_ROUNDING = ("round", "rint", "jax.numpy.round", "jax.numpy.rint")


class NormGradientAtZero(Rule):
    """A norm is differentiated where it is zero: of pairwise differences, or of parameters before it is squared.

    ## What it does
    Finds `jnp.linalg.norm(x[:, None] - x[None])`, and the same as `sqrt(sum(d**2))`, in functions that a gradient is
    taken of; and the square of the norm of what is differentiated, `jnp.linalg.norm(w) ** 2`.

    ## Why is this bad?
    Each point has distance zero to itself, and the derivative of the norm at zero is 0/0: NaN. A mask applied
    afterwards drops the value, not the NaN of the gradient. The square of a norm has the gradient zero there, and JAX gives NaN
    all the same, since it differentiates the root first; biases begin as zeros.

    ## Example
    ```python
    delta = x[:, None] - x[None]
    d = jnp.linalg.norm(delta, axis=-1)
    ```

    ## Use instead
    ```python
    delta = x[:, None] - x[None]
    d2 = jnp.sum(delta**2, axis=-1)
    d = jnp.where(d2 > 0, jnp.sqrt(jnp.where(d2 > 0, d2, 1.0)), 0.0)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Norms of other vectors are zero by chance at most, and are not reported; nor is what has a small number added under
    the root, or no gradient taken through it.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where)
    """

    code = "JAX1102"
    name = "norm-gradient-at-zero"
    category = "numerics"
    severity = Severity.WARNING
    examples = (
        Example(
            "norm, and root of a sum of squares",
            """
import jax
import jax.numpy as jnp

def distances(x):
    delta = x[:, None, :] - x[None, :, :]
    return jnp.linalg.norm(delta, axis=-1)  # finding

def by_hand(x):
    d = jnp.expand_dims(x, 0) - jnp.expand_dims(x, 1)
    return jnp.sqrt(jnp.sum(d**2, axis=-1))  # finding

def energy(x):
    off = ~jnp.eye(x.shape[0], dtype=bool)
    return jnp.where(off, distances(x), 0.0).sum() + (by_hand(x) ** 2).sum()

forces = jax.grad(energy)
""",
        ),
        Example(
            "the nearest image in a periodic box",
            """
import jax
import jax.numpy as jnp

def displacements(x, box=10.0):
    delta = x[:, None, :] - x[None, :, :]
    return delta - box * jnp.round(delta / box)

def energy(x):
    return jnp.sum(1 / (1 + jnp.sqrt(jnp.sum(displacements(x) ** 2, axis=-1))))  # finding

def shifted(x, y, box):
    delta = x[:, None, :] - x[None, :, :]
    return jnp.sum(jnp.linalg.norm(delta - box * jnp.round(y / box), axis=-1))

x = jnp.ones((3, 3))
print(jax.grad(energy)(x), jax.grad(shifted)(x, x, 10.0))
""",
        ),
        Example(
            "the square of a norm of parameters",
            """
import equinox as eqx
import jax
import jax.numpy as jnp

class Linear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __call__(self, x):
        return self.weight @ x + self.bias

def penalty(model):
    return jnp.linalg.norm(model.bias) ** 2 + jnp.sum(model.weight**2)  # finding

@eqx.filter_grad
def gradient(model, x, y):
    return jnp.linalg.norm(model(x) - y) ** 2 + penalty(model)

def main(x, y):
    model = Linear(jnp.ones((2, 3)), jnp.zeros(2))
    print(jnp.linalg.norm(model.weight) ** 2)
    return gradient(model, x, y)
""",
        ),
        Example(
            "guarded, between different sets, or not differentiated",
            """
import jax
import jax.numpy as jnp

def guarded(x):
    delta = x[:, None, :] - x[None, :, :]
    d2 = jnp.sum(delta**2, axis=-1)
    return jnp.sqrt(jnp.where(d2 > 0, d2, 1.0)).sum() + jnp.sqrt(d2 + 1e-12).sum()

def between(x, y):
    return jnp.linalg.norm(x[:, None] - y[None], axis=-1).sum() + jnp.linalg.norm(x, axis=-1).sum()

def loss(x, y):
    return guarded(x) + between(x, y)

forces = jax.grad(loss)

def neighbours(x):
    return jnp.linalg.norm(x[:, None] - x[None], axis=-1) < 0.5
""",
        ),
    )

    def __init__(self) -> None:
        self.found: list[OperationEvent] = []
        self.squares: list[OperationEvent] = []

    @concerns("norm", "sqrt", "power", "square")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test:
            return
        if _is_square_of_norm(event.operation):
            self.squares.append(event)
            return
        vector = _vector(event.operation)
        difference = made(_unwrapped(vector), "subtract")
        if difference is not None and _pairwise(*difference.args):
            self.found.append(event)

    def finish(self, report: Reporter) -> None:
        for event in self.found:
            report.event = event
            if report.differentiated(event.frame):
                report(
                    event.node,
                    "the gradient of this norm is NaN on the diagonal, where each point is compared with itself",
                    reason="the argument is the difference of an array with itself along two axes, which holds zeros",
                )
        for event in self.squares:
            report.event = event
            if report.differentiated(event.frame):
                report(
                    event.node,
                    "the gradient of this squared norm is NaN where the array is zero; sum the squares: `jnp.sum(x**2)`",
                    reason="the derivative of the root is infinite at zero, and squaring it again does not take that away",
                )


def _is_square_of_norm(operation: Operation) -> bool:
    """`norm(w) ** 2` of an array that is given, as parameters are, which often begin as zeros."""
    squared = (
        operation.name == "power" and len(operation.args) == 2 and constant(operation.args[1]) in (2, 2.0)
    )
    if not operation.args or not (squared or operation.name == "square"):
        return False
    norm = made(operation.args[0], "norm", "sqrt")
    vector = _vector(norm) if norm is not None else None
    if not isinstance(vector, Array) or vector.flow is None:
        return False
    computed_of = vector.made.args if vector.made is not None else ()
    return all(not isinstance(part, Array) or part.flow is None for part in computed_of)


def _vector(operation: Operation) -> Value | None:
    """What an operation is the Euclidean norm of."""
    if not operation.args:
        return None
    if operation.name == "norm":
        order = operation.operand(1, "ord")
        return operation.args[0] if order is None or constant(order) in (None, 2) else None
    if operation.name != "sqrt":
        return None
    total = made(unviewed(operation.args[0]), "sum")
    squares = made(total.args[0], "power", "square", "multiply") if total is not None else None
    if squares is None:
        return None
    if squares.name == "power" and constant(squares.args[1]) not in (2, 2.0):
        return None
    if squares.name == "multiply" and not same(squares.args[0], squares.args[1]):
        return None
    return squares.args[0]


def _unwrapped(vector: Value | None) -> Value | None:
    """`d` of `d - box * jnp.round(d / box)`, the nearest image in a periodic box, which is zero where `d` is."""
    shifted = made(vector, "subtract")
    if shifted is None or len(shifted.args) != 2:
        return vector
    displacement, shift = shifted.args
    factors = made(shift, "multiply")
    for factor in factors.args if factors is not None else (shift,):
        rounded = made(factor, *_ROUNDING)
        scaled = made(rounded.args[0], "divide", "multiply") if rounded is not None else None
        if scaled is not None and any(same(part, displacement) for part in scaled.args):
            return displacement
    return vector


def _pairwise(left: Value, right: Value) -> bool:
    """Whether one array is subtracted from itself along another axis."""
    one, two = made(left, "getitem", "expand_dims"), made(right, "getitem", "expand_dims")
    if one is None or two is None or one.name != two.name or not same(one.args[0], two.args[0]):
        return False
    if one.name == "expand_dims":
        axes = [constant(o.operand(1, "axis") or o.args[0]) for o in (one, two)]
        return isinstance(axes[0], int) and isinstance(axes[1], int) and axes[0] != axes[1]
    places = [_new_axes(one.node), _new_axes(two.node)]
    return bool(places[0]) and bool(places[1]) and places[0] != places[1]


def _new_axes(node: ast.AST) -> tuple[int, ...]:
    """Where an index has `None` or `newaxis`; empty when it selects anything."""
    if not isinstance(node, ast.Subscript):
        return ()
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    found = []
    for position, part in enumerate(parts):
        if isinstance(part, ast.Slice) and part.lower is None and part.upper is None:
            continue
        if isinstance(part, ast.Constant) and part.value is Ellipsis:
            found.append(-position - 100)
        elif (isinstance(part, ast.Constant) and part.value is None) or (
            isinstance(part, ast.Attribute) and part.attr == "newaxis"
        ):
            found.append(position)
        else:
            return ()
    return tuple(found)
