"""Whether the elements of an array are zero when the program starts. Computed on demand.

A state that is created from zeros is zero in the first step of its loop, and what is computed from it may be zero as
well: a gradient there meets the points at which a function has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.sameness import same
from jaxlint.staging.values.arrays import Array, NumpyArray, Operation
from jaxlint.staging.values.objects import ExternalObject, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Static, Value, is_none

MAX_DEPTH = 16


class Extent(IntEnum):
    """Which elements are zero."""

    NONE = 0  # perhaps none of them
    ROW = 1  # those of one row along the first axis: the first that a loop stacks
    ALL = 2


@dataclass(frozen=True, slots=True)
class Zeros:
    """The elements that are zero at the start, and whether a gradient flows through them."""

    extent: Extent = Extent.NONE
    flows: bool = False


_NOWHERE = Zeros()
_FILLED = frozenset({"zeros", "zeros_like"})
# They map zero to zero, element by element.
_KEEPING = frozenset(
    """negative absolute abs fabs square sqrt sin tan sinh tanh arcsin arctan arcsinh arctanh expm1 log1p sign floor
    ceil round rint trunc positive conj conjugate real imag relu relu6 gelu silu swish soft_sign elu selu celu
    leaky_relu astype copy array asarray nan_to_num cumsum deg2rad rad2deg""".split()  # noqa: SIM905
)
# They only move elements.
_MOVING = frozenset(
    """reshape expand_dims squeeze transpose ravel flatten broadcast_to swapaxes moveaxis flip tile repeat roll sort
    diagonal diag""".split()  # noqa: SIM905
)
_REDUCING = frozenset("sum mean max min prod norm trace".split())  # noqa: SIM905
_PRODUCTS = frozenset("matmul dot vdot inner outer tensordot cross kron".split())  # noqa: SIM905
_JOINING = frozenset("concatenate stack hstack vstack column_stack".split())  # noqa: SIM905

Start = Callable[[Array], tuple[Value, bool] | None]


def zeros_at_start(value: Value | None, start: Start, depth: int = MAX_DEPTH) -> Zeros:
    """The elements of `value` that are zero in the first step.

    `start`: what an array that no operation has made begins as, and whether it is a constant for the gradient then;
    None if that is unknown.
    """
    if value is None or depth == 0:
        return _NOWHERE
    if isinstance(value, Static):
        number = constant(value)
        is_zero = type(number) in (int, float) and number == 0
        return Zeros(Extent.ALL) if is_zero else _NOWHERE
    if not isinstance(value, (Array, NumpyArray)):
        return _NOWHERE
    flow = isinstance(value, Array) and value.flow is not None
    if isinstance(value, Array) and (value.tree or value.mixed):
        return _NOWHERE
    form = value.form
    if value.made is None:
        if form is not None and form.how == "stacked":
            inner = zeros_at_start(form.of[0], start, depth - 1)
            first = inner.extent is Extent.ALL and form.axis == 0
            return Zeros(Extent.ROW, inner.flows) if first else _NOWHERE
        if form is not None and form.how == "row":
            whole = zeros_at_start(form.of[0], start, depth - 1)
            certain = whole.extent is Extent.ALL or (whole.extent is Extent.ROW and form.axis == 0)
            return Zeros(Extent.ALL, flow) if certain else _NOWHERE
        begun = start(value) if isinstance(value, Array) else None
        if begun is None:
            return _NOWHERE
        found = zeros_at_start(begun[0], start, depth - 1)
        return Zeros(found.extent, flow and not begun[1]) if found.extent else _NOWHERE
    if form is not None and form.how == "grown":  # what a loop on the host begins with
        found = zeros_at_start(form.of[0], start, depth - 1)
        return Zeros(found.extent, flow) if found.extent else _NOWHERE
    found = _of_result(value.made, start, depth)
    return Zeros(found.extent, found.flows or flow) if value.made.name in _FILLED else found


def _of_result(made: Operation, start: Start, depth: int) -> Zeros:
    name, args = made.name, made.args
    if name in _FILLED:
        return Zeros(Extent.ALL)
    if not args:
        return _NOWHERE
    if name in ("full", "full_like"):
        return _NOWHERE if made.operand(1, "fill_value") is None else _at(made.operand(1, "fill_value"))

    def of(operand: Value | None) -> Zeros:
        return zeros_at_start(operand, start, depth - 1)

    if name in _KEEPING:
        return of(args[0])
    if name in _MOVING:
        return _whole(of(args[0]))
    if name in _REDUCING:
        return _reduced(made, of(args[0]))
    if name == "getitem" and len(args) == 2:
        return _item(args[0], args[1], of(args[0]))
    if name in _JOINING:
        parts = args[0].items if isinstance(args[0], (TupleValue, ListValue)) else None
        return _all_of([of(part) for part in parts]) if parts else _NOWHERE
    if name == "where" and len(args) == 3:
        return _all_of([of(part) for part in args[1:]])
    if len(args) != 2:
        return _NOWHERE
    if name == "subtract" and same(args[0], args[1]):
        return Zeros(Extent.ALL, any(isinstance(one, Array) and one.flow is not None for one in args))
    one, two = of(args[0]), of(args[1])
    if name in ("add", "subtract", "maximum", "minimum", "arctan2", "hypot"):
        return _both(args, one, two)
    if name in _PRODUCTS:
        return _either(args, _whole(one), _whole(two))
    if name == "multiply":
        return _either(args, one, two)
    if name in ("divide", "true_divide"):
        return one if two.extent is Extent.NONE and _ranks_agree(args, one) else _NOWHERE
    if name == "power":
        exponent = constant(args[1])
        return one if isinstance(exponent, (int, float)) and exponent > 0 else _NOWHERE
    return _NOWHERE


def _at(number: Value | None) -> Zeros:
    given = constant(number) if number is not None else None
    return Zeros(Extent.ALL) if type(given) in (int, float) and given == 0 else _NOWHERE


def _whole(found: Zeros) -> Zeros:
    """Only what is zero everywhere stays so where elements move."""
    return found if found.extent is Extent.ALL else _NOWHERE


def _all_of(parts: list[Zeros]) -> Zeros:
    if all(part.extent is Extent.ALL for part in parts):
        return Zeros(Extent.ALL, any(part.flows for part in parts))
    return _NOWHERE


def _both(args: tuple[Value, ...], one: Zeros, two: Zeros) -> Zeros:
    """The elements that are zero in both operands."""
    extent = Extent(min(one.extent, two.extent))
    if not extent:
        return _NOWHERE
    found = Zeros(extent, one.flows or two.flows)
    return found if _ranks_agree(args, found) else _NOWHERE


def _either(args: tuple[Value, ...], one: Zeros, two: Zeros) -> Zeros:
    """The elements of a product, zero where a factor is."""
    found = one if one.extent >= two.extent else two
    if not found.extent or not _ranks_agree(args, found):
        return _NOWHERE
    return Zeros(found.extent, any(isinstance(part, Array) and part.flow is not None for part in args))


def _ranks_agree(args: tuple[Value, ...], found: Zeros) -> bool:
    """Whether broadcasting keeps the first axis of a row of zeros."""
    if found.extent is not Extent.ROW:
        return True
    shapes = [symbolic_shape(part) for part in args]
    ranks = {len(shape) for shape in shapes if shape is not None}
    return None not in shapes and len(ranks - {0}) == 1


def _reduced(made: Operation, found: Zeros) -> Zeros:
    if found.extent is not Extent.ROW:
        return found
    axis = constant(made.operand(2 if made.name == "norm" else 1, "axis")) if made.args else None
    shape = symbolic_shape(made.args[0])
    if type(axis) is not int or axis == 0 or (axis < 0 and (shape is None or axis + len(shape) <= 0)):
        return _NOWHERE
    return found


def _item(whole: Value, index: Value, found: Zeros) -> Zeros:
    if found.extent is not Extent.ROW:
        return found
    parts = index.items if isinstance(index, TupleValue) else [index]
    first = parts[0] if parts else None
    if first is None:
        return _NOWHERE
    if constant(first) == 0 and type(constant(first)) is int:
        return Zeros(Extent.ALL, found.flows)
    if constant(first) is ...:
        shape = symbolic_shape(whole)
        return found if shape is not None and len(parts or ()) <= len(shape) else _NOWHERE
    whole_slice = (
        isinstance(first, ExternalObject) and first.name == "builtins.slice" and all(map(is_none, first.args))
    )
    return found if whole_slice else _NOWHERE
