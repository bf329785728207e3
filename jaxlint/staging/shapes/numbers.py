"""The number in an array of one element, from the operations behind it. Computed on demand.

Where every axis has the size one, a product of matrices is a product, a sum is its only term, and a transposition
changes nothing. So a function of arrays becomes one of numbers, and two ways to compute the same thing agree in it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

from jaxlint.staging.values.arrays import Array, Form, NumpyArray, Operation
from jaxlint.staging.values.dtypes import dtype_named
from jaxlint.staging.values.objects import ExternalObject, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Measured, Static, Value, is_none

MAX_OPERATIONS = 256
_STEP = 1e-5


class UnclearNumberError(Exception):
    """It is unknown what an operation computes, or it has no number here."""


def identity_of(array: Array | NumpyArray) -> int:
    """What stays the same where an array is passed on under other names."""
    if array.made is not None:
        return id(array.made)
    if array.form is None:
        array.form = Form()
    return id(array.form)


class Point:
    """Numbers for arrays that no operation made, each drawn where it is first needed."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.drawn: dict[int, float] = {}

    def at(self, key: int) -> float:
        if key not in self.drawn:
            self.drawn[key] = self.draw.uniform(0.2, 0.9)
        return self.drawn[key]

    def value(self, value: Value) -> float:
        """The number in `value`. Raises UnclearNumberError if it is unknown."""
        return _Numbers(self, {}).of(value)

    def derivative(self, value: Value, by: Array) -> float:
        """The derivative of the number in `value` by that in `by`. Raises UnclearNumberError if it is unknown."""
        key = identity_of(by)
        ends = [_Numbers(self, {key: self.at(key) + step}).of(value) for step in (_STEP, -_STEP)]
        return (ends[0] - ends[1]) / (2 * _STEP)


class _Numbers:
    """The numbers in arrays at one point, where some are `moved`."""

    def __init__(self, point: Point, moved: Mapping[int, float]) -> None:
        self.point = point
        self.known: dict[int, float] = {**point.drawn, **moved}

    def of(self, value: Value | None) -> float:
        """The number in `value`. Raises UnclearNumberError if it is unknown."""
        if isinstance(value, Static):
            return self.of_static(value)
        if not isinstance(value, (Array, NumpyArray)) or (isinstance(value, Array) and value.mixed):
            raise UnclearNumberError
        key = identity_of(value)
        if key not in self.known:
            if len(self.known) > MAX_OPERATIONS:
                raise UnclearNumberError
            self.known[key] = self.of_array(value, key)
        return self.known[key]

    def of_static(self, value: Static) -> float:
        number = constant(value)
        if isinstance(number, (bool, int, float)):
            return float(number)
        if value.measured is not None:
            return self.of_size(value.measured)
        raise UnclearNumberError

    @staticmethod
    def of_size(measured: Measured) -> float:
        if measured.how in ("axis", "size"):
            return 1.0
        raise UnclearNumberError

    def of_array(self, value: Array | NumpyArray, key: int) -> float:
        made = value.made
        if made is None or not made.args:
            if made is not None or (value.form is not None and value.form.of):
                raise UnclearNumberError  # beyond what is remembered, or one of several arrays
            return self.point.at(key)
        try:
            found = self.of_result(made)
        except (ArithmeticError, ValueError):
            raise UnclearNumberError from None
        if not math.isfinite(found):
            raise UnclearNumberError
        return found

    def of_result(self, made: Operation) -> float:
        name, args = made.name, made.args
        if name in _SAME:
            return self.of(args[0])
        if name in _OF_ONE:
            return _OF_ONE[name](self.of(args[0]))
        if name in _OF_TWO and len(args) >= 2:
            return _OF_TWO[name](self.of(args[0]), self.of(args[1]))
        if name == "einsum":
            return math.prod(self.of(operand) for operand in args[1:])
        if name == "where" and len(args) == 3:
            return self.of(args[1] if self.of(args[0]) else args[2])
        if name == "clip":
            return self.of_clip(made)
        if name == "astype" and _is_floating(made.operand(1, "dtype")):
            return self.of(args[0])
        if name == "getitem" and len(args) == 2 and _keeps_all(args[1]):
            return self.of(args[0])
        if name in ("full", "full_like") and made.operand(1, "fill_value") is not None:
            return self.of(made.operand(1, "fill_value"))
        if name in _FILLED:
            return _FILLED[name]
        raise UnclearNumberError

    def of_clip(self, made: Operation) -> float:
        number = self.of(made.args[0])
        low = made.operand(1, "min") or made.kwargs.get("a_min")
        high = made.operand(2, "max") or made.kwargs.get("a_max")
        if low is not None and not is_none(low):
            number = max(number, self.of(low))
        if high is not None and not is_none(high):
            number = min(number, self.of(high))
        return number


