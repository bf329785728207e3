"""Differences and losses that broadcast a row against a column."""

from __future__ import annotations

import ast
from typing import NamedTuple

from jaxlint.api import CallEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import (
    ALONG_AXES,
    BROADCASTING,
    ELEMENTWISE,
    Array,
    ExternalObject,
    NumpyArray,
    Operation,
    Shape,
    Value,
    maker_of,
    shape_text,
    symbolic_shape,
)
from jaxlint.finding import Severity

_LOSSES = ("l2_loss", "squared_error", "huber_loss", "log_cosh", "sigmoid_binary_cross_entropy")
_SAMPLE = "numpyro.sample"
_OF_DIFFERENCES = frozenset({"mean", "sum", "square", "abs", "absolute", "huber_loss", "norm"})
_REDUCTIONS = ("mean", "sum", "average", "nanmean", "nansum")
_FAR = 6  # operations between a difference and the reduction of it
# Operations element by element, through which all pairs stay all pairs.
_ELEMENTWISE = (ELEMENTWISE - ALONG_AXES) | BROADCASTING | {"abs", "asarray"}
# Operations that create a column on purpose, for all pairs.
_COLUMNS = frozenset({"getitem", "expand_dims", "reshape", "meshgrid", "broadcast_to"})


class _Meeting(NamedTuple):
    """The shapes of a column and a row that broadcast against each other. `predicted`: a layer gave the column."""

    column: Shape
    row: Shape
    predicted: bool


class BroadcastInLoss(Rule):
    """A loss broadcasts each prediction against each target.

    ## What it does
    Finds differences of an array of shape `[B]` and one of shape `[B, 1]` that are squared,
    averaged or summed, optax losses of such arrays, and `numpyro.sample` with such parameters and
    observations. The shapes broadcast to `[B, B]`. Targets that are such a sum or product
    (`rewards + gamma * values`) are found where a loss compares them with something else.

    ## Why is this bad?
    No exception is raised. Each prediction is compared with the targets of all examples, so the
    model learns their mean.

    ## Example
    ```python
    pred = x @ w  # [B, 1]
    loss = jnp.mean((pred - y) ** 2)  # y: [B]
    ```

    ## Use instead
    ```python
    loss = jnp.mean((pred[:, 0] - y) ** 2)
    ```

    ## Fix safety
    There is no automatic fix: only you know which of the two shapes is meant.

    ## When not to fix
    Keep it if you want all pairs. A column created for that (`x[:, None] - x`) is not reported.

    ## References
    - [NumPy: broadcasting](https://numpy.org/doc/stable/user/basics.broadcasting.html)
    """

    code = "JAX1112"
    name = "broadcast-in-loss"
    category = "numerics"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.differences: dict[int, tuple[Operation, OperationEvent, _Meeting]] = {}

    @concerns(
        "subtract",
        *_REDUCTIONS,
        *(f"optax.{name}" for name in _LOSSES),
        *(f"optax.losses.{name}" for name in _LOSSES),
    )
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name in _REDUCTIONS:
            self.reduced(event, report)
            return
        if len(operation.args) < 2 or not event.result.certain:
            return
        if event.is_caught() or event.frame.is_chosen_by_size():
            return
        met = _meeting(operation)
        if met is None:
            self.compared(event, report)
        elif operation.name == "subtract" and not _goes_into_loss(event):
            self.differences[id(operation)] = (operation, event, met)
        else:
            _tell(event.node, met, report)

    def compared(self, event: OperationEvent, report: Reporter) -> None:
        """A loss of targets in which a column and a row have met before."""
        if event.operation.name == "subtract" and not _goes_into_loss(event):
            return
        first, second = event.operation.args[:2]
        for value, other in ((first, second), (second, first)):
            # All pairs that are compared with all pairs are meant.
            found = _pairs_in(value, _FAR) if _is_one_each(symbolic_shape(other)) else None
            if found is not None:
                operation, met = found
                here = operation.node in event.frame.module.parents
                _tell(operation.node if here else event.node, met, report)
                return

    def reduced(self, event: OperationEvent, report: Reporter) -> None:
        """A mean or sum of everything, of a difference that has been stored before: its shape is that of all pairs."""
        if self.differences and event.operation.args and symbolic_shape(event.result) == ():
            self.follow(event.operation.args[0], _FAR, report)

    def follow(self, value: Value, depth: int, report: Reporter) -> None:
        made = value.made if isinstance(value, Array) else None
        if made is None or depth == 0:
            return
        found = self.differences.pop(id(made), None)
        if found is not None:
            _, event, met = found
            report.event = event
            _tell(event.node, met, report)
            return
        whole = symbolic_shape(value)
        for operand in made.args:
            if whole is not None and symbolic_shape(operand) == whole:
                self.follow(operand, depth - 1, report)

    @concerns(_SAMPLE)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """`numpyro.sample("y", dist.Normal(mean, 1), obs=y)` of a row, with a column of means."""
        if event.name != _SAMPLE or len(event.args) < 2:
            return
        distribution = event.args[1]
        observed = event.kwargs.get("obs", event.args[2] if len(event.args) > 2 else None)
        if not isinstance(distribution, ExternalObject) or not isinstance(observed, (Array, NumpyArray)):
            return
        for parameter in (*distribution.args, *distribution.kwargs.values()):
            one, two = symbolic_shape(parameter), symbolic_shape(observed)
            if one is None or two is None or not _is_sure(parameter) or event.is_caught():
                continue
            if _is_column_of(one, two) or _is_column_of(two, one):
                size = one[0]
                report(
                    event.node,
                    f"a parameter of shape {shape_text(one)} and observations of shape {shape_text(two)} broadcast to {shape_text((size, size))}; reshape one",
                    reason="the density then compares each observation with each parameter, and sums all pairs",
                )
                return


