"""What JAX demands of several values, in an exact analysis: a loop returns arrays like those it began with, and the
branches of a condition return the same arrays. What is known of one of them is known of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jaxlint.jaxapi.dtypes import canonical_dtype, promote
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import form_of
from jaxlint.staging.values import UNKNOWN, Array, NumpyArray, Static, Unknown, Value
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.forms import same
from jaxlint.staging.values.leaves import UnclearTreeError, children, with_children

_DEPTH = 12
_ARRAYS = (Array, NumpyArray, Static)


def is_open(value: Value) -> bool:
    """Whether a value may be a tree of any structure."""
    return isinstance(value, Unknown) or (isinstance(value, Array) and value.tree)


def like_start(start: Value, result: Value, depth: int = _DEPTH) -> Value:
    """The result of a loop that began with `start`: the same structure, and arrays of the same shapes and dtypes."""
    if isinstance(start, Array) and not start.tree:
        if not isinstance(result, Array):
            return replace(start, origin=None, made=None, form=same(start))
        if symbolic_shape(start) is None:
            return replace(result, tree=False, dtype=start.dtype or result.dtype)
        return replace(result, tree=False, dtype=start.dtype or result.dtype, made=None, form=same(start))
    try:
        parts = children(start) if depth > 0 else None
        others = children(result) if parts and not is_open(result) else None
    except UnclearTreeError:
        return result
    if not parts or (others is not None and others.keys() != parts.keys()):
        return result
    given = others if others is not None else dict.fromkeys(parts, UNKNOWN)
    found = {name: like_start(part, given[name], depth - 1) for name, part in parts.items()}
    return with_children(start if others is None else result, found)


def of_branches(results: Sequence[Value], joined: Value, depth: int = _DEPTH) -> Value:
    """The result of a condition, of which `joined` is what a join of its branches gives."""
    known = [one for one in results if not is_open(one)]
    if not known:
        return _one_array(list(results), joined)
    if all(isinstance(one, Array) for one in known):
        return _one_array(list(results), joined if isinstance(joined, Array) else known[0])
    try:
        nodes = [children(one) for one in known] if depth > 0 else []
    except UnclearTreeError:
        return joined
    first = nodes[0] if nodes else None
    if not first or any(node is None or node.keys() != first.keys() for node in nodes):
        return joined
    beneath = children_of_joined(joined, first)
    found = {
        name: of_branches([node[name] for node in nodes if node is not None], beneath[name], depth - 1)
        for name in first
    }
    return with_children(known[0], found)


def children_of_joined(joined: Value, names: dict[object, Value]) -> dict[object, Value]:
    try:
        parts = None if is_open(joined) else children(joined)
    except UnclearTreeError:
        parts = None
    return parts if parts is not None and parts.keys() == names.keys() else names


def _one_array(results: list[Value], joined: Value) -> Value:
    """One array that each of `results` is."""
    arrays = [one for one in results if isinstance(one, Array)]
    if not isinstance(joined, Array) or not arrays:
        return joined
    shapes = [shape for one in arrays if (shape := symbolic_shape(one)) is not None]
    dtypes = [one.dtype for one in arrays if one.dtype and not (one.tree and symbolic_shape(one) is None)]
    shape = _most_exact(shapes)
    dtype = _dtype_of_all(dtypes)
    if shape is None and all(one.tree for one in arrays):
        return joined
    return replace(
        joined,
        tree=False,
        dtype=dtype or joined.dtype,
        form=form_of(shape) if shape is not None else joined.form,
        made=None if shape is not None else joined.made,
    )


def _most_exact(shapes: list[Shape]) -> Shape | None:
    """The shape of which most sizes are numbers, if all have one rank."""
    if not shapes or len({len(shape) for shape in shapes}) > 1:
        return None
    return max(shapes, key=lambda shape: sum(isinstance(size, int) for size in shape))


def _dtype_of_all(dtypes: list[str]) -> str:
    """The dtype of branches, some of which may be weak; "" if they contradict each other."""
    strong = {canonical_dtype(dtype) for dtype in dtypes if not dtype.endswith("*")}
    if len(strong) > 1:
        return ""
    return promote(*dtypes) if dtypes else ""


def tangents_of(value: Value, tangent: Array, depth: int = _DEPTH) -> Value:
    """Tangents or cotangents of `value`: arrays of its shapes and dtypes in its structure; integers have others.
    `tangent`: such an array of which nothing is known."""
    if isinstance(value, _ARRAYS) and not is_open(value):
        dtype = canonical_dtype(dtype_of(value))
        differs = dtype.startswith(("int", "uint", "bool"))
        shape = symbolic_shape(value)
        form = None if shape is None else same(value)
        return replace(tangent, tree=False, dtype="" if differs else dtype, form=form)
    try:
        parts = children(value) if depth > 0 else None
    except UnclearTreeError:
        return tangent
    if not parts:
        return tangent if parts is None else value
    return with_children(value, {name: tangents_of(part, tangent, depth - 1) for name, part in parts.items()})
