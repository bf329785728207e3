"""Shapes in which each size is a number, and bounds on sizes of unknown shapes."""

from __future__ import annotations

import math

from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.measures import axis_of, size_of
from jaxlint.staging.values.arrays import Array, NumpyArray, Operation
from jaxlint.staging.values.leaves import leaves_in
from jaxlint.staging.values.objects import AtIndexer, ExternalObject, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Static, Value
from jaxlint.staging.values.sizes import differ

Numbers = tuple[int, ...]
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
# Those among them whose elements depend on others along an axis.
ALONG_AXES = frozenset({"softmax", "log_softmax", "cumsum", "cumprod"})
BROADCASTING = frozenset(
    """add subtract multiply divide maximum minimum power mod remainder floor_divide true_divide arctan2 logaddexp hypot
    logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal where clip
    bitwise_and bitwise_or bitwise_xor""".split()  # noqa: SIM905
)
MAX_DEPTH = 12


def shape_of(value: Value) -> Numbers | None:
    """The shape of `value` as an array, if it is known in numbers."""
    if not isinstance(value, (Array, Static)):
        return None
    shape = symbolic_shape(value)
    sizes = tuple(size for size in shape or () if isinstance(size, int))
    return sizes if shape is not None and len(sizes) == len(shape) else None


def number_of(value: Value | None) -> int | None:
    """The integer behind a value, also one that is computed from sizes of arrays; None if it is unknown."""
    size = None if value is None else size_of(value, symbolic_shape)
    return size if type(size) is int else None


def rows_of(value: Value, axis: int) -> int | None:
    """The size of one axis of an array, or of the first array of a tree for which it is known; None if of none."""
    for leaf in leaves_in(value) or ():
        if not isinstance(leaf, (Array, NumpyArray)) or (isinstance(leaf, Array) and not leaf.certain):
            continue
        size = axis_of(leaf, symbolic_shape, axis)
        if isinstance(size, int):
            return size
    return None


def shapes_differ(left: Value, right: Value) -> bool:
    """Whether two arrays certainly have different shapes, whatever the unknown sizes are."""
    one, two = symbolic_shape(left), symbolic_shape(right)
    if one is None or two is None:
        return False
    return len(one) != len(two) or any(map(differ, one, two))


def least_size(value: Value, depth: int = 0) -> int:
    """A lower bound on the number of elements: those of the known shape, or of an operand that the result broadcasts."""
    shape = shape_of(value)
    if shape is not None:
        return math.prod(shape)
    made = value.made if isinstance(value, Array) and not value.tree else None
    if made is None or depth > MAX_DEPTH or not (made.name in BROADCASTING or made.name in ELEMENTWISE):
        return 0
    operands = [arg.array if isinstance(arg, AtIndexer) else arg for arg in made.args]
    return max((least_size(operand, depth + 1) for operand in operands), default=0)


def lacks_rows(made: Operation) -> bool:
    """Whether an operation certainly returns an array whose first axis is empty, in JAX or NumPy.

    This is tested for each operation during the evaluation, so it computes no shape.
    """
    if made.name not in _ROWS_BY_ARGUMENTS or not made.args:
        return False
    first = made.args[0]
    if made.name == "getitem":
        return _is_rowless(first) and _keeps_first_axis(made.args[1])
    if made.name in ("array", "asarray", "astype"):
        return _is_rowless(first) or (isinstance(first, TupleValue) and first.items == [])
    if made.name == "diff":
        shape = shape_of(first) if len(made.args) == 1 and not made.kwargs else None
        return shape is not None and len(shape) == 1 and shape[0] <= 1
    const = constant(first)
    if made.name == "arange":
        bounds = [constant(arg) for arg in made.args]
        if not all(type(bound) in (int, float) for bound in bounds) or not set(made.kwargs) <= {"dtype"}:
            return False
        start, stop, step = ([0, *bounds, 1] if len(bounds) == 1 else [*bounds, 1])[:3]
        return bool(step) and (stop - start) / step <= 0
    return const == 0 if type(const) is int else isinstance(const, tuple) and const[:1] == (0,)


_ROWS_BY_ARGUMENTS = _FILLED | {"getitem", "array", "asarray", "astype", "arange", "diff"}


def _is_rowless(value: Value) -> bool:
    return isinstance(value, (Array, NumpyArray)) and value.rowless


def _keeps_first_axis(index: Value) -> bool:
    """Whether indexing an array without rows gives one without rows: the index begins with a slice."""
    parts = index.items if isinstance(index, TupleValue) else [index]
    first = parts[0] if parts else None
    return isinstance(first, ExternalObject) and first.name == "builtins.slice"


def maker_of(value: Value) -> Operation | None:
    """The operation that determined an array's shape, across the boundaries of stages."""
    for _ in range(MAX_DEPTH):
        if not isinstance(value, (Array, NumpyArray)):
            return None
        if value.made is not None:
            return value.made
        form = value.form
        if form is None or form.how not in ("", "row") or not form.of:
            return None
        value = form.of[0]
    return None
