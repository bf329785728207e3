"""Comparison of two values as pytrees of arrays: certain differences in structure, dtype or shape."""

from __future__ import annotations

from jaxlint.api.tables import canonical_dtype, is_integer, promote, strong
from jaxlint.api.values import (
    ELEMENTWISE,
    REDUCTIONS,
    UNKNOWN,
    Array,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    NumpyArray,
    Operation,
    Origin,
    Static,
    TupleValue,
    Unknown,
    Value,
    constant,
    dtype_of,
    is_inexact,
    is_none,
    shape_text,
    shapes_differ,
    symbolic_shape,
)


def difference(left: Value, right: Value, carry: bool = False, depth: int = 4) -> str:
    """How `right` certainly differs from `left`, in words; "" if it may be the same.

    `carry`: `left` is a loop's initial value, in which Python numbers may get a wider dtype.
    """
    one, two = kind_of(left), kind_of(right)
    if not one or not two or depth == 0:
        return grown(left, right) if depth else ""
    if one != two:
        return f"{describe(left)} and {describe(right)}"
    if isinstance(left, DictValue) and isinstance(right, DictValue):
        return _difference_of_dicts(left, right, carry, depth)
    if isinstance(left, (TupleValue, ListValue)) and isinstance(right, (TupleValue, ListValue)):
        if isinstance(left, TupleValue) and isinstance(right, TupleValue) and left.cls is not right.cls:
            return f"{describe(left)} and {describe(right)}" if left.cls and right.cls else ""
        assert left.items is not None
        assert right.items is not None
        if len(left.items) != len(right.items):
            return f"{describe(left)} and {describe(right)}"
        for position, (a, b) in enumerate(zip(left.items, right.items, strict=True)):
            found = difference(a, b, carry, depth - 1)
            if found:
                return f"{found} at position {position}" if " at " not in found else found
        return ""
    if isinstance(left, Instance) and isinstance(right, Instance):
        return _difference_of_objects(left, right, carry, depth)
    return _difference_of_leaves(left, right, carry) if one == "leaf" else ""


def changed_in_size(left: Value, right: Value, depth: int = 4) -> str:
    """How `right` certainly has another structure or shape than `left`, whatever `left` is; parts are compared in pairs."""
    found = grown(left, right) or resized(left, right) or reduced_apart(left, right)
    if found or depth == 0:
        return found
    return next(filter(None, (changed_in_size(a, b, depth - 1) for a, b in _pairs(left, right))), "")


def grown(left: Value, right: Value) -> str:
    """The message that one value is a tuple, list or dict that contains the other, whatever that is."""
    for inner, outer in ((left, right), (right, left)):
        origin = _structured_as(inner)
        if origin is not None and kind_of(outer) in ("tuple", "list", "dict"):
            assert isinstance(outer, (TupleValue, ListValue, DictValue))
            if any(isinstance(part, (Array, Unknown)) and part.origin is origin for part in outer.elements()):
                return f"a value and {describe(outer)} that holds it"
    return ""


_KEEPING_STRUCTURE = frozenset({"optax.apply_updates", "optax.incremental_update", "optax.periodic_update"})


def _structured_as(value: Value) -> Origin | None:
    """The identity of a value with the same pytree structure: the value itself, or the one that it updates."""
    if isinstance(value, Array) and value.made is not None and value.made.name in _KEEPING_STRUCTURE:
        first = value.made.operand(0)
        return first.origin if isinstance(first, (Array, Unknown)) else None
    return value.origin if isinstance(value, (Array, Unknown)) else None


_JOINS = frozenset({"concatenate", "append", "hstack", "stack", "vstack"})


def resized(left: Value, right: Value) -> str:
    """The message that one of two arrays is the other one, concatenated or sliced."""
    for whole, made in ((left, right), (right, left)):
        if not isinstance(whole, Array) or not isinstance(made, Array) or whole.origin is None:
            continue
        origin = whole.origin
        if made.made is None or not made.made.args:
            continue
        operation = made.made
        first = operation.args[0]
        parts = first.elements() if isinstance(first, (ListValue, TupleValue)) else operation.args
        holds = any(isinstance(part, Array) and part.origin is origin for part in parts)
        if holds and operation.name in _JOINS and len(parts) > 1:
            return "an array and a longer one joined from it"
        if holds and operation.name == "getitem" and not whole.tree and _is_strict_slice(operation.args[1:]):
            return "an array and a slice of it"
    return ""


def reduced_apart(left: Value, right: Value) -> str:
    """The message that two arrays come from one, of any shape, and that one of them was reduced over more axes."""
    one, two = _axes_over(left), _axes_over(right)
    if one is None or two is None or one[0] is not two[0] or one[1] == two[1]:
        return ""
    more = abs(one[1] - two[1])
    return f"arrays that differ by {'one axis' if more == 1 else f'{more} axes'}"


def _axes_over(value: Value, depth: int = 6) -> tuple[Origin, int] | None:
    """The source value of an array, whatever it is, and how many axes the array has beyond it."""
    if not isinstance(value, (Array, Unknown)):
        return None
    made = value.made if isinstance(value, Array) else None
    change = _axes_added(made) if made is not None and made.args and depth > 0 else None
    if made is None or change is None:
        return (value.origin, 0) if value.origin is not None else None
    below = _axes_over(made.args[0], depth - 1)
    return (below[0], below[1] + change) if below is not None else None