def _is_floating(dtype: Value | None) -> bool:
    """Whether a conversion to this dtype keeps the number: one that is unknown is most likely the dtype of another
    array."""
    named = "" if dtype is None else dtype_named(dtype)
    return named == "" or named.startswith(("float", "bfloat"))


def _keeps_all(index: Value) -> bool:
    """Whether an index takes the only element: it adds axes, takes slices, or the first of an axis."""
    parts = index.items if isinstance(index, (TupleValue, ListValue)) else [index]
    for part in parts if parts is not None else [index]:
        number = constant(part)
        whole = (
            isinstance(part, ExternalObject)
            and part.name == "builtins.slice"
            and all(map(is_none, part.args))
        )
        if not (whole or is_none(part) or number is ... or (type(number) is int and number in (0, -1))):
            return False
    return True


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def _gelu(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _power(x: float, y: float) -> float:
    found = x**y
    if isinstance(found, complex):
        raise UnclearNumberError
    return found


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


_SAME = frozenset(
    """reshape expand_dims squeeze transpose ravel flatten broadcast_to swapaxes moveaxis matrix_transpose flip roll
    copy array asarray positive atleast_1d atleast_2d sum nansum mean nanmean max amax min amin prod cumsum cumprod
    logsumexp tril triu real conj conjugate""".split()  # noqa: SIM905
)
_FILLED = {"zeros": 0.0, "zeros_like": 0.0, "ones": 1.0, "ones_like": 1.0}
_OF_ONE: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "expm1": math.expm1,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "arcsin": math.asin,
    "arccos": math.acos,
    "arctan": math.atan,
    "arcsinh": math.asinh,
    "erf": math.erf,
    "erfc": math.erfc,
    "sigmoid": _sigmoid,
    "logistic": _sigmoid,
    "expit": _sigmoid,
    "log_sigmoid": lambda x: -_softplus(-x),
    "softplus": _softplus,
    "relu": lambda x: max(x, 0.0),
    "silu": lambda x: x * _sigmoid(x),
    "swish": lambda x: x * _sigmoid(x),
    "gelu": _gelu,
    "negative": lambda x: -x,
    "absolute": abs,
    "norm": abs,
    "sign": _sign,
    "softmax": lambda x: 1.0,
    "log_softmax": lambda x: 0.0,
    "logical_not": lambda x: float(not x),
    "invert": lambda x: float(not x),
}
_OF_TWO: dict[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": _power,
    "maximum": max,
    "minimum": min,
    "arctan2": math.atan2,
    "hypot": math.hypot,
    "logaddexp": lambda x, y: max(x, y) + math.log1p(math.exp(-abs(x - y))),
    "less": lambda x, y: float(x < y),
    "less_equal": lambda x, y: float(x <= y),
    "greater": lambda x, y: float(x > y),
    "greater_equal": lambda x, y: float(x >= y),
    "equal": lambda x, y: float(x == y),
    "not_equal": lambda x, y: float(x != y),
    "logical_and": lambda x, y: float(bool(x) and bool(y)),
    "logical_or": lambda x, y: float(bool(x) or bool(y)),
    **dict.fromkeys(
        ["matmul", "dot", "vdot", "inner", "outer", "tensordot", "dot_general"], lambda x, y: x * y
    ),
}
