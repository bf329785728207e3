"""The effect of `vmap` on shapes: each argument loses its mapped axis, and the result gains one."""

from __future__ import annotations

from jaxlint.staging.values import Array, NumpyArray, Transformed, TupleValue, Value, constant
from jaxlint.staging.values.forms import hidden, linked, row, stacked


class Rows:
    """The mapped axes of one call."""

    def __init__(self, axes: object, out: object) -> None:
        self.axes = axes
        self.out = out
        self.along: tuple[Value, int] | None = None  # a mapped array and its axis

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
            self.along = (outside, axis)

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
