"""Cross-entropies: one position of each row of scores, minus the logarithm of the sum of the row's exponentials."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from jaxlint_runtime.kernels.axis_labels import Axes, Label, Sizes, fitted, merged, moved
from jaxlint_runtime.kernels.found_patterns import Likelihood
from jaxlint_runtime.kernels.outside_operands import Outside, expression, mask_of, peeled
from jaxlint_runtime.kernels.score_states import Picked, Row, Scores, State, logarithms
from jaxlint_runtime.kernels.value_graph import Node, Value


class Likelihoods:
    """The rules for scores picked from each row."""

    product: Node
    sizes: Sizes
    left: list[Any]  # the axes of the product's operands
    right: list[Any]
    depth: frozenset[Label]
    cuts: dict[Label, tuple[Label, int]]

    def gathered(self, node: Node, ins: list[Any]) -> State | None:
        """`take_along_axis` of scores along one axis, or of already picked scores, along an axis of one element."""
        state = ins[0]
        if not isinstance(state, (Scores, Picked)) or not isinstance(ins[1], Value):
            return None
        numbers, axes = node.params["dimension_numbers"], state.axes
        if isinstance(state, Picked):
            kept = tuple(axis for n, axis in enumerate(axes) if n not in numbers.collapsed_slice_dims)
            whole = node.params["slice_sizes"] == node.ins[0].shape and not numbers.operand_batching_dims
            return replace(state, axes=kept) if whole and len(kept) == len(numbers.offset_dims) else None
        if len(axes) == 2 and numbers.start_index_map == numbers.collapsed_slice_dims == (0, 1):
            return self._by_columns(node, state)
        batching = numbers.operand_batching_dims
        if numbers.offset_dims or len(numbers.start_index_map) != 1 or len(batching) != len(axes) - 1:
            return None
        result: list[Any] = [()] * len(node.outs[0].shape)
        for of_scores, of_label in zip(batching, numbers.start_indices_batching_dims, strict=True):
            result[of_label] = axes[of_scores]
        if any(size > 1 and not axis for size, axis in zip(node.outs[0].shape, result, strict=True)):
            return None
        label = peeled(ins[1], (*result, ()), self.sizes)
        return Picked(tuple(result), state, label, state.shift)

    def _by_columns(self, node: Node, scores: Scores) -> State | None:
        """`scores[arange(rows), labels]`: all row numbers in order, with the labels."""
        pairs = node.ins[1].inside.node
        if (
            pairs is None
            or pairs.name != "concatenate"
            or [value.shape[1:] for value in pairs.ins] != [(1,)] * 2
        ):
            return None
        (rows, _), (count, _) = scores.axes, node.ins[0].shape
        if node.outs[0].shape != (count,) or len(node.ins[1].shape) != 2:
            return None
        numbers, label = (peeled(value, (rows, ()), self.sizes) for value in pairs.ins)
        counted = expression(numbers, self.sizes).fold(rows, self.sizes)
        if counted is None or not np.array_equal(counted.reshape(-1), np.arange(count)):
            return None
        return Picked((rows,), scores, label, scores.shift)

    def _one_hot(self, value: Value, axes: Axes) -> Outside | None:
        """The labels behind a one-hot mask that compares them with the positions."""
        mask = mask_of(value)
        node = mask.inside.node if mask is not None else None
        if node is None or node.name != "eq" or len(node.outs[0].shape) != len(axes):
            return None
        sides = [peeled(operand, fitted(axes, operand.shape), self.sizes) for operand in node.ins]
        for label, counted in (sides, sides[::-1]):
            iota = counted.value.inside.node
            along = counted.labels
            if iota is not None and iota.name == "iota" and len(along) == 1 and not label.labels & along:
                return label
        return None

    def of_picked(self, node: Node, ins: list[Any]) -> State | None:
        """Operations on a picked score: row constants are subtracted from it, or it from them."""
        if len(ins) == 1:
            state = ins[0]
            if node.name in ("convert_element_type", "copy"):
                return state
            if node.name == "neg":
                return replace(state, sign=-state.sign)
            axes = moved(node.eqn, state.axes, node.ins[0].shape, self.sizes)
            return None if axes is None else replace(state, axes=axes)
        if node.name != "sub" or not all(isinstance(state, (Picked, Row)) for state in ins):
            return None
        left, right = ins
        picked, row, sign = (left, right, 1.0) if isinstance(left, Picked) else (right, left, -1.0)
        if not isinstance(row, Row) or row.kind != "terms" or picked.sign < 0:
            return None
        axes = merged(picked.axes, row.axes)
        return replace(picked, axes=axes, shift=picked.shift | row.terms, sign=sign)

    def likelihood(self, value: Value, picked: Picked) -> Likelihood | None:
        ((_, _, over), _) = next(iter(logarithms(picked.shift)))
        left, right = (
            frozenset(label for axis in axes for label in axis) for axes in (self.left, self.right)
        )
        if not over or over & left & right or not (over <= left or over <= right):
            return None
        sides = [(self.product.ins[0], self.left), (self.product.ins[1], self.right)]
        rows, table = sides if over <= right else sides[::-1]
        scores = self.product.outs[0].aval
        return Likelihood(
            result=value,
            axes=picked.axes,
            rows=peeled(rows[0], tuple(rows[1]), self.sizes),
            table=peeled(table[0], tuple(table[1]), self.sizes),
            label=picked.label,
            sign=picked.sign,
            depth=self.depth,
            positions=over,
            steps=picked.scores.steps,
            sizes=self.sizes,
            product=self.product,
            scores_bytes=math.prod(scores.shape) * scores.dtype.itemsize,
            cuts=dict(self.cuts),
        )
