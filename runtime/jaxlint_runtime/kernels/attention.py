"""Attention in a staged program: softmax(scale * q k^T + bias, masked) v, however it is written.

From each product on, what depends on it is followed forward by small rules: scores (scaled, biased, masked), what is
constant along a row (a maximum, the logarithm of a sum), exponentials, their sums, weights, and the product with the
values. Softmax does not change when a constant of the row is subtracted, so any such constant is as good as the maximum.
What no rule knows ends the search: a sum over another axis, another divisor, a sigmoid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jaxlint_runtime import compat
from jaxlint_runtime.kernels.graph import Graph, Node, Value
from jaxlint_runtime.kernels.labels import Axes, Label, Lost, NeedsSplit, Sizes, fitted, labels, merged, moved
from jaxlint_runtime.kernels.likelihood import Likelihoods
from jaxlint_runtime.kernels.outside import Outside, mask_of, peeled, scalar
from jaxlint_runtime.kernels.patterns import NEGLIGIBLE, Attention, Found, Likelihood, Unlike, place_of
from jaxlint_runtime.kernels.states import (
    Exponentials,
    Marked,
    Picked,
    Products,
    Row,
    Scores,
    State,
    Step,
    Weights,
    complete,
    logarithms,
)

_MOST_SPLITS = 8
_MOST_LOOKED_AT = 200  # equations, in search of random bits
_RANDOM = frozenset({"random_bits", "threefry2x32", "rng_bit_generator", "random_seed"})


def find(graph: Graph) -> Found:
    """The attentions of a graph, without those in the bodies of loops and branches."""
    found = Found()
    taken: set[Value] = set()
    for node in graph.nodes:
        if node.name != "dot_general":
            continue
        try:
            attention = _from(graph, node)
        except Unlike as reason:
            if str(reason):
                found.near.append(f"{place_of(node)}: {reason}")
            continue
        if attention is None or attention.result in taken:
            continue
        problem = _unusable(graph, attention)
        if problem:
            found.near.append(f"{place_of(node)}: {problem}")
            continue
        taken.add(attention.result)
        if isinstance(attention, Likelihood):
            found.likelihoods.append(attention)
        else:
            found.attentions.append(attention)
    return found


def _unusable(graph: Graph, attention: Attention | Likelihood) -> str | None:
    what = "a cross-entropy" if isinstance(attention, Likelihood) else "attention"
    if attention.result.hidden or any(value.hidden for value in attention.operands):
        return f"{what} inside a function with a derivative of its own"
    kept = graph.needed({attention.result: attention.operands})
    if attention.product in kept:
        return f"{what} whose scores or weights are used elsewhere, too"
    return None


def _from(graph: Graph, product: Node) -> Attention | Likelihood | None:
    """The attention or cross-entropy that begins with a product; None where there is none. Raises Unlike."""
    cuts: dict[Label, tuple[int, ...]] = {}
    for _ in range(_MOST_SPLITS):
        try:
            return _Search(graph, product, Sizes(dict(cuts))).run()
        except NeedsSplit as need:
            cuts[need.label] = need.sizes
    return None


class _Search(Likelihoods):
    """Follows one product."""

    def __init__(self, graph: Graph, product: Node, sizes: Sizes) -> None:
        self.graph = graph
        self.product = product
        self.sizes = sizes
        self.states: dict[
            Value, State | None
        ] = {}  # None: depends on the product, in a way that is not known
        self.cuts: dict[
            Label, tuple[Label, int]
        ] = {}  # parts of labels, as slices make them: of which, from where
        self.rescaled: set[Value] = set()  # weights times a number, as dropout begins
        self.reason = ""

    def run(self) -> Attention | Likelihood | None:
        lhs, rhs = self.product.ins
        (left_sum, right_sum), (left_batch, right_batch) = self.product.params["dimension_numbers"]
        self.left: list[Any] = [None] * len(lhs.shape)
        self.right: list[Any] = [None] * len(rhs.shape)
        for n, m in (*zip(left_batch, right_batch, strict=True), *zip(left_sum, right_sum, strict=True)):
            self.left[n] = self.right[m] = self.sizes.new(lhs.shape[n])
        self.depth = frozenset(label for n in left_sum for label in self.left[n])
        for axes, shape in ((self.left, lhs.shape), (self.right, rhs.shape)):
            for n, size in enumerate(shape):
                if axes[n] is None:
                    axes[n] = self.sizes.new(size)
        own = _product_axes(self.product, self.left, self.right)
        self.states[self.product.outs[0]] = Scores(own)
        for node in self.graph.nodes[self.product.index + 1 :]:
            ins = [self.states.get(value.inside, value) for value in node.ins]
            if all(isinstance(state, Value) for state in ins):
                continue
            try:
                results = self._after(node, ins)
            except Lost:
                results = None
            for value in node.outs:
                self.states[value] = results
            if isinstance(results, Products) and results.weights is not None:
                attention = self._found(node.outs[0], results)
                if attention is not None:
                    return attention
                self.states[node.outs[0]] = None
            if isinstance(results, Picked) and complete(results):
                return self.likelihood(node.outs[0], results)
        if self.reason:
            raise Unlike(self.reason)
        return None

    # ---- rules ----

    def _after(self, node: Node, ins: list[Any]) -> State | None:
        """The state of a node's result; None where no rule knows it."""
        name = node.name
        first = ins[0]
        if name == "dot_general":
            return self._second_product(node, ins)
        derived = [state for state in ins if not isinstance(state, Value)]
        if any(state is None for state in derived):
            if any(value in self.rescaled for value in node.ins):
                self._dropped(node)
            return None
        if name == "gather":
            return self.gathered(node, ins)
        if any(isinstance(state, Picked) for state in derived):
            return self.of_picked(node, ins)
        if len(ins) == 1:
            return self._alone(node, first)
        if name == "select_n":
            return self._select(node, ins)
        if all(isinstance(state, Row) for state in derived):
            return self._rows(node, ins)
        if name in ("add", "sub", "add_any"):
            return self._sum(node, ins)
        if name == "mul":
            return self._times(node, ins)
        if name == "div":
            return self._divided(node, ins)
        return None

    def _alone(self, node: Node, state: Any) -> State | None:
        name = node.name
        if name in ("convert_element_type", "copy"):
            return state
        axes = moved(node.eqn, state.axes, node.ins[0].shape, self.sizes)
        if axes is not None:
            return replace(state, axes=axes)
        if name.startswith("reduce_"):
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
        """Some rows of the scores alone, as a language model leaves the last position out."""
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

    def _rows(self, node: Node, ins: list[Any]) -> State | None:
        """An elementwise equation on constants of the row, and values from outside."""
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
        for state in ins:  # a value from outside may vary where the constants of the row do not
            if isinstance(state, Value) and state.shape:
                outside = self._outside(state, axes, node.outs[0].shape)
                axes = merged(axes, outside.axes) if len(outside.axes) == len(axes) else axes
        return self._constant(node, axes)

    def _select(self, node: Node, ins: list[Any]) -> State | None:
        which, *cases = ins
        if len(cases) != 2 or not isinstance(which, Value) or not which.shape:
            if all(isinstance(state, (Row, Value)) for state in ins):
                return self._rows(node, ins)
            return None
        ours = [n for n, state in enumerate(cases) if not isinstance(state, Value)]
        if any(isinstance(cases[n], Row) for n in ours):
            return self._rows(node, ins)
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
            self._dropped(node)
        return None

    def _sum(self, node: Node, ins: list[Any]) -> State | None:
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

    def _times(self, node: Node, ins: list[Any]) -> State | None:
        left, right = ins if not isinstance(ins[0], Value) else ins[::-1]
        if isinstance(right, Value):
            return self._scaled(node, left, right, inverse=False)
        if isinstance(left, Row):
            left, right = right, left
        if isinstance(right, Row) and right.kind == "inverse":
            return self._normalised(left, right)
        return None

    def _divided(self, node: Node, ins: list[Any]) -> State | None:
        left, right = ins
        if isinstance(right, Value) and not isinstance(left, Value):
            return self._scaled(node, left, right, inverse=True)
        if isinstance(right, Row) and right.kind == "sum":
            return self._normalised(left, right)
        return None

    def _scaled(self, node: Node, state: Any, value: Value, inverse: bool) -> State | None:
        """A state times, or divided by, a value from outside."""
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
                self._dropped(node)
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

    def _second_product(self, node: Node, ins: list[Any]) -> State | None:
        ours = [n for n, state in enumerate(ins) if not isinstance(state, Value)]
        if len(ours) != 1 or not isinstance(ins[ours[0]], (Weights, Exponentials)):
            return None
        side = ours[0]
        state, value = ins[side], node.ins[1 - side]
        summed, batch = node.params["dimension_numbers"]
        shape = node.ins[side].shape
        if any(not axis and size > 1 for axis, size in zip(state.axes, shape, strict=True)):
            return None
        over = frozenset(label for n in summed[side] for label in state.axes[n])
        if isinstance(state, Weights) and over != state.over:
            return None
        axes: list[Any] = [None] * len(value.shape)
        for pairs in (summed, batch):
            for n, m in zip(pairs[side], pairs[1 - side], strict=True):
                axes[m] = state.axes[n]
        axes = [
            self.sizes.new(size) if axis is None else axis
            for axis, size in zip(axes, value.shape, strict=True)
        ]
        values = peeled(value, tuple(axes), self.sizes)
        both = (state.axes, tuple(axes)) if side == 0 else (tuple(axes), state.axes)
        result = _product_axes(node, *both)
        weights = state if isinstance(state, Weights) else None
        exponentials = state if isinstance(state, Exponentials) else None
        return Products(result, exponentials, weights, over, values)

    # ---- helpers ----

    def _step(self, scores: Scores, step: Step) -> Scores:
        return replace(scores, steps=(*scores.steps, step))

    def _outside(self, value: Value, axes: Axes, shape: Sequence[int]) -> Outside:
        """A value that meets one with these axes elementwise. Raises Lost where it varies along others."""
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

    def _dropped(self, node: Node) -> None:
        random = any(_random(value) for value in node.ins)
        what = (
            "dropout on the attention weights"
            if random
            else "attention weights that are changed before their use"
        )
        self.reason = self.reason or f"{what}: not replaced"

    def _found(self, value: Value, products: Products) -> Attention | None:
        weights = products.weights
        assert weights is not None
        over = products.over
        if self.cuts:
            return None
        left, right = (
            frozenset(label for axis in axes for label in axis) for axes in (self.left, self.right)
        )
        both = left & right
        if not over or over & both:
            return None
        if over <= right:
            queries, keys = (self.product.ins[0], self.left), (self.product.ins[1], self.right)
        elif over <= left:
            queries, keys = (self.product.ins[1], self.right), (self.product.ins[0], self.left)
        else:
            return None
        outsides = [peeled(source, tuple(axes), self.sizes) for source, axes in (queries, keys)]
        if any(
            size > 1 and not axis
            for outside in outsides
            for axis, size in zip(outside.axes, outside.value.shape, strict=True)
        ):
            return None
        frames = compat.user_frames(self.product.eqn)
        scores = self.product.outs[0].aval
        return Attention(
            result=value,
            axes=products.axes,
            queries=outsides[0],
            keys=outsides[1],
            values=products.values,
            depth=self.depth,
            positions=over,
            steps=(*weights.scores.steps, *weights.steps),
            sizes=self.sizes,
            product=self.product,
            compute_dtype=scores.dtype,
            site=frames[0] if frames else None,
            scores_bytes=math.prod(scores.shape) * scores.dtype.itemsize,
        )


def _exponentials(scores: Scores) -> State | None:
    """exp of scores: weights already, where the logarithm of their own sum was subtracted."""
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
    """Exponentials set to zero where a mask says so; they are zero already where it masked the scores."""
    if step in (*state.scores.steps, *state.steps):
        return state
    return replace(state, steps=(*state.steps, step))


def _row_wise(scores: Scores, over: frozenset[Label]) -> bool:
    """Whether all that was subtracted is constant along what is summed over."""
    return not any(own & over for _, own in scores.shift)


def _product_axes(node: Node, left: Sequence[Any], right: Sequence[Any]) -> Axes:
    (left_sum, right_sum), (left_batch, right_batch) = node.params["dimension_numbers"]
    free_left = [n for n in range(len(left)) if n not in left_sum and n not in left_batch]
    free_right = [n for n in range(len(right)) if n not in right_sum and n not in right_batch]
    return (*(left[n] for n in left_batch), *(left[n] for n in free_left), *(right[n] for n in free_right))


def _random(value: Value) -> bool:
    """Whether a value was made from random bits, a few equations ago."""
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
