"""Axes that one line takes for others than another line shows."""

from __future__ import annotations

import itertools
from collections import defaultdict

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import (
    ALONG_AXES,
    BROADCASTING,
    ELEMENTWISE,
    REDUCTIONS,
    Array,
    Axis,
    NumpyArray,
    Operation,
    Shape,
    Static,
    TupleValue,
    Value,
    axis_number,
    constant,
    given_as,
    identity_of,
    maker_of,
    merged_axes,
    shape_text,
    short_source,
    sizes_swapped,
    symbolic_shape,
    walk_axis,
)
from jaxlint.finding import Severity

_MEETING = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "where"}) & BROADCASTING
_FLATTENING = frozenset({"reshape", "ravel", "flatten"})
_NORMALISING = frozenset({"softmax", "log_softmax"})
_LOSSES = frozenset(
    f"optax.{place}{name}"
    for place in ("", "losses.")
    for name in ("softmax_cross_entropy_with_integer_labels", "softmax_cross_entropy")
)
_VIEWS = frozenset({"negative", "astype", "multiply", "stop_gradient"})
_ONE, _LAST = Static(1), Static(-1)
# Arrays whose elements may be arranged at will.
_ALIKE = ("jax.random.", "numpy.random.", "zeros", "ones", "full", "empty", "arange", "linspace")


