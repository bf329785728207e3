"""Norms, roots and angles that are differentiated at zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, CarryEvent, DifferentiatedEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import positional_parameters
from jaxlint.api.values import (
    Array,
    DictValue,
    Extent,
    Function,
    ListValue,
    Operation,
    Origin,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
    flow_in,
    same,
    zeros_at_start,
)
from jaxlint.finding import Severity
from jaxlint_rules._names import is_new_axis
from jaxlint_rules.numerics._expressions import euclidean_vector, made, number, without_views
from jaxlint_rules.numerics._needs import Needs

_ZEROS = ("zeros", "zeros_like")
_ROUNDING = ("round", "rint", "jax.numpy.round", "jax.numpy.rint")


class NormGradientAtZero(Rule):
    """A norm is differentiated where it is zero.

    ## What it does
    Finds, in differentiated functions:

    - pairwise distances `jnp.linalg.norm(x[:, None] - x[None])`, also as `sqrt(sum(d**2))`;
    - the output of a ReLU divided by its norm, and norms of a maximum with zero;
    - norms and roots of arrays that are zero at the start: parameters, states of loops, and the
      difference of two arguments, if a call passes one array for both;
    - `arctan2` of two arguments that are zero at the start;
    - squared norms of a differentiated argument, `jnp.linalg.norm(w) ** 2`.

    ## Why is this bad?
    The derivative of a norm at zero is 0/0: NaN. Each point has distance zero to itself, and a mask
    applied afterwards removes the value, not the NaN in the gradient. The outputs of a ReLU are all
    zero for an example that activates no unit, which happens in training. `jnp.maximum(h, 0)` lets
    the NaN through; `jax.nn.relu` drops it, unless the quotient itself is NaN. The derivative of a
    squared norm at zero is zero, but JAX returns NaN, because it differentiates the root first.
    Biases start as zeros.

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
    Norms of other vectors are zero only by chance and are not reported. Nor are norms with an
    epsilon under the root, or without a gradient through them: those that the function only returns
    beside the loss, or holds constant by `stop_gradient`.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where)
    """

    code = "JAX1102"
    name = "norm-gradient-at-zero"
    category = "numerics"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.found: list[OperationEvent] = []
        self.squares: list[OperationEvent] = []
        self.rectified: list[OperationEvent] = []
        # Parameters of jitted functions that receive zeros, with the place of the jit.
        self.zeros: set[tuple[str, ast.AST | None]] = set()
        # Of carries: the initial values of their loops, and whether these are constants for the gradient.
        self.begins_as: dict[Origin, tuple[Array, bool]] = {}
        self.beginning: list[OperationEvent] = []
        self.needs = Needs()

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if event.frame.stage.staged:
            return
        if not isinstance(callee, Transformed) or not any(
            map(_is_zeros, [*event.args, *event.kwargs.values()])
        ):
            return
        names = (
            [p.arg for p in positional_parameters(callee.target.node)]
            if isinstance(callee.target, Function)
            else []
        )
        for name, value in [*zip(names, event.args, strict=False), *event.kwargs.items()]:
            if _is_zeros(value):
                self.zeros.add((name, callee.why.node))

    @concerns("norm", "sqrt", "power", "square", "divide", "arctan2", "std")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test:
            return
        if event.operation.name == "divide":
            if len(event.operation.args) == 2 and _divided_by_own_norm(event.operation):
                self.rectified.append(event)
            return
        if _is_square_of_norm(event.operation):
            self.squares.append(event)
            return
        vector = euclidean_vector(event.operation)
        difference = made(_unwrapped(vector), "subtract")
        if difference is not None and _pairwise(*difference.args):
            # A gradient that is only created may be by any argument.
            way = (event.frame, *event.frame.callers())
            if flow_in(difference.args) is not None or any(one.is_without_call() for one in way):
                self.found.append(event)
        elif _is_rectified(vector):
            self.rectified.append(event)
        elif event.result.flow is not None and _has_no_gradient_at_zero(event.operation):
            self.beginning.append(event)

    def on_differentiated(self, event: DifferentiatedEvent, report: Reporter) -> None:
        self.needs.add(event)

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        """A carry has the loop's initial value."""
        for init, carry in _pairs(event.init, event.carry):
            if carry.origin is not None:
                self.begins_as[carry.origin] = init, event.differentiated and init.flow is None

    def start(self, value: Array) -> tuple[Value, bool] | None:
        """What an array that no operation has made begins as: an argument of a jitted function, or the carry of a
        loop. The latter is a constant if a gradient is taken around the loop that its initial value does not need."""
        if value.origin is not None and value.origin in self.begins_as:
            return self.begins_as[value.origin]
        why = value.why
        if why is not None and why.cause is not None and (why.parameter, why.cause.node) in self.zeros:
            return Static(0), False
        return (value.form.of[0], False) if value.form is not None and value.form.equal else None

    def is_zero(self, value: Value | None) -> bool:
        """Whether a gradient flows through elements that are zero at the start."""
        found = zeros_at_start(value, self.start)
        return found.extent is not Extent.NONE and found.flows

    def finish(self, report: Reporter) -> None:
        for event in self.found:
            self.tell(
                event,
                report,
                "the gradient of this norm is NaN on the diagonal (a point and itself); add epsilon under the root",
                "the difference of an array with itself along two axes contains zeros",
            )
        for event in self.rectified:
            self.tell(
                event,
                report,
                "the gradient of this norm is NaN where no unit is active; add epsilon under the root",
                "a ReLU returns exactly zero there",
            )
        for event in self.beginning:
            if self.is_zero(event.result if event.operation.name == "arctan2" else event.operation.args[0]):
                self.tell(event, report, *_words(event.operation))
        for event in self.squares:
            self.tell(
                event,
                report,
                "the gradient of this squared norm is NaN at zero; use `jnp.sum(x**2)`",
                "the derivative of the root is infinite at zero, and squaring does not undo that",
            )

    def tell(self, event: OperationEvent, report: Reporter, message: str, reason: str) -> None:
        """Reports a norm under a gradient that needs its derivative."""
        report.event = event
        if report.differentiated(event.frame) and not self.needs.are_none_for(event.operation):
            report(event.node, message, reason=reason)