def _meeting(operation: Operation) -> _Meeting | None:
    """The column and the row that an operation broadcasts against each other, if nobody means all pairs."""
    for column, row in (operation.args[:2], operation.args[1::-1]):
        one, two = symbolic_shape(column), symbolic_shape(row)
        if one is None or two is None or not (_is_sure(column) and _is_sure(row)):
            continue
        source = _source_of(column)
        if _is_meant(source):
            continue
        predicted = _is_predicted(source)
        if _is_column_of(one, two) or (predicted and _meets_all(one, two)):
            return _Meeting(one, two, predicted)
    return None


def _is_one_each(shape: Shape | None) -> bool:
    """Whether an array may hold one number for each example: a row or a column."""
    return shape is not None and (len(shape) == 1 or (len(shape) == 2 and shape[1] == 1))


def _pairs_in(value: Value, depth: int) -> tuple[Operation, _Meeting] | None:
    """The sum or product of a column that a layer predicts and a row, of which `value` holds all pairs."""
    whole = symbolic_shape(value)
    made = maker_of(value)
    if depth == 0 or whole is None or len(whole) != 2 or made is None or made.name not in _ELEMENTWISE:
        return None
    met = _meeting(made) if len(made.args) == 2 else None
    if met is not None and met.predicted:
        return made, met
    for part in made.args:
        found = _pairs_in(part, depth - 1) if symbolic_shape(part) == whole else None
        if found is not None:
            return found
    return None


def _source_of(column: Value) -> Value:
    """What a column was before operations on its elements alone: `0.99 * q` is `q`."""
    for _ in range(_FAR):
        made = maker_of(column)
        if made is None or made.name not in _ELEMENTWISE:
            break
        shape = symbolic_shape(column)
        parts = [part for part in made.args if symbolic_shape(part) == shape and shape is not None]
        if len(parts) != 1:
            break
        column = parts[0]
    return column


def _tell(node: ast.AST, met: _Meeting, report: Reporter) -> None:
    whole = shape_text((met.column[0], met.row[0]))
    report(
        node,
        f"shapes {shape_text(met.column)} and {shape_text(met.row)} broadcast to {whole}: each prediction is compared with every target; reshape one",
        reason="one is a column and the other a row",
    )


def _is_column_of(column: Shape, row: Shape) -> bool:
    return len(column) == 2 and len(row) == 1 and column[1] == 1 and column[0] == row[0] and row[0] != 1


def _meets_all(column: Shape, row: Shape) -> bool:
    """The same for a column and a row whose lengths are not known to be equal."""
    return len(column) == 2 and len(row) == 1 and column[1] == 1 and 1 not in (column[0], row[0])


def _is_predicted(column: Value) -> bool:
    """Whether a layer gave the column: one number for each example."""
    return isinstance(column, Array) and column.form is not None and column.form.how == "layer"


def _is_sure(value: Value) -> bool:
    """Whether the value is an array on every run. The result of a layer is one, even if its dtype is unknown."""
    return isinstance(value, Array) and value.certain


def _is_meant(column: Value) -> bool:
    """Whether a column was created from a row right there, to form all pairs."""
    made = column.made if isinstance(column, Array) else None
    return made is not None and made.name in _COLUMNS


def _goes_into_loss(event: OperationEvent) -> bool:
    """Whether a difference is squared, averaged or summed in the same expression."""
    parents = event.frame.module.parents
    node: ast.AST | None = parents.get(event.node)
    while isinstance(node, (ast.expr, ast.keyword)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return True
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in _OF_DIFFERENCES:
                return True
        node = parents.get(node)
    return False
