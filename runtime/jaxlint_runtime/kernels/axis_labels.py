"""Names for the axes of arrays, followed through transposes, reshapes and broadcasts.

An axis carries a tuple of labels. A label stands for one index (the batch, the head, the position of a query), its
size is in `Sizes`. An axis that merges several labels carries them all, the slowest first. The value does not vary
along an axis without labels, whatever its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Label = tuple[int, ...]  # a number, and for a label that was cut out of another one the number of the piece
Axis = tuple[Label, ...]
Axes = tuple[Axis, ...]


class NeedsSplit(Exception):
    """A reshape splits a label: the search must restart with it split from the beginning."""

    def __init__(self, label: Label, sizes: tuple[int, ...]) -> None:
        super().__init__(f"label {label} into {sizes}")
        self.label = label
        self.sizes = sizes


class Lost(Exception):
    """The axes of a value can no longer be labelled."""


@dataclass
class Sizes:
    """The size of each label. `cuts`: the required splits of labels, numbered in the order of their creation."""

    cuts: dict[Label, tuple[int, ...]] = field(default_factory=dict)
    of: dict[Label, int] = field(default_factory=dict)
    _asked: int = 0

    def new(self, size: int) -> Axis:
        """An axis with a new label, or with the labels of its required split."""
        if size == 1:
            return ()
        self._asked += 1
        return self._cut((self._asked,), size)

    def _cut(self, label: Label, size: int) -> Axis:
        if label not in self.cuts:
            self.of[label] = size
            return (label,)
        parts: Axis = ()
        for number, part in enumerate(self.cuts[label]):
            parts += self._cut((*label, number), part) if part > 1 else ()
        return parts

    def size(self, axis: Sequence[Label]) -> int:
        """The product of the sizes of labels."""
        return math.prod(self.of[label] for label in axis)


def labels(axes: Axes) -> frozenset[Label]:
    """All labels of a value."""
    return frozenset(label for axis in axes for label in axis)


def fitted(axes: Axes, shape: Sequence[int]) -> Axes:
    """The axes of an operand of an elementwise equation, from those of its result: equations broadcast axes of size
    1."""
    return tuple(axis if size > 1 else () for axis, size in zip(axes, shape, strict=True)) if shape else ()


def merged(left: Axes, right: Axes) -> Axes:
    """The axes of an elementwise result. Raises Lost if two values vary along the same axis under different labels."""
    if len(left) != len(right):
        raise Lost
    result = []
    for a, b in zip(left, right, strict=True):
        if a and b and a != b:
            raise Lost
        result.append(a or b)
    return tuple(result)


def moved(eqn: Any, axes: Axes, shape: Sequence[int], sizes: Sizes) -> Axes | None:
    """The axes after an equation that only moves data; None for any other equation. Raises Lost and NeedsSplit."""
    name, params = eqn.primitive.name, eqn.params
    if name == "transpose":
        return tuple(axes[n] for n in params["permutation"])
    if name == "squeeze":
        return tuple(axis for n, axis in enumerate(axes) if n not in params["dimensions"])
    if name == "expand_dims":
        result = list(axes)
        for n in sorted(params["dimensions"]):
            result.insert(n, ())
        return tuple(result)
    if name == "broadcast_in_dim":
        result = [()] * len(params["shape"])
        for axis, n in zip(axes, params["broadcast_dimensions"], strict=True):
            result[n] = axis
        return tuple(result)
    if name == "reshape":
        return _reshaped(axes, shape, eqn.outvars[0].aval.shape, sizes)
    return None


def _reshaped(axes: Axes, old: Sequence[int], new: Sequence[int], sizes: Sizes) -> Axes:
    if any(size > 1 and not axis for axis, size in zip(axes, old, strict=True)):
        return _reshaped_with_constant_axes(axes, old, new)
    flat = [label for axis in axes for label in axis]
    result: list[Axis] = []
    for size in new:
        axis: list[Label] = []
        while sizes.size(axis) < size:
            if not flat or size % sizes.size(axis):
                raise Lost
            label = flat.pop(0)
            have, want = sizes.of[label], size // sizes.size(axis)
            if have > want:
                if have % want:
                    raise Lost
                raise NeedsSplit(label, (want, have // want))
            axis.append(label)
        if sizes.size(axis) != size:
            raise Lost
        result.append(tuple(axis))
    return tuple(result)


def _reshaped_with_constant_axes(axes: Axes, old: Sequence[int], new: Sequence[int]) -> Axes:
    """A reshape that only adds and removes axes of size 1, of a value that does not vary along some axes."""
    if [size for size in old if size > 1] != [size for size in new if size > 1]:
        raise Lost
    remaining = [axis for axis, size in zip(axes, old, strict=True) if size > 1]
    return tuple(remaining.pop(0) if size > 1 else () for size in new)


def before(eqn: Any, axes: Axes, sizes: Sizes) -> Axes | None:
    """The axes of the operand of an equation that only moves data, from those of its result.

    Labels along which the operand is repeated are dropped. None for any other equation.
    """
    name, params = eqn.primitive.name, eqn.params
    old, new = eqn.invars[0].aval.shape if eqn.invars else (), eqn.outvars[0].aval.shape
    if name == "transpose":
        result: list[Axis] = [()] * len(axes)
        for axis, n in zip(axes, params["permutation"], strict=True):
            result[n] = axis
        return tuple(result)
    if name == "squeeze":
        remaining = list(axes)
        return tuple(() if n in params["dimensions"] else remaining.pop(0) for n in range(len(old)))
    if name == "expand_dims":
        return tuple(axis for n, axis in enumerate(axes) if n not in params["dimensions"])
    if name == "broadcast_in_dim":
        return tuple(
            axes[n] if size == new[n] else ()
            for n, size in zip(params["broadcast_dimensions"], old, strict=True)
        )
    if name == "reshape":
        return _reshaped(axes, new, old, sizes)
    return None
