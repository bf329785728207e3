"""The rules that follow scores, exponentials, their sums and weights through elementwise equations and reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jaxlint_runtime.kernels.axis_labels import Axes, Label, Lost, Sizes, fitted, labels, merged, moved
from jaxlint_runtime.kernels.found_patterns import NEGLIGIBLE
from jaxlint_runtime.kernels.likelihood import Likelihoods
from jaxlint_runtime.kernels.outside_operands import Outside, mask_of, peeled, scalar
from jaxlint_runtime.kernels.score_states import (
    Exponentials,
    Marked,
    Picked,
    Products,
    Row,
    Scores,
    State,
    Step,
    Weights,
    logarithms,
)
from jaxlint_runtime.kernels.value_graph import Node, Value

_MOST_LOOKED_AT = 200  # equations that are searched for random bits
_RANDOM = frozenset({"random_bits", "threefry2x32", "rng_bit_generator", "random_seed"})


class ScoreRules(Likelihoods):
    """The state of an equation's result, from those of its operands; None if no rule applies."""

    sizes: Sizes
    cuts: dict[Label, tuple[Label, int]]
    rescaled: set[Value]
    reason: str

    def alone(self, node: Node, state: Any) -> State | None:
        name = node.name
        if name in ("convert_element_type", "copy", "reduce_precision"):
            return state
        axes = moved(node.eqn, state.axes, node.ins[0].shape, self.sizes)
        if axes is not None:
            return replace(state, axes=axes)
        if name.startswith("reduce_") and "axes" in node.params:
            return self._reduced(node, state)
        if isinstance(state, Row):
            return self._row_alone(node, state)
        if isinstance(state, Scores):
            if name == "neg":
                return self._step(state, Step("scale", -1.0))
            if name == "slice":
                return self._sliced(node, state)
            if name == "tanh" and not state.shift:
                return self._step(state, Step("cap"))
            if name == "exp2":
                state = self._step(state, Step("scale", math.log(2.0)))
                name = "exp"
            if name == "exp":
                return _exponentials(state)
        return None

    def _sliced(self, node: Node, scores: Scores) -> State | None:
        """Some rows of the scores only, as in a language model that drops the last position."""
        if node.params["strides"] is not None and any(stride != 1 for stride in node.params["strides"]):
            return None
        given = frozenset(
            label for step in scores.steps if step.outside is not None for label in step.outside.labels
        )
        axes = list(scores.axes)
        for n, (start, stop) in enumerate(
            zip(node.params["start_indices"], node.params["limit_indices"], strict=True)
        ):
            if stop - start == node.ins[0].shape[n]:
                continue
            if len(axes[n]) != 1 or axes[n][0] in given or scores.shift or stop - start < 2:
                return None
            (whole,) = axes[n]
            axes[n] = self.sizes.new(stop - start)
            if len(axes[n]) != 1:
                return None
            self.cuts[axes[n][0]] = (whole, start)
        return replace(scores, axes=tuple(axes))

    def _reduced(self, node: Node, state: Any) -> State | None:
        reduced = frozenset(label for n in node.params["axes"] for label in state.axes[n])
        axes = tuple(axis for n, axis in enumerate(state.axes) if n not in node.params["axes"])
        if isinstance(state, Marked):
            if node.name != "reduce_sum" or len(reduced) != 1:
                return None
            return Picked(axes, state.scores, state.label, state.scores.shift)
        if isinstance(state, Exponentials) and node.name == "reduce_sum":
            if any(not state.axes[n] and node.ins[0].shape[n] > 1 for n in node.params["axes"]):
                return None
            return Row(axes, "sum", state.key, reduced, state.scores)
        if isinstance(state, (Scores, Row)):
            return self._constant(node, axes)
        return None

    def _row_alone(self, node: Node, row: Row) -> State | None:
        if row.kind == "sum":
            if node.name == "log":
                term = (("log", row.key, row.over), labels(row.axes))
                return Row(row.axes, "terms", terms=frozenset({term}), scores=row.scores)
            if node.name == "abs":
                return row
            if node.name == "integer_pow" and node.params["y"] == -1:
                return replace(row, kind="inverse")
        if row.kind == "terms" and node.name == "stop_gradient" and not logarithms(row.terms):
            return row
        return self._constant(node, row.axes)

    def _constant(self, node: Node, axes: Axes) -> Row:
        return Row(axes, "terms", terms=frozenset({(node.outs[0], labels(axes))}))

    def rows_of(self, node: Node, ins: list[Any]) -> State | None:
        """An elementwise equation on row constants and outside values."""
        axes: Axes | None = None
        for state, _value in zip(ins, node.ins, strict=True):
            if not isinstance(state, Value):
                axes = state.axes if axes is None else merged(axes, state.axes)
        assert axes is not None
        if any(value.shape and value.shape != node.outs[0].shape for value in node.ins):
            return None
        if (
            node.name == "div"
            and isinstance(ins[1], Row)
            and ins[1].kind == "sum"
            and isinstance(ins[0], Value)
        ):
            if self._number(ins[0], axes) == 1.0:
                return replace(ins[1], kind="inverse")
        if node.name == "add" and all(isinstance(state, Row) and state.kind == "terms" for state in ins):
            return Row(axes, "terms", terms=ins[0].terms | ins[1].terms)
        for state in ins:  # an outside value may vary where the row constants do not
            if isinstance(state, Value) and state.shape:
                outside = self._outside(state, axes, node.outs[0].shape)
                axes = merged(axes, outside.axes) if len(outside.axes) == len(axes) else axes
        return self._constant(node, axes)

    def select(self, node: Node, ins: list[Any]) -> State | None:
        which, *cases = ins
        if len(cases) != 2 or not isinstance(which, Value) or not which.shape:
            if all(isinstance(state, (Row, Value)) for state in ins):
                return self.rows_of(node, ins)
            return None
        ours = [n for n, state in enumerate(cases) if not isinstance(state, Value)]
        if any(isinstance(cases[n], Row) for n in ours):
            return self.rows_of(node, ins)
        if len(ours) != 1:
            return None
        state, other = cases[ours[0]], cases[1 - ours[0]]
        mask = self._outside(which, state.axes, which.shape)
        fill = self._number(other, state.axes)
        step = Step("mask", float(ours[0]), mask)
        if isinstance(state, Scores) and fill is not None and fill <= NEGLIGIBLE:
            return self._step(state, step) if not state.shift else None
        if isinstance(state, Exponentials) and fill == 0.0:
            return _masked(state, step)
        if isinstance(state, Weights) and fill == 0.0:
            if any(same.kind == "mask" and same == step for same in (*state.scores.steps, *state.steps)):
                return state
            self.dropped(node)
        return None

    def sum_of(self, node: Node, ins: list[Any]) -> State | None:
        left, right = ins
        sign = -1.0 if node.name == "sub" else 1.0
        if isinstance(left, Row) and isinstance(right, Scores):
            left, right = (self._step(right, Step("scale", sign)) if sign < 0 else right), left
            sign = 1.0
        if isinstance(left, Scores) and isinstance(right, Row):
            if (sign > 0 and logarithms(right.terms)) or right.kind != "terms":
                return None
            merged(left.axes, right.axes)
            terms = right.terms if sign < 0 else {(("plus", what), own) for what, own in right.terms}
            return replace(left, shift=left.shift | terms)
        if isinstance(left, Value) and isinstance(right, Scores):
            if sign < 0:
                right, sign = self._step(right, Step("scale", -1.0)), 1.0
            left, right = right, left
        if not isinstance(left, Scores) or not isinstance(right, Value) or left.shift:
            return None
        outside = self._outside(right, left.axes, node.outs[0].shape)
        return self._step(left, Step("bias", sign, outside))

    def times(self, node: Node, ins: list[Any]) -> State | None:
        left, right = ins if not isinstance(ins[0], Value) else ins[::-1]
        if isinstance(right, Value):
            return self._scaled(node, left, right, inverse=False)
        if isinstance(left, Row):
            left, right = right, left
        if isinstance(right, Row) and right.kind == "inverse":
            return self._normalised(left, right)
        return None

    def divided(self, node: Node, ins: list[Any]) -> State | None:
        left, right = ins
        if isinstance(right, Value) and not isinstance(left, Value):
            return self._scaled(node, left, right, inverse=True)
        if isinstance(right, Row) and right.kind == "sum":
            return self._normalised(left, right)
        return None

    def _scaled(self, node: Node, state: Any, value: Value, inverse: bool) -> State | None:
        """A state multiplied or divided by an outside value."""
        number = self._number(value, state.axes)
        if isinstance(state, Scores) and not inverse and number is None:
            label = self._one_hot(value, state.axes)
            if label is not None:
                return Marked(state.axes, state, label)
        if isinstance(state, Scores) and not state.shift:
            if number is not None:
                return (
                    self._step(state, Step("scale", 1.0 / number if inverse else number)) if number else None
                )
            outside = self._outside(value, state.axes, node.outs[0].shape)
            return self._step(state, Step("divisor" if inverse else "factor", 0.0, outside))
        if isinstance(state, Exponentials) and not inverse:
            mask = mask_of(value)
            if mask is not None:
                outside = self._outside(mask, state.axes, node.outs[0].shape)
                return _masked(state, Step("mask", 1.0, outside))
        if isinstance(state, Weights):
            if number is None:
                self.dropped(node)
            self.rescaled.add(node.outs[0])
        return None

    def _normalised(self, state: Any, row: Row) -> State | None:
        """A state divided by a sum of exponentials."""
        if isinstance(state, Exponentials) and state.key == row.key:
            merged(state.axes, row.axes)
            if _row_wise(state.scores, row.over):
                return Weights(state.axes, row.key, row.over, state.scores, state.steps)
        if (
            isinstance(state, Products)
            and state.exponentials is not None
            and state.exponentials.key == row.key
        ):
            merged(state.axes, row.axes)
            if state.over == row.over and _row_wise(state.exponentials.scores, row.over):
                scores = state.exponentials
                weights = Weights(scores.axes, row.key, row.over, scores.scores, scores.steps)
                return replace(state, exponentials=None, weights=weights)
        return None

    def _step(self, scores: Scores, step: Step) -> Scores:
        return replace(scores, steps=(*scores.steps, step))

    def _outside(self, value: Value, axes: Axes, shape: Sequence[int]) -> Outside:
        """An outside value combined elementwise with one that has these axes. Raises Lost if it varies along others."""
        if not value.shape:
            return peeled(value, (), self.sizes)
        if len(value.shape) != len(axes):
            raise Lost
        outside = peeled(value, fitted(axes, value.shape), self.sizes)
        if any(size > 1 and not axis for axis, size in zip(axes, value.shape, strict=True)):
            if not outside.value.shape:
                return outside
            raise Lost
        return outside

    def _number(self, value: Any, axes: Axes) -> float | None:
        if not isinstance(value, Value):
            return None
        if value.shape and len(value.shape) != len(axes):
            return None
        return scalar(Outside(value, fitted(axes, value.shape)), self.sizes)

    def dropped(self, node: Node) -> None:
        random = any(_random(value) for value in node.ins)
        what = (
            "dropout on the attention weights"
            if random
            else "attention weights that are changed after the softmax"
        )
        self.reason = self.reason or f"{what}: not replaced"


def _exponentials(scores: Scores) -> State | None:
    """exp of scores: already weights, if the logarithm of their own sum was subtracted."""
    logs = logarithms(scores.shift)
    if not logs:
        return Exponentials(scores.axes, scores)
    if len(logs) > 1:
        return None
    (_, key, over), _own = next(iter(logs))
    rest = scores.shift - logs
    if key != (scores.steps, rest, ()) or not _row_wise(scores, over):
        return None
    return Weights(scores.axes, key, over, replace(scores, shift=rest))


def _masked(state: Exponentials, step: Step) -> Exponentials:
    """Exponentials set to zero by a mask; they are zero already if the mask was applied to the scores."""
    if step in (*state.scores.steps, *state.steps):
        return state
    return replace(state, steps=(*state.steps, step))


def _row_wise(scores: Scores, over: frozenset[Label]) -> bool:
    """Whether everything subtracted is constant along the summed axes."""
    return not any(own & over for _, own in scores.shift)


def _random(value: Value) -> bool:
    """Whether a value depends on random bits, within a few equations."""
    pending = [value]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_LOOKED_AT:
        node = pending.pop().inside.node
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.name in _RANDOM:
            return True
        pending += node.ins
    return False
