"""Attention in a traced program: softmax(scale * q k^T + bias, masked) v, in any spelling.

Small rules follow the values that depend on each product forward: scores (scaled, biased, masked), row constants (a
maximum, the logarithm of a sum), exponentials, their sums, weights, and the product with the values. Subtracting a
row constant does not change a softmax, so any such constant is as good as the maximum. An operation without a rule
ends the search: a sum over another axis, another divisor, a sigmoid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxlint_runtime import compat
from jaxlint_runtime.kernels.axis_labels import Axes, Label, Lost, NeedsSplit, Sizes
from jaxlint_runtime.kernels.found_patterns import Attention, Found, Likelihood, Unlike, place_of
from jaxlint_runtime.kernels.outside_operands import peeled
from jaxlint_runtime.kernels.score_rules import ScoreRules
from jaxlint_runtime.kernels.score_states import (
    Exponentials,
    Picked,
    Products,
    Row,
    Scores,
    State,
    Weights,
    complete,
)
from jaxlint_runtime.kernels.value_graph import Graph, Node, Value

_MOST_SPLITS = 8


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
        return f"{what} inside a custom_vjp or custom_jvp function"
    kept = graph.needed({attention.result: attention.operands})
    if attention.product in kept:
        return f"{what} whose scores or weights are also used elsewhere"
    return None


def _from(graph: Graph, product: Node) -> Attention | Likelihood | None:
    """The attention or cross-entropy that begins with a product; None if there is none. Raises Unlike."""
    cuts: dict[Label, tuple[int, ...]] = {}
    for _ in range(_MOST_SPLITS):
        try:
            return _Search(graph, product, Sizes(dict(cuts))).run()
        except NeedsSplit as need:
            cuts[need.label] = need.sizes
    return None


class _Search(ScoreRules):
    """Follows one product."""

    def __init__(self, graph: Graph, product: Node, sizes: Sizes) -> None:
        self.graph = graph
        self.product = product
        self.sizes = sizes
        self.states: dict[Value, State | None] = {}  # None: depends on the product in an unknown way
        self.cuts: dict[Label, tuple[Label, int]] = {}  # slices of labels: the labels, and the offset
        self.rescaled: set[Value] = set()  # weights times a number, the first step of dropout
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
        """The state of a node's result; None if no rule applies."""
        name = node.name
        first = ins[0]
        if name == "dot_general":
            return self._second_product(node, ins)
        derived = [state for state in ins if not isinstance(state, Value)]
        if any(state is None for state in derived):
            if any(value in self.rescaled for value in node.ins):
                self.dropped(node)
            return None
        if name == "gather":
            return self.gathered(node, ins)
        if any(isinstance(state, Picked) for state in derived):
            return self.of_picked(node, ins)
        if len(ins) == 1:
            return self.alone(node, first)
        if name == "select_n":
            return self.select(node, ins)
        if all(isinstance(state, Row) for state in derived):
            return self.rows_of(node, ins)
        if name in ("add", "sub", "add_any"):
            return self.sum_of(node, ins)
        if name == "mul":
            return self.times(node, ins)
        if name == "div":
            return self.divided(node, ins)
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


def _product_axes(node: Node, left: Sequence[Any], right: Sequence[Any]) -> Axes:
    (left_sum, right_sum), (left_batch, right_batch) = node.params["dimension_numbers"]
    free_left = [n for n in range(len(left)) if n not in left_sum and n not in left_batch]
    free_right = [n for n in range(len(right)) if n not in right_sum and n not in right_batch]
    return (*(left[n] for n in left_batch), *(left[n] for n in free_left), *(right[n] for n in free_right))