class ConfusedAxes(Rule):
    """An axis is taken for another one of the array.

    ## What it does
    Finds, where two lines of a program disagree about the axes of an array:

    - `reshape` that exchanges the sizes of two axes, such as `(T, B)` and `(B, T)`: it is no
      transposition, the elements stay in their order;
    - arrays that meet in an operation and were flattened in different orders, one as time by batch
      and one as batch by time;
    - a reduction without `keepdims` that meets its array on another axis, as in `x / x.sum(axis=1)`;
    - `softmax` and `log_softmax` over another axis than the one that labels then pick classes from,
      or over the examples of a batch, whose labels a loss compares one by one.

    ## Why is this bad?
    The sizes fit, so nothing raises. Each number is combined with one of another example, time step
    or class, and the program learns little or nothing.

    ## Example
    ```python
    steps, walkers = 40, 12
    _, path = jax.lax.scan(lambda x, t: (x + t, x), jnp.zeros(walkers), jnp.arange(steps))
    by_walker = path.reshape(walkers, steps)
    ```

    ## Use instead
    ```python
    steps, walkers = 40, 12
    _, path = jax.lax.scan(lambda x, t: (x + t, x), jnp.zeros(walkers), jnp.arange(steps))
    by_walker = path.swapaxes(0, 1)
    ```

    ## Fix safety
    There is no automatic fix: only you know which axis you mean.

    ## When not to fix
    Keep it if the elements have no order, as random numbers.

    ## References
    - [jax.numpy.reshape](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.reshape.html)
    - [jax.numpy.swapaxes](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.swapaxes.html)
    """

    code = "JAX1121"
    name = "confused-axes"
    category = "numerics"
    severity = Severity.WARNING

    def __init__(self) -> None:
        # The orders in which arrays were flattened, by their sizes: a cheap test before axes are followed.
        self.orders: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
        self.has_several = False

    @concerns(*_MEETING, *_FLATTENING, *_LOSSES, "take_along_axis", "getitem")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation, result = event.operation, event.result
        if report.module.is_test or not operation.args or not result.certain or result.mixed:
            return
        if operation.name in _FLATTENING:
            self.check_reshape(event, report)
        elif operation.name in _LOSSES:
            self.check_examples(event, report)
        elif operation.name == "take_along_axis":
            axis = operation.operand(2, "axis")
            self.check_classes(event, operation.args[0], operation.operand(1, "indices"), axis, report)
        elif operation.name == "getitem":
            self.check_rows(event, report)
        else:
            if operation.name == "multiply" and len(operation.args) == 2:
                self.check_one_hot(event, report)
            if len(operation.args) == 2:
                self.check_reduced(event, report)
            if self.has_several:
                self.check_orders(event, report)

    def check_reshape(self, event: OperationEvent, report: Reporter) -> None:
        operation, result = event.operation, event.result
        whole, shape = symbolic_shape(operation.args[0]), symbolic_shape(result)
        if whole is None or shape is None:
            return
        swapped = sizes_swapped(whole, shape) if operation.name == "reshape" else None
        if swapped is not None and "order" not in operation.kwargs and not _is_alike(operation.args[0]):
            report(
                event.node,
                f"this reshape of {shape_text(whole)} to {shape_text(shape)} moves no element; use `swapaxes` to transpose",
                reason="the elements stay in their order, so each row of the result mixes several rows of the array",
            )
            return
        for number in range(len(shape)):
            found = merged_axes(result, number)
            parts = () if found is None else tuple(str(size) for size in found[0] if size != 1)
            if len(set(parts)) > 1:
                orders = self.orders[tuple(sorted(parts))]
                orders.add(parts)
                self.has_several = self.has_several or len(orders) > 1

    @staticmethod
    def check_reduced(event: OperationEvent, report: Reporter) -> None:
        """`x / x.sum(axis=1)`: the sums of the rows meet the columns."""
        for reduced, other in (event.operation.args, event.operation.args[::-1]):
            made = _reduction(reduced)
            crossed = (
                _crossed(event.result, reduced, other)
                if made is not None and isinstance(other, Array)
                else None
            )
            if made is None or crossed is None:
                continue
            taken, met = crossed
            report(
                event.node,
                f"`{made.name}` over axis {_text(made)} leaves axis {taken}, which meets axis {met} of the array; pass `keepdims=True`",
                reason="broadcasting aligns the last axes: this raises TypeError, or is wrong where the sizes are equal",
            )
            return

    def check_orders(self, event: OperationEvent, report: Reporter) -> None:
        """Two arrays whose elements meet, and that were flattened in different orders."""
        shape = symbolic_shape(event.result)
        for number in range(len(shape or ())):
            assert shape is not None
            found = [
                one
                for operand in event.operation.args
                if (one := _flattened(operand, number, shape)) is not None and not _is_alike(operand)
            ]
            for (first, _), (second, made) in itertools.pairwise(found):
                if first != second and sorted(map(str, first)) == sorted(map(str, second)):
                    place = made.node if made.node in event.frame.module.parents else event.node
                    report(
                        place,
                        f"arrays flattened from {shape_text(first)} and {shape_text(second)} meet; transpose one of them first",
                        reason=f"`{short_source(event.node)}`, line {report.span(event.node).line}, combines elements of different rows",
                    )
                    return

    def check_examples(self, event: OperationEvent, report: Reporter) -> None:
        """A loss of each example, and numbers that a softmax has made depend on all of them."""
        logits, labels = (*event.operation.args, None)[:2]
        shape = symbolic_shape(logits) if isinstance(logits, Array) else None
        if (
            shape is None
            or len(shape) < 2
            or not isinstance(logits, Array)
            or shape[0] == shape[-1]
            or _counts(labels)
        ):
            return
        for number in range(len(shape) - 1):
            for axis in walk_axis(logits, number):
                made = axis.array.made
                if made is None or made.name not in _NORMALISING or (number and not axis.summed):
                    continue
                if _normalised(made, axis) == axis.number:
                    place = made.node if made.node in event.frame.module.parents else event.node
                    report(
                        place,
                        f"`{made.name}` over axis {axis.number} mixes the examples of the loss; use another axis",
                        reason=f"that axis is axis {number} of the logits of `{short_source(event.node)}`, which has a label for each",
                    )
                    return

    def check_classes(
        self, event: OperationEvent, picked: Value, index: Value | None, given: Value | None, report: Reporter
    ) -> None:
        """Labels that pick from another axis than the one whose numbers are probabilities."""
        made = _probabilities(picked)
        shape = symbolic_shape(made.args[0]) if made is not None else None
        if made is None or shape is None or len(shape) < 2 or given is None or _counts(index):
            return
        axis, normalised = axis_number(given, len(shape)), _axis_of(made, len(shape))
        if axis is None or normalised is None or axis == normalised or shape[axis] == shape[normalised]:
            return
        place = made.node if made.node in event.frame.module.parents else event.node
        report(
            place,
            f"`{made.name}` over axis {normalised}, but the labels pick from axis {axis}; use `axis={axis}`",
            reason="the probabilities of the classes of an example do not sum to 1",
        )

    def check_rows(self, event: OperationEvent, report: Reporter) -> None:
        """`logp[jnp.arange(n), labels]`."""
        picked, index = event.operation.args[:2]
        parts = index.items if isinstance(index, TupleValue) else None
        if parts is None or len(parts) != 2 or not _counts(parts[0]):
            return
        labels = parts[1]
        if isinstance(labels, (Array, NumpyArray)) and _maker(labels):
            self.check_classes(event, picked, labels, _ONE, report)

    def check_one_hot(self, event: OperationEvent, report: Reporter) -> None:
        """`one_hot(labels, n) * log_softmax(logits)`."""
        for one, other in (event.operation.args, event.operation.args[::-1]):
            made = one.made if isinstance(one, Array) else None
            if made is not None and made.name == "one_hot" and not {"axis"} & made.kwargs.keys():
                self.check_classes(event, other, made.args[0], _LAST, report)
                return


