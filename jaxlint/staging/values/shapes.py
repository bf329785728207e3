"""The shape of an array, worked out from the operations behind it when a rule asks.

None stands for a shape that is not known; nothing here is computed while a program is evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from jaxlint.jaxapi.dtypes import MAKERS, RANDOM_MAKERS, named_dtype
from jaxlint.jaxapi.functions import SHAPE_ARGUMENTS
from jaxlint.staging.values.arrays import Array, NumpyArray, Operation
from jaxlint.staging.values.objects import ExternalObject, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Origin, Static, Value, is_none
from jaxlint.staging.values.shape_rules import SHAPE_RULES, Shape, reduced, static_shape

Known = Mapping[Origin, Shape]  # the shapes of parameters, where the caller knows them

_LIKE = frozenset({"zeros_like", "ones_like", "full_like", "empty_like"})
_FILLED = frozenset({"zeros", "ones", "empty", "full"})
REDUCTIONS = frozenset(
    """sum prod mean std var max min any all nansum nanmean nanmax nanmin median logsumexp argmax argmin
    count_nonzero""".split()  # noqa: SIM905
)
ELEMENTWISE = frozenset(
    """exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh arcsin arccos arctan rsqrt logistic
    sigmoid softplus gelu silu swish negative absolute positive invert relu stop_gradient square round sign floor ceil
    astype isnan isinf isfinite logical_not copy softmax log_softmax cumsum cumprod""".split()  # noqa: SIM905
)
_BROADCASTING = frozenset(
    """add subtract multiply divide maximum minimum power mod remainder floor_divide true_divide arctan2 logaddexp hypot
    logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal where clip
    bitwise_and bitwise_or bitwise_xor""".split()  # noqa: SIM905
)
# They move elements about, or compute each from all: the result has the shape of the first operand.
_REARRANGING = frozenset(
    """roll flip fliplr flipud sort triu tril conj conjugate real imag angle linalg.inv linalg.cholesky
    fft.fftshift fft.ifftshift""".split()  # noqa: SIM905
)
_TRANSFORMING = frozenset({"fft.fft", "fft.ifft", "fft.fft2", "fft.ifft2", "fft.fftn", "fft.ifftn"})
MAX_DEPTH = 12


def shape_of(value: Value, known: Known | None = None, depth: int = 0) -> Shape | None:
    """The shape of `value` as an array; `known` says what the shapes of parameters are."""
    if isinstance(value, Static):
        number = isinstance(value.const, (bool, int, float, complex)) or value.kind in (
            "int",
            "float",
            "complex",
            "bool",
        )
        return () if number else None
    if not isinstance(value, Array) or value.tree or depth > MAX_DEPTH:
        return None
    if known and value.origin is not None and value.origin in known:
        return known[value.origin]
    if value.made is not None:
        return _result_shape(value.made, known, depth + 1)
    return known.get(value.like) if known and value.like is not None else None


def _result_shape(made: Operation, known: Known | None, depth: int) -> Shape | None:
    name = made.name
    args = made.args
    if not args:
        return None
    first = args[0]
    if name in _FILLED:
        return static_shape(made.operand(0, "shape"))
    if name in _LIKE:
        asked = made.kwargs.get("shape")
        return shape_of(first, known, depth) if asked is None else static_shape(asked)
    if name in ("array", "asarray"):
        return _shape_of_literal(first, known, depth)
    if name == "arange":
        return _counted_shape(made)
    if name == "linspace":
        ends = [shape_of(end, known, depth) for end in args[:2]]
        count = made.operand(2, "num")
        plain = "axis" not in made.kwargs and "retstep" not in made.kwargs and ends == [(), ()]
        return (static_shape(count) if count is not None else (50,)) if plain else None
    if name.startswith("jax.random."):
        return _drawn_shape(name, made)
    if named_dtype(name) and name not in MAKERS:
        return shape_of(first, known, depth)
    if name in REDUCTIONS:
        return reduced(shape_of(first, known, depth), made) if len(args) <= 2 else None
    if name in ELEMENTWISE or name in _REARRANGING or name == "at":
        return shape_of(_array_of(first), known, depth)
    if name in _TRANSFORMING and len(args) == 1 and made.kwargs.keys() <= {"axis", "axes", "norm"}:
        return shape_of(_array_of(first), known, depth)
    if name in _BROADCASTING:
        shapes = [shape_of(_array_of(arg), known, depth) for arg in args if not is_none(arg)]
        return broadcast(*shapes) if shapes else None
    if name in SHAPE_RULES:
        return SHAPE_RULES[name](made, lambda value: shape_of(_array_of(value), known, depth))
    if name == "reshape":
        if len(args) > 2:  # `x.reshape(n, 64)`
            return static_shape(TupleValue(list(args[1:])))
        asked = args[1] if len(args) == 2 else made.kwargs.get("shape")
        return static_shape(asked) if asked is not None else None
    return None


def _counted_shape(made: Operation) -> Shape | None:
    """`arange(stop)`, `arange(start, stop)` or `arange(start, stop, step)` of numbers."""
    bounds = [constant(arg) for arg in made.args]
    if not all(type(bound) in (int, float) for bound in bounds) or not set(made.kwargs) <= {"dtype"}:
        return None
    start, stop, step = ([0, *bounds, 1] if len(bounds) == 1 else [*bounds, 1])[:3]
    return (max(0, math.ceil((stop - start) / step)),) if step else None


def _array_of(value: Value) -> Value:
    return getattr(value, "array", value)  # of `x.at[i]`


def _drawn_shape(name: str, made: Operation) -> Shape | None:
    if name.removeprefix("jax.random.") not in RANDOM_MAKERS or name not in SHAPE_ARGUMENTS:
        return None
    positions, keywords = SHAPE_ARGUMENTS[name]
    asked = made.operand(positions[0], keywords[0]) if positions else made.kwargs.get("shape")
    if asked is None:
        return () if name in ("jax.random.normal", "jax.random.uniform") else None
    return static_shape(asked)


def least_size(value: Value, depth: int = 0) -> int:
    """How many elements an array has at least: all that are known of, or those of an operand that the others are broadcast to."""
    shape = shape_of(value, depth=depth)
    if shape is not None:
        return math.prod(shape)
    made = value.made if isinstance(value, Array) and not value.tree else None
    if made is None or depth > MAX_DEPTH or not (made.name in _BROADCASTING or made.name in ELEMENTWISE):
        return 0
    return max((least_size(_array_of(arg), depth + 1) for arg in made.args), default=0)


def lacks_rows(made: Operation) -> bool:
    """Whether an operation gives an array whose first axis has no elements, of JAX or of NumPy, by what it is given."""
    if made.name not in _ROWS_BY_ARGUMENTS or not made.args:
        return False
    first = made.args[0]
    if made.name == "getitem":
        return _is_rowless(first) and _keeps_first_axis(made.args[1])
    if made.name in ("array", "asarray", "astype"):
        return _is_rowless(first) or (isinstance(first, TupleValue) and first.items == [])
    shape = _result_shape(made, None, 0)
    return shape is not None and shape[:1] == (0,)


_ROWS_BY_ARGUMENTS = _FILLED | {"getitem", "array", "asarray", "astype", "arange", "diff"}


def _is_rowless(value: Value) -> bool:
    return isinstance(value, (Array, NumpyArray)) and value.rowless


def _keeps_first_axis(index: Value) -> bool:
    """Whether an index gives what has no rows where the array has none: a slice comes first in it."""
    parts = index.items if isinstance(index, TupleValue) else [index]
    first = parts[0] if parts else None
    return isinstance(first, ExternalObject) and first.name == "builtins.slice"


def _shape_of_literal(value: Value, known: Known | None, depth: int) -> Shape | None:
    if isinstance(value, (ListValue, TupleValue)):
        if value.items is None:
            return None
        parts = {_shape_of_literal(item, known, depth + 1) for item in value.items}
        inner = parts.pop() if len(parts) == 1 else () if not value.items else None
        return None if inner is None else (len(value.items), *inner)
    return shape_of(value, known, depth)


def broadcast(*shapes: Shape | None) -> Shape | None:
    """The shape of an operation on operands of these shapes; None when one is not known, or they do not fit."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        length = max(len(result), len(shape))
        left, right = (1,) * (length - len(result)) + result, (1,) * (length - len(shape)) + shape
        if any(a != b and 1 not in (a, b) for a, b in zip(left, right, strict=True)):
            return None
        result = tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))
    return result


__all__ = ["Shape", "broadcast", "lacks_rows", "shape_of", "static_shape"]
