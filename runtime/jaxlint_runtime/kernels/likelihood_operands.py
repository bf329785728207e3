"""A found cross-entropy in the form for kernels: rows [R, D] and a table [V, D], whose products are the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.kernels.axis_labels import Axes, Label
from jaxlint_runtime.kernels.found_patterns import Likelihood, Unlike
from jaxlint_runtime.kernels.outside_operands import Expression, Read, arranged, expression, restored
from jaxlint_runtime.kernels.value_graph import Value


@dataclass(frozen=True)
class Examples:
    """The arrays of a cross-entropy: `label` is [R], `bias` (None for none) is [V] in float32."""

    rows: Any
    table: Any
    label: Any
    bias: Any = None


@dataclass(eq=False)
class Loss:
    """The log-likelihoods of one position of each row, from the operands of the scores' product."""

    likelihood: Likelihood
    rows: list[Label]
    depth: list[Label]
    positions: list[Label]
    label: Expression
    scale: float = 1.0
    biases: tuple[tuple[Expression, float], ...] = ()

    @property
    def place(self) -> str:
        """The place that computes the scores."""
        return self.likelihood.place

    @property
    def replaced(self) -> Value:
        """The program's value that is replaced."""
        return self.likelihood.result

    @property
    def shape(self) -> tuple[int, int, int]:
        """R, V and D."""
        sizes = self.likelihood.sizes
        return sizes.size(self.rows), sizes.size(self.positions), sizes.size(self.depth)

    @property
    def reads(self) -> list[Value]:
        """The program's values that the arrays are computed from."""
        found = self.likelihood
        values = [outside.value for outside in (found.rows, found.table) if not outside.value.is_held]
        return [*values, *self.label.reads(), *(value for bias, _ in self.biases for value in bias.reads())]

    def compute(self, read: Read, implementation: Callable[[Examples, float], Any]) -> Any:
        """The result by `implementation`, which returns log-likelihoods [R] in float32."""
        found, sizes = self.likelihood, self.likelihood.sizes
        count, positions, depth = self.shape

        def whole(array: Any, order: Sequence[Label]) -> Any:
            return jnp.broadcast_to(array, [sizes.of[label] for label in order])

        array, axes = self._rows(read(found.rows.value))
        order = [*self.rows, *self.depth]
        rows = whole(arranged(array, axes, order, sizes), order)
        table = arranged(read(found.table.value), found.table.axes, [*self.positions, *self.depth], sizes)
        label = whole(self.label.build(self.rows, sizes, read), self.rows).reshape(count)
        bias = None
        for value, sign in self.biases:
            array = sign * whole(value.build(self.positions, sizes, read), self.positions).reshape(positions)
            bias = array.astype(jnp.float32) if bias is None else bias + array
        examples = Examples(rows.reshape(count, depth), table.reshape(positions, depth), label, bias)
        values = found.sign * implementation(examples, self.scale)
        return restored(values, self.rows, found.axes, sizes, found.result.aval)

    def _rows(self, array: Any) -> tuple[Any, Axes]:
        """The operand with the rows of the scores, sliced like the scores."""
        found = self.likelihood
        axes = list(found.rows.axes)
        for part, (whole, start) in found.cuts.items():
            for n, axis in enumerate(axes):
                if axis == (whole,):
                    array = jax.lax.slice_in_dim(array, start, start + found.sizes.of[part], axis=n)
                    axes[n] = (part,)
        return array, tuple(axes)


def arrange(likelihood: Likelihood) -> Loss:
    """The form for kernels. Raises Unlike if they cannot express the operations on the scores."""
    sizes = likelihood.sizes
    rows = [label for axis in likelihood.axes for label in axis]
    depth = [label for axis in likelihood.rows.axes for label in axis if label in likelihood.depth]
    positions = [label for axis in likelihood.table.axes for label in axis if label in likelihood.positions]
    parts = {whole for whole, _ in likelihood.cuts.values()}
    if set(likelihood.cuts) - set(rows) or any(
        label in likelihood.cuts for label, _ in likelihood.cuts.values()
    ):
        raise Unlike("a cross-entropy of scores that are sliced twice")
    if any(len(axis) > 1 and set(axis) & parts for axis in likelihood.rows.axes):
        raise Unlike("a cross-entropy of scores that are sliced across merged axes")
    if likelihood.table.labels != {*depth, *positions} or likelihood.rows.labels - {*rows, *depth, *parts}:
        raise Unlike("a cross-entropy whose table varies from row to row")
    label = expression(likelihood.label, sizes)
    if not label.varies <= set(rows):
        raise Unlike("a cross-entropy whose labels vary along other axes")
    scale = 1.0
    biases: list[tuple[Expression, float]] = []
    for step in likelihood.steps:
        if step.kind == "scale":
            scale *= step.number
            biases = [(bias, sign * step.number) for bias, sign in biases]
        elif step.kind == "bias" and step.outside is not None:
            value = expression(step.outside, sizes)
            if not value.varies <= set(positions):
                raise Unlike("a cross-entropy with a bias that varies from row to row")
            biases.append((value, step.number))
        else:
            raise Unlike("a cross-entropy whose scores are masked or capped")
    return Loss(likelihood, rows, depth, positions, label, scale, tuple(biases))
