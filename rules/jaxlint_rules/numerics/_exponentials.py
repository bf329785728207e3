"""Whether `exp` of an expression may overflow."""

from __future__ import annotations

from jaxlint.api import Frame
from jaxlint.api.values import Array, Operation, Unknown, Value, same
from jaxlint_rules.numerics._expressions import made, number, without_views

_BOUNDED = frozenset(
    [
        "subtract",
        "negative",
        "clip",
        "minimum",
        "tanh",
        "sigmoid",
        "sin",
        "cos",
        "log_softmax",
        "log_sigmoid",
        "log",
        "cumsum",
        "where",
        "linspace",
    ]
)


def may_overflow(value: Value, frame: Frame) -> bool:
    """False for a value bounded above by its form: negated, clipped, a logarithm, a difference."""
    if not isinstance(value, Array):
        return isinstance(value, Unknown) and frame.was_given(value.origin)  # an unmodified parameter
    bare = without_views(value)
    operation = made(bare)
    if operation is None:
        # A value with a longer history than is recorded may have had its maximum subtracted.
        return not isinstance(bare, Array) or bare.made is None
    if operation.name in _BOUNDED or operation.name.startswith("jax.random."):
        return False
    if operation.name in ("multiply", "divide", "add"):
        for operand in operation.args:
            factor = number(operand)
            if factor is not None and factor < 0:
                return False
        return all(
            may_overflow(o, frame) or number(o) is not None or not isinstance(o, Array)
            for o in operation.args
        )
    return True


def written_softmax(operation: Operation) -> Operation | None:
    """The `exp` of a softmax that the program writes itself: `e / e.sum()`, or `e * e.sum() ** -1`."""
    if len(operation.args) != 2:
        return None
    if operation.name == "divide":
        pairs = [(operation.args[0], operation.args[1])]
    elif operation.name == "multiply":
        inverted = [(one, _inverse(other)) for one, other in (operation.args, operation.args[::-1])]
        pairs = [(one, total) for one, total in inverted if total is not None]
    else:
        return None
    for above, below in pairs:
        top, total = made(without_views(above), "exp"), made(without_views(below), "sum")
        bottom = made(without_views(total.args[0]), "exp") if total is not None else None
        if top is not None and bottom is not None and (top is bottom or same(top.args[0], bottom.args[0])):
            return top
    return None


def _inverse(value: Value) -> Value | None:
    """`x` in `x ** -1` and `1 / x`."""
    operation = made(without_views(value))
    if operation is None or not operation.args:
        return None
    if operation.name in ("power", "float_power") and len(operation.args) == 2:
        return operation.args[0] if number(operation.args[1]) == -1 else None
    if operation.name == "divide" and len(operation.args) == 2 and number(operation.args[0]) == 1:
        return operation.args[1]
    return operation.args[0] if operation.name == "reciprocal" else None
