"""What two values have in common as pytrees of arrays: where their structure, dtype or shape certainly differs."""

from __future__ import annotations

from jaxlint.jaxapi.dtypes import canonical_dtype, promote, strong
from jaxlint.staging.operations import dtype_of
from jaxlint.staging.shapes import Known, shape_of
from jaxlint.staging.values import (
    Array,
    DictValue,
    ListValue,
    NumpyArray,
    Static,
    TupleValue,
    Value,
    is_none,
)


def difference(
    left: Value, right: Value, known: Known | None = None, carry: bool = False, depth: int = 4
) -> str:
    """How `right` certainly differs from `left`, in words; "" when it may be the same.

    `carry`: `left` is what a loop starts with, where Python numbers may become a wider dtype.
    """
    one, two = kind_of(left), kind_of(right)
    if not one or not two or depth == 0:
        return ""
    if one != two:
        return f"{describe(left)} and {describe(right)}"
    if isinstance(left, DictValue) and isinstance(right, DictValue):
        return _difference_of_dicts(left, right, known, carry, depth)
    if isinstance(left, (TupleValue, ListValue)) and isinstance(right, (TupleValue, ListValue)):
        if isinstance(left, TupleValue) and isinstance(right, TupleValue) and left.cls is not right.cls:
            return f"{describe(left)} and {describe(right)}" if left.cls and right.cls else ""
        assert left.items is not None
        assert right.items is not None
        if len(left.items) != len(right.items):
            return f"{describe(left)} and {describe(right)}"
        for position, (a, b) in enumerate(zip(left.items, right.items, strict=True)):
            found = difference(a, b, known, carry, depth - 1)
            if found:
                return f"{found} at position {position}" if " at " not in found else found
        return ""
    return _difference_of_leaves(left, right, known, carry) if one == "leaf" else ""


def _difference_of_dicts(
    left: DictValue, right: DictValue, known: Known | None, carry: bool, depth: int
) -> str:
    if left.items.keys() != right.items.keys():
        odd = sorted(map(repr, left.items.keys() ^ right.items.keys()))
        return f"dicts with and without {odd[0]}"
    for key, value in left.items.items():
        found = difference(value, right.items[key], known, carry, depth - 1)
        if found:
            return f"{found} at {key!r}"
    return ""


def _difference_of_leaves(left: Value, right: Value, known: Known | None, carry: bool) -> str:
    one, two = dtype_of(left), dtype_of(right)
    if one and two:
        weak_start = carry and one.endswith("*")
        settled = strong(promote(one, two)) if weak_start else strong(one)
        if canonical_dtype(settled) != canonical_dtype(strong(two)):  # NumPy's float64 starts as float32
            return f"{_words(one)} and {_words(two)}"
    first, second = shape_of(left, known), shape_of(right, known)
    if first is not None and second is not None and first != second:
        return f"shape {first} and shape {second}"
    return ""


def kind_of(value: Value) -> str:
    """ "none", "leaf", "tuple", "list" or "dict", where that is certain, else ""."""
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
        return "leaf" if value.certain and not value.tree and value.role != "ref" else ""
    if isinstance(value, NumpyArray):
        return "leaf"
    if isinstance(value, TupleValue):
        return "tuple" if value.items is not None else ""
    if isinstance(value, ListValue):
        return "list" if value.items is not None and value.kind == "list" else ""
    if isinstance(value, DictValue):
        return "dict" if value.element is None else ""
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
    dtype = strong(dtype_of(value))
    return f"a {dtype} array" if dtype else "an array"


def _words(dtype: str) -> str:
    return f"{strong(dtype)} (of a Python number)" if dtype.endswith("*") else dtype
