"""The shape of a value, in integers and symbols, and the reason why an operation has none."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.staging.shapes.applied import RULES, Applied, MisfitError, Result, UnclearError
from jaxlint.staging.shapes.measures import axis_of, size_of, symbol_of_axis
from jaxlint.staging.values.arrays import Array, Form, NumpyArray, Operation, Shape
from jaxlint.staging.values.objects import AtIndexer, ListValue, TupleValue
from jaxlint.staging.values.plain import StarArgument, Static, Value, is_none, kind_of_static
from jaxlint.staging.values.sizes import Size, symbol

_NUMBERS = ("int", "float", "complex", "bool")


def symbolic_shape(value: Value) -> Shape | None:
    """The shape of `value` as an array, if its rank is known. Unknown sizes are symbols."""
    if isinstance(value, (Array, NumpyArray)):
        return _shape_of_array(value)
    if isinstance(value, Static):
        return () if kind_of_static(value) in _NUMBERS else None
    if isinstance(value, AtIndexer):
        return _shape_of_array(value.array)
    if isinstance(value, (ListValue, TupleValue)):
        return _shape_of_literal(value)
    return None


def _shape_of_literal(value: ListValue | TupleValue, depth: int = 0) -> Shape | None:
    """The shape of a list of numbers, or of arrays of one shape."""
    if isinstance(value, TupleValue) and value.measured is not None:
        return None
    if value.items is None and isinstance(value, ListValue) and value.kind == "list" and depth == 0:
        row = symbolic_shape(value.element)  # a list of unknown items, as a comprehension makes it
        return None if row is None else (symbol("?") if value.length is None else value.length, *row)
    if value.items is None and type(value) is TupleValue and depth == 0 and not value.head:
        row = None if value.element is None else symbolic_shape(value.element)
        return None if row is None else (symbol("?"), *row)
    if value.items is None or depth > 8:
        return None
    inner: Shape | None = ()
    for position, item in enumerate(value.items):
        if isinstance(item, StarArgument):
            return None
        nested = isinstance(item, (ListValue, TupleValue))
        shape = _shape_of_literal(item, depth + 1) if nested else symbolic_shape(item)  # type: ignore[arg-type]
        if shape is None or (position and inner != shape):
            return None
        inner = shape
    return (len(value.items), *(inner or ()))


def _shape_of_array(array: Array | NumpyArray) -> Shape | None:
    if isinstance(array, Array) and array.tree and not _is_one(array):
        return None
    form = array.form
    if form is None:
        if array.made is None:
            return None
        form = array.form = Form()
    if not form.asked:
        form.asked = True  # set before the shapes of its operands are computed, which may refer to it
        form.shape = _worked_out(array, form)
    return form.shape


def _is_one(tree: Array) -> bool:
    """Whether a tree may turn out to be one array: the result of a layer, or a row or a stack of such results."""
    form = tree.form
    if form is None:
        return False
    if form.how in ("row", "stacked") or (form.how == "" and tree.made is None):
        inner = form.of[0] if len(form.of) == 1 else None
        return isinstance(inner, Array) and inner.tree
    return form.how in ("layer", "declared")


def _worked_out(array: Array | NumpyArray, form: Form) -> Shape | None:
    shape: Shape | None = None
    how = form.how
    if how == "hidden":
        return None
    if how == "row" or how == "stacked":
        shape = symbolic_shape(form.of[0])
        if shape is not None:
            shape = _row(shape, form.axis) if how == "row" else _stacked(shape, form)
    elif how == "layer":
        assert form.made is not None
        shape = _of_result(form.made, form)
    elif how == "either":
        shape = _of_either(array, form)
    elif array.made is not None:
        shape = _of_result(array.made, form)
        if shape is not None and how == "grown":
            shape = _agreed(array, form, [symbolic_shape(form.of[0]), shape])
    if shape is None and not how and form.of:
        shape = symbolic_shape(form.of[0])
    if shape is None and form.rank is not None:
        shape = tuple(symbol_of_axis(array, form, axis) for axis in range(form.rank))
    return shape


def _of_result(made: Operation, form: Form) -> Shape | None:
    try:
        found = applied(made)
    except MisfitError as misfit:
        form.misfit = misfit
        return None
    if isinstance(found, list):  # each of several arrays, if they are alike
        return found[0] if found and all(shape == found[0] for shape in found) else None
    return found


def _row(shape: Shape, axis: int) -> Shape | None:
    if not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    return shape[:axis] + shape[axis + 1 :]


def _stacked(shape: Shape, form: Form) -> Shape | None:
    size: Size | None = None
    if isinstance(form.along, tuple):
        array, axis = form.along
        size = axis_of(array, symbolic_shape, axis)
    elif form.along is not None:
        size = size_of(form.along, symbolic_shape)
    axis = form.axis if form.axis >= 0 else form.axis + len(shape) + 1
    if not 0 <= axis <= len(shape):
        return None
    return (*shape[:axis], symbol("?") if size is None else size, *shape[axis:])


def _of_either(array: Array | NumpyArray, form: Form) -> Shape | None:
    """The shape of a value that is one of several arrays."""
    return _agreed(array, form, [symbolic_shape(one) for one in form.of if not is_none(one)])


def _agreed(array: Array | NumpyArray, form: Form, shapes: Sequence[Shape | None]) -> Shape | None:
    """The common part of several shapes. Where they differ, the size is a symbol."""
    first = shapes[0] if shapes else None
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    found: list[Size] = []
    for axis, size in enumerate(first):
        agreed = all(shape is not None and shape[axis] == size for shape in shapes)
        found.append(size if agreed else symbol_of_axis(array, form, axis))
    return tuple(found)


def applied(made: Operation) -> Result | None:
    """The shape of an operation's result, or of all its results; None if unknown.

    Raises MisfitError if its operands certainly do not fit.
    """
    full = made.full or f"numpy.{made.name}"
    name = full.removeprefix("jax.")  # NumPy's functions return the same shapes as those of `jax.numpy`
    rule = RULES.get(name)
    if rule is None:
        return None
    try:
        return rule(Applied(made, name, symbolic_shape))
    except (UnclearError, OverflowError):  # such as a size beyond what a float can tell
        return None


def misfit_of(array: Array) -> MisfitError | None:
    """Why the operation that returned `array` certainly fails; None if it may succeed."""
    _shape_of_array(array)
    found = array.form.misfit if array.form is not None else None
    return found if isinstance(found, MisfitError) else None