def _reduction(value: Value, depth: int = 3) -> Operation | None:
    """The reduction over an axis, which it removes, behind an array; perhaps with a number added to it, or under a root."""
    made = value.made if isinstance(value, Array) else None
    if made is None or depth == 0 or not made.args:
        return None
    if made.name in REDUCTIONS:
        given = made.operand(1, "axis")
        kept = made.kwargs.get("keepdims")
        removes = given is not None and (kept is None or constant(kept) is False) and len(made.args) < 3
        return made if removes and type(constant(given)) is int else None
    if made.name in ELEMENTWISE and made.name not in ALONG_AXES:
        return _reduction(made.args[0], depth - 1)
    arrays = [part for part in made.args if not isinstance(part, Static)]
    if made.name in ("add", "subtract", "multiply", "maximum") and len(arrays) == 1:
        return _reduction(arrays[0], depth - 1)
    return None


def _text(made: Operation) -> object:
    return constant(made.operand(1, "axis") or _ONE)


def _crossed(result: Array, reduced: Value, other: Array) -> tuple[int, int] | None:
    """Two different axes of one array that meet in a result."""
    shape = symbolic_shape(result)
    shapes = [symbolic_shape(reduced), symbolic_shape(other)]
    if shape is None or any(one is None or len(one) > len(shape) for one in shapes):
        return None
    for number in range(len(shape)):
        met: list[dict[int, set[int]]] = []
        for operand, sizes in zip((reduced, other), shapes, strict=True):
            place = number - len(shape) + len(sizes or ())
            if not isinstance(operand, Array) or place < 0 or (sizes or ())[place] == 1:
                break
            found: dict[int, set[int]] = defaultdict(set)
            for axis in walk_axis(operand, place):
                found[identity_of(axis.array)].add(axis.number)
            met.append(found)
        if len(met) < 2:
            continue
        nearest = next((array for array in met[1] if array in met[0]), None)
        if nearest is not None and len(met[0][nearest]) == len(met[1][nearest]) == 1:
            (left,), (meets,) = met[0][nearest], met[1][nearest]
            if left != meets:
                return left, meets
    return None


def _flattened(operand: Value, number: int, result: Shape) -> tuple[Shape, Operation] | None:
    """The axes that were merged to the axis of an operand that meets an axis of the result."""
    shape = symbolic_shape(operand) if isinstance(operand, (Array, NumpyArray)) else None
    if shape is None or not isinstance(operand, (Array, NumpyArray)):
        return None
    place = number - (len(result) - len(shape))
    return merged_axes(operand, place) if place >= 0 and shape[place] != 1 else None


def _maker(value: Value) -> str:
    made = maker_of(value)
    return "" if made is None else made.name


def _is_alike(value: Value) -> bool:
    """Whether the elements of an array have no order, or are all the same."""
    return _maker(value).startswith(_ALIKE)


def _counts(value: Value | None) -> bool:
    """Whether it is `arange`, perhaps as a column: each example is its own label."""
    if value is None:
        return True
    value = given_as(value)
    made = value.made if isinstance(value, (Array, NumpyArray)) else None
    if made is not None and made.name in ("getitem", "reshape", "expand_dims", "astype", "asarray", "array"):
        return _counts(made.args[0]) if made.args else True
    return made is not None and made.name in ("arange", "iota")


def _axis_of(made: Operation, rank: int) -> int | None:
    """The axis that a softmax normalises."""
    return axis_number(made.operand(1, "axis"), rank, otherwise=-1)


def _normalised(made: Operation, axis: Axis) -> int | None:
    shape = symbolic_shape(axis.array)
    return _axis_of(made, len(shape)) if shape is not None else None


def _probabilities(value: Value, depth: int = 4) -> Operation | None:
    """The softmax behind an array, but for a sign or a factor."""
    made = value.made if isinstance(value, Array) else None
    if made is None or depth == 0:
        return None
    if made.name in _NORMALISING:
        return made
    if made.name in _VIEWS or made.name == "log":
        arrays = [part for part in made.args if isinstance(part, Array)]
        return _probabilities(arrays[0], depth - 1) if len(arrays) == 1 else None
    return None
