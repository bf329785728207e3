"""The effect of `vmap` on shapes: each argument loses its mapped axis, and the result gains one."""

from __future__ import annotations

from jaxlint.staging.values import (
    Array,
    DictValue,
    ExternalObject,
    ListValue,
    NumpyArray,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
    is_none,
    map_parts,
)
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.forms import hidden, linked, row, same, stacked
from jaxlint.staging.values.leaves import leaves_in

_VMAPS = frozenset({"jax.vmap", "equinox.filter_vmap", "haiku.vmap", "flax.nnx.vmap"})
_FIRST = Static(0)  # the axis that is mapped if the program does not say


class Rows:
    """The mapped axes of one call."""

    def __init__(self, axes: object, out: object) -> None:
        self.axes = axes
        self.out = out
        # A mapped array and its axis, or how many rows there are.
        self.along: tuple[Value, int] | Value | None = None

    @classmethod
    def of(cls, t: Transformed) -> Rows | None:
        """None if the axes are unknown."""
        options = t.options
        if t.kind != "vmap" or t.api != "jax.vmap" or "**" in options:
            return None
        axes = constant(options["in_axes"]) if "in_axes" in options else 0
        out = constant(options["out_axes"]) if "out_axes" in options else 0
        return cls(axes, out) if isinstance(axes, (int, tuple)) else None

    def see(self, inside: Value, outside: Value, position: int) -> None:
        """Records the array that an argument is a row of."""
        axis = self.axes
        if isinstance(axis, tuple):
            axis = axis[position] if position < len(axis) else None
        if type(axis) is not int:
            return
        linked(inside, outside, lambda whole: row(whole, axis))
        if self.along is None and isinstance(outside, (Array, NumpyArray)):
            self.along = outside, axis

    def stacked(self, result: Value) -> Value:
        """The result for all rows, stacked."""
        if type(self.out) is int:
            return stacked(result, self.along, self.out)
        items = result.items if isinstance(result, TupleValue) else None
        if not isinstance(self.out, tuple) or items is None or len(items) != len(self.out):
            return hidden(result)
        parts = [
            stacked(part, self.along, axis) if type(axis) is int else hidden(part)
            for part, axis in zip(items, self.out, strict=True)
        ]
        return TupleValue(parts)


class TreeRows(Rows):
    """The same in an exact analysis, which also follows trees of arguments and of axes."""

    def __init__(self, axes: Value, out: Value) -> None:
        super().__init__(None, constant(_plain(out)))
        self.given = axes

    @classmethod
    def of(cls, t: Transformed) -> Rows | None:
        if t.kind != "vmap" or t.api not in _VMAPS or "**" in t.options:
            return None
        return cls(t.options.get("in_axes", _FIRST), t.options.get("out_axes", _FIRST))

    def see(self, inside: Value, outside: Value, position: int) -> None:
        axes = self.given
        if isinstance(axes, (TupleValue, ListValue)):
            parts = axes.items
            if parts is None or position >= len(parts):
                return
            axes = parts[position]
        self.see_part(inside, outside, axes)

    def see_named(self, inside: Value, outside: Value) -> None:
        """An argument by keyword, which `vmap` maps along its first axis."""
        self.see_part(inside, outside, _FIRST)

    def stacked(self, result: Value) -> Value:
        return super().stacked(_as_arrays(result))

    def see_part(self, inside: Value, outside: Value, axes: Value, depth: int = 4) -> None:
        axis = constant(_plain(axes))
        if type(axis) is int:
            along = axis
            linked(inside, outside, lambda whole: row(whole, along))
            if self.along is None:
                arrays = [leaf for leaf in leaves_in(outside) or () if isinstance(leaf, (Array, NumpyArray))]
                self.along = (arrays[0], axis) if arrays else None
        elif is_none(axes):
            linked(inside, outside, same)
        elif depth > 0:
            for name, part in _by_name(axes).items():
                within, without = _by_name(inside).get(name), _by_name(outside).get(name)
                if within is not None and without is not None:
                    self.see_part(within, without, part, depth - 1)


def _plain(axes: Value) -> Value:
    """`equinox.if_array(0)` as the axis of its arrays."""
    if isinstance(axes, ExternalObject) and axes.name == "equinox.if_array" and axes.args:
        return axes.args[0]
    return axes


def _by_name(tree: Value) -> dict[object, Value]:
    if isinstance(tree, DictValue):
        return dict(tree.items)
    items = tree.items if isinstance(tree, (TupleValue, ListValue)) else None
    return dict(enumerate(items or ()))


def _as_arrays(result: Value, depth: int = 4) -> Value:
    """Numbers that the function returns become arrays as well."""
    if isinstance(result, Static) and dtype_of(result):
        return Array(True, certain=False, dtype=dtype_of(result), form=same(result))
    if isinstance(result, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(result, lambda part: _as_arrays(part, depth - 1))
    return result
