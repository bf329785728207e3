"""Whether two values certainly have the same elements. Computed on demand."""

from __future__ import annotations

from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.objects import ExternalObject
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import MISSING, Static, Unknown, Value

MAX_DEPTH = 8


def same(left: Value | None, right: Value | None, depth: int = MAX_DEPTH) -> bool:
    """Whether two expressions certainly give the same array: one object, or the same operation on the same operands.

    Inside a jitted function, two arguments are the same where a call passes one array for both.
    """
    if left is None or right is None:
        return left is right
    if isinstance(left, Unknown) and isinstance(right, Unknown):
        return left.origin is not None and left.origin is right.origin
    if left is right:
        return True
    if isinstance(left, Static) and isinstance(right, Static):
        return (
            left.const is not MISSING and type(left.const) is type(right.const) and left.const == right.const
        )
    if isinstance(left, (Array, NumpyArray)) and isinstance(right, (Array, NumpyArray)):
        return _are_same_arrays(left, right, depth)
    if isinstance(left, ExternalObject) and isinstance(right, ExternalObject):
        return (
            left.name == right.name == "builtins.slice"
            and len(left.args) == len(right.args)
            and all(same(one, two, depth - 1) for one, two in zip(left.args, right.args, strict=True))
        )
    return _same_constant(left, right)


def _are_same_arrays(left: Array | NumpyArray, right: Array | NumpyArray, depth: int) -> bool:
    if isinstance(left, Array) and isinstance(right, Array):
        if left.origin is not None and left.origin is right.origin:
            return True
    one, two = left.made, right.made
    if one is None or two is None:
        outer = given_as(left), given_as(right)
        return depth > 0 and outer != (left, right) and same(*outer, depth - 1)
    if one.name != two.name or depth == 0 or not one.args:
        return False
    if len(one.args) != len(two.args) or one.kwargs.keys() != two.kwargs.keys():
        return False
    if one is two:
        return True
    if one.name.startswith(("jax.random.", "numpy.random.")):
        return False
    pairs = [*zip(one.args, two.args, strict=True), *((one.kwargs[k], two.kwargs[k]) for k in one.kwargs)]
    return all(same(a, b, depth - 1) or _same_constant(a, b) for a, b in pairs)


def given_as(value: Value) -> Value:
    """The array outside of the jitted functions that receive it as an argument."""
    for _ in range(MAX_DEPTH):
        if not isinstance(value, (Array, NumpyArray)) or value.made is not None:
            break
        if value.form is None or not value.form.equal:
            break
        value = value.form.of[0]
    return value


def _same_constant(left: Value, right: Value) -> bool:
    one, two = constant(left), constant(right)
    return one is not MISSING and one == two