def _axes_added(made: Operation) -> int | None:
    """How an operation changes the number of axes; None if that depends on its operand, or is unknown."""
    if made.name == "expand_dims":
        return 1 if type(constant(made.operand(1, "axis") or UNKNOWN)) is int else None
    if made.name not in REDUCTIONS or len(made.args) > 2:
        return 0 if made.name in ELEMENTWISE else None
    keeps = constant(made.kwargs["keepdims"]) if "keepdims" in made.kwargs else False
    if keeps is True:
        return 0
    axis = made.operand(1, "axis")
    if keeps is not False or axis is None:
        return None
    if isinstance(axis, TupleValue):
        return -len(axis.items) if axis.items else None
    return -1 if type(constant(axis)) is int else None


def _is_strict_slice(index: tuple[Value, ...]) -> bool:
    """`[1:]`, `[:-1]` or `[::2]`."""
    if len(index) != 1 or not isinstance(index[0], ExternalObject) or index[0].name != "builtins.slice":
        return False
    lower, upper, step = (constant(bound) for bound in index[0].args)
    numbers = [bound for bound in (lower, upper, step) if bound is not None]
    if len(numbers) != 1 or type(numbers[0]) is not int:
        return False
    return lower not in (None, 0) or (upper is not None and numbers[0] < 0) or step not in (None, 1, -1)


def _difference_of_dicts(left: DictValue, right: DictValue, carry: bool, depth: int) -> str:
    if left.items.keys() != right.items.keys():
        odd = sorted(map(repr, left.items.keys() ^ right.items.keys()))
        return f"dicts with and without the key {odd[0]}"
    for key, value in left.items.items():
        found = difference(value, right.items[key], carry, depth - 1)
        if found:
            return f"{found} at {key!r}"
    return ""


def _difference_of_objects(left: Instance, right: Instance, carry: bool, depth: int) -> str:
    """Objects of one class that JAX flattens, leaf by leaf, as far as their fields are known."""
    if left.cls is not right.cls:
        return ""  # an object may be of a class below
    for name, value in left.fields.items():
        other = right.fields.get(name)
        if other is not None and not left.cls.all_fields()[name].static:
            found = difference(value, other, carry, depth - 1)
            if found:
                return f"{found} at `{name}`" if " at " not in found else found
    return ""


def _difference_of_leaves(left: Value, right: Value, carry: bool) -> str:
    one, two = dtype_of(left), dtype_of(right)
    if one and two:
        weak_start = carry and one.endswith("*")
        settled = strong(promote(one, two)) if weak_start else strong(one)
        if canonical_dtype(settled) != canonical_dtype(strong(two)):  # NumPy's float64 starts as float32
            return f"{_words(one)} and {_words(two)}"
    for exact, other, unknown in ((one, right, two), (two, left, one)):
        # Its exact floating type depends on the program's input; it is never an integer.
        if (is_integer(exact) or exact == "bool") and not unknown and is_inexact(other):
            if not (carry and (exact.endswith("*") or exact == "bool" or other is left)):
                return f"{_words(exact)} and a float"
    if shapes_differ(left, right):
        first, second = (shape_text(symbolic_shape(value) or ()) for value in (left, right))
        return f"shape {first} and shape {second}"
    return ""


def kind_of(value: Value) -> str:
    """The kind of a value, if certain: "none", "leaf", "tuple", "list", "dict" or "object"; otherwise ""."""
    if is_none(value):
        return "none"
    if isinstance(value, Static):
        number = isinstance(value.const, (bool, int, float, complex)) or value.kind in (
            "int",
            "float",
            "bool",
        )
        return "leaf" if number else ""
    if isinstance(value, Array):
        # A value annotated as an array may still be a tree of arrays.
        return "leaf" if value.certain and not value.tree and value.role not in ("ref", "declared") else ""
    if isinstance(value, NumpyArray):
        return "leaf"
    if isinstance(value, TupleValue):
        return "tuple" if value.items is not None else ""
    if isinstance(value, ListValue):
        return "list" if value.items is not None and value.kind == "list" else ""
    if isinstance(value, DictValue):
        return "dict" if value.element is None and not value.optional else ""
    if isinstance(value, Instance):
        declared = value.cls.all_fields() if value.cls.model.pytree and value.cls.model.fields else {}
        return "object" if declared and value.fields.keys() <= declared.keys() else ""
    return ""


def describe(value: Value) -> str:
    """A value in words: "None", "a tuple of 2", "a float32 array"."""
    kind = kind_of(value)
    if kind == "none":
        return "None"
    if isinstance(value, (TupleValue, ListValue)) and value.items is not None:
        name = f"`{value.cls.name}`" if isinstance(value, TupleValue) and value.cls else kind
        return f"a {name} of {len(value.items)}"
    if isinstance(value, DictValue):
        return f"a dict of {len(value.items)}"
    if isinstance(value, Static):
        return "a Python number"
    if isinstance(value, Instance):
        return f"a `{value.cls.name}`"
    dtype = strong(dtype_of(value))
    return f"{'an' if dtype.startswith('int') else 'a'} {dtype} array" if dtype else "an array"


def _words(dtype: str) -> str:
    return f"weakly typed {strong(dtype)}" if dtype.endswith("*") else dtype


def _pairs(init: Value, carry: Value) -> list[tuple[Value, Value]]:
    if isinstance(init, DictValue) and isinstance(carry, DictValue):
        return [(init.items[key], carry.items[key]) for key in init.items.keys() & carry.items.keys()]
    if isinstance(init, (TupleValue, ListValue)) and isinstance(carry, (TupleValue, ListValue)):
        if init.items is not None and carry.items is not None:
            return list(zip(init.items, carry.items, strict=False))
    return []