def _pairs(init: Value, carry: Value) -> Iterator[tuple[Array, Array]]:
    """The arrays of a carry with their initial values."""
    if isinstance(init, Array) and isinstance(carry, Array):
        yield init, carry
    elif isinstance(init, (TupleValue, ListValue)) and isinstance(carry, (TupleValue, ListValue)):
        for one, other in zip(init.items or (), carry.items or (), strict=False):
            yield from _pairs(one, other)
    elif isinstance(init, DictValue) and isinstance(carry, DictValue):
        for key in init.items.keys() & carry.items.keys():
            yield from _pairs(init.items[key], carry.items[key])


def _has_no_gradient_at_zero(operation: Operation) -> bool:
    """Whether the derivative of an operation is NaN or infinite where its argument is zero."""
    if not operation.args:
        return False
    if operation.name == "norm":
        return euclidean_vector(operation) is not None
    if operation.name == "power":
        exponent = number(operation.args[-1])
        return exponent is not None and 0 < exponent < 1
    return operation.name in ("sqrt", "arctan2", "std")


def _words(operation: Operation) -> tuple[str, str]:
    """The message and the reason for an operation whose argument is zero at the start."""
    if operation.name == "arctan2":
        return (
            "the gradient of `arctan2` is NaN at the start, at (0, 0); replace both arguments there by `jnp.where`",
            "both arguments are zero in the first step, and a gradient flows through them",
        )
    vector = euclidean_vector(operation)
    if vector is None:
        what = "this root" if operation.name != "std" else "`std`"
        return (
            f"the gradient of {what} is infinite or NaN at the start (its argument is zero); add epsilon under the root",
            "the argument is zero in the first step, and a gradient flows through it",
        )
    difference = made(vector, "subtract")
    alike = difference is not None and same(difference.args[0], difference.args[-1])
    return (
        "the gradient of this norm is NaN at the start (its argument is zero); add epsilon under the root",
        "both sides of the difference start as the same array"
        if alike
        else "the vector is zero in the first step, and a gradient flows through it",
    )


def _is_zeros(value: Value) -> bool:
    return made(value, *_ZEROS) is not None


def _is_rectified(vector: Value | None) -> bool:
    """A maximum with zero under a gradient. `jax.nn.relu` discards the gradient of inactive units."""
    operation = made(vector, "maximum")
    if operation is None or not isinstance(vector, Array) or vector.flow is None:
        return False
    return any(number(part) == 0 for part in operation.args)


def _divided_by_own_norm(operation: Operation) -> bool:
    """The output of a ReLU divided by its norm: zero over zero if no unit is active."""
    top, norm = operation.args[0], made(without_views(operation.args[-1]), "norm", "sqrt")
    if norm is None or made(top, "relu") is None or not isinstance(top, Array) or top.flow is None:
        return False
    return same(euclidean_vector(norm), top)


def _is_square_of_norm(operation: Operation) -> bool:
    """`norm(w) ** 2` of an argument, such as parameters, which often start as zeros."""
    squared = (
        operation.name == "power" and len(operation.args) == 2 and constant(operation.args[1]) in (2, 2.0)
    )
    if not operation.args or not (squared or operation.name == "square"):
        return False
    norm = made(operation.args[0], "norm", "sqrt")
    vector = euclidean_vector(norm) if norm is not None else None
    if not isinstance(vector, Array) or vector.flow is None:
        return False
    computed_of = vector.made.args if vector.made is not None else ()
    return all(not isinstance(part, Array) or part.flow is None for part in computed_of)


def _unwrapped(vector: Value | None) -> Value | None:
    """`d` in `d - box * jnp.round(d / box)`, the nearest periodic image, which is zero where `d` is."""
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
    """The positions of `None` or `newaxis` in an index; empty if it selects anything."""
    if not isinstance(node, ast.Subscript):
        return ()
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    found = []
    for position, part in enumerate(parts):
        if isinstance(part, ast.Slice) and part.lower is None and part.upper is None:
            continue
        if isinstance(part, ast.Constant) and part.value is Ellipsis:
            found.append(-position - 100)
        elif is_new_axis(part):
            found.append(position)
        else:
            return ()
    return tuple(found)
