"""Whether `exp` of an expression may overflow."""

from __future__ import annotations

from jaxlint.api import Frame
from jaxlint.api.values import Array, Unknown, Value
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
