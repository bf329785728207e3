"""A found attention in the form that kernels accept: queries [B, N, T, D], keys and values [B, K, S, D].

The operations on the scores become a scale, a cap, biases, masks and the flag "causal".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.kernels.axis_labels import Label, Sizes
from jaxlint_runtime.kernels.found_patterns import NEGLIGIBLE, Attention, Unlike, places_of
from jaxlint_runtime.kernels.outside_operands import Expression, Outside, Read, arranged, expression, restored
from jaxlint_runtime.kernels.value_graph import Value

_NARROW = ("bfloat16", "float16")


@dataclass(frozen=True)
class Operands:
    """Arrays in the form for kernels. `mask` and `bias` have four axes, of size 1 where they do not vary."""

    queries: Any
    keys: Any
    values: Any
    mask: Any = None
    bias: Any = None


@dataclass(frozen=True)
class Spec:
    """The properties of an attention besides its operands."""

    scale: float
    causal: bool = False
    cap: float | None = None  # scores become cap * tanh(scores / cap)


@dataclass(eq=False)
class Layout:
    """The arrangement of one attention's operands, and of its result in the program."""

    attention: Attention
    batch: list[Label] = field(default_factory=list)
    heads: list[Label] = field(default_factory=list)  # of keys and values
    groups: list[Label] = field(default_factory=list)  # queries per head of the keys
    time: list[Label] = field(default_factory=list)
    positions: list[Label] = field(default_factory=list)
    depth: list[Label] = field(default_factory=list)
    width: list[Label] = field(default_factory=list)  # of the values
    spec: Spec = Spec(1.0)
    factors: list[tuple[Expression, bool]] = field(default_factory=list)  # and whether it divides
    biases: list[tuple[Expression, float]] = field(default_factory=list)
    masks: list[tuple[Expression, bool]] = field(default_factory=list)  # and where it keeps

    @property
    def sizes(self) -> Sizes:
        """The sizes of the labels."""
        return self.attention.sizes

    @property
    def place(self) -> str:
        """The place that computes the scores."""
        return self.attention.place

    @property
    def result_places(self) -> list[str]:
        """The places that compute the result, as path:line, from the inside to the outside."""
        node = self.attention.result.node
        return places_of(node) if node else []

    @property
    def replaced(self) -> Value:
        """The program's value that is replaced."""
        return self.attention.result

    @property
    def reads(self) -> list[Value]:
        """The program's values that the arrays are computed from."""
        return reads(self)

    def compute(self, read: Read, implementation: Callable[[Operands, Spec], Any]) -> Any:
        """The result by `implementation`, which returns [B, N, T, width]."""
        return self.result(implementation(self.operands(read), self.spec))

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """B, N, T and D."""
        heads = self.sizes.size([*self.heads, *self.groups])
        return self.sizes.size(self.batch), heads, self.sizes.size(self.time), self.sizes.size(self.depth)

    @property
    def key_shape(self) -> tuple[int, int, int, int]:
        """B, K, S and D."""
        sizes = self.sizes
        return (
            sizes.size(self.batch), sizes.size(self.heads), sizes.size(self.positions), sizes.size(self.depth)
        )  # fmt: skip

    def operands(self, read: Read) -> Operands:
        """The arrays, from the program's values."""
        sizes, found = self.sizes, self.attention
        batch, heads, time, depth = self.shape
        own_heads = sizes.size(self.heads)
        queries = self._full(
            _narrow(found.queries), read, [*self.batch, *self.heads, *self.groups, *self.time, *self.depth]
        )
        keys = self._full(_narrow(found.keys), read, [*self.batch, *self.heads, *self.positions, *self.depth])
        values = self._full(
            _narrow(found.values), read, [*self.batch, *self.heads, *self.positions, *self.width]
        )
        queries, keys = self._scaled(queries, keys, read)
        positions, width = sizes.size(self.positions), sizes.size(self.width)
        common = jnp.result_type(queries, keys, values)
        return Operands(
            queries.reshape(batch, heads, time, depth).astype(common),
            keys.reshape(batch, own_heads, positions, depth).astype(common),
            values.reshape(batch, own_heads, positions, width).astype(common),
            self._mask(read),
            self._bias(read),
        )

    def result(self, array: Any) -> Any:
        """The result of a kernel, [B, N, T, width], in the program's arrangement."""
        order = [*self.batch, *self.heads, *self.groups, *self.time, *self.width]
        return restored(array, order, self.attention.axes, self.sizes, self.attention.result.aval)

    def _full(self, outside: Outside, read: Read, order: Sequence[Label]) -> Any:
        array = arranged(read(outside.value), outside.axes, order, self.sizes)
        return jnp.broadcast_to(array, [self.sizes.of[label] for label in order])

    def _scaled(self, queries: Any, keys: Any, read: Read) -> tuple[Any, Any]:
        of_queries = [*self.batch, *self.heads, *self.groups, *self.time, *self.depth]
        of_keys = [*self.batch, *self.heads, *self.positions, *self.depth]
        for factor, divides in self.factors:
            into_queries = factor.varies <= set(of_queries)
            array = factor.build(of_queries if into_queries else of_keys, self.sizes, read).astype(
                jnp.float32
            )
            array = 1.0 / array if divides else array
            if into_queries:
                queries = (queries * array).astype(queries.dtype)
            else:
                keys = (keys * array).astype(keys.dtype)
        return queries, keys

    def _mask(self, read: Read) -> Any:
        whole = None
        for mask, keeps in self.masks:
            array = self._four(mask, read).astype(bool)
            array = array if keeps else ~array
            whole = array if whole is None else whole & array
        return whole

    def _bias(self, read: Read) -> Any:
        whole = None
        for bias, sign in self.biases:
            array = sign * self._four(bias, read).astype(jnp.float32)
            whole = array if whole is None else whole + array
        return whole

    def _four(self, value: Expression, read: Read) -> Any:
        """A bias or mask with the axes B, N, T, S, each whole or of size 1."""
        parts = [self.batch, [*self.heads, *self.groups], self.time, self.positions]
        order = [label for part in parts for label in part]
        array = value.build(order, self.sizes, read)
        whole = [self.sizes.of[label] if value.varies & set(part) else 1 for part in parts for label in part]
        array = jnp.broadcast_to(array, whole)
        return array.reshape([self.sizes.size(part) if value.varies & set(part) else 1 for part in parts])


def arrange(attention: Attention) -> Layout:
    """The layout of an attention. Raises Unlike if kernels cannot express the operations on its scores."""
    sizes = attention.sizes
    own = {
        "queries": attention.queries.labels, "keys": attention.keys.labels, "values": attention.values.labels
    }  # fmt: skip
    in_result = [label for axis in attention.axes for label in axis]
    width = [
        label
        for label in in_result
        if label in own["values"]
        and label not in own["queries"] | own["keys"]
        and label not in _score_labels(attention)
    ]
    rows = [label for label in in_result if label not in width]
    free = [label for label in rows if label not in own["keys"] | own["values"]]
    shared = [label for label in rows if label not in free]
    layout = Layout(
        attention,
        positions=[label for axis in attention.keys.axes for label in axis if label in attention.positions],
        depth=[label for axis in attention.keys.axes for label in axis if label in attention.depth],
        width=width,
    )
    if set(layout.positions) != attention.positions or not attention.positions <= own["values"]:
        raise Unlike("attention over an axis that the values do not have")
    if set(layout.depth) != attention.depth or own["queries"] - set(rows) - attention.depth:
        raise Unlike("attention with queries that vary along other axes")
    if own["keys"] - attention.depth - attention.positions - own["queries"] - own["values"]:
        raise Unlike("scores that are mixed before the softmax")
    masks = _read_steps(layout)
    hinted = [label for mask, _ in masks if mask.constant for label in free if label in mask.varies]
    order = [label for axis in attention.queries.axes for label in axis]
    if free:
        time = (
            hinted[0]
            if hinted
            else max(free, key=lambda label: (sizes.of[label], order.index(label) if label in order else -1))
        )
        layout.time = [time]
        layout.groups = [label for label in free if label != time]
    layout.batch, layout.heads = shared[:-1], shared[-1:]
    causal = False
    for mask, keeps in masks:
        kind = _kind(layout, mask, keeps)
        causal = causal or kind == "causal"
        if kind == "other":
            layout.masks.append((mask, keeps))
    layout.spec = Spec(layout.spec.scale, causal, layout.spec.cap)
    for factor, _ in layout.factors:
        of_queries = {*layout.batch, *layout.heads, *layout.groups, *layout.time}
        if not (
            factor.varies <= of_queries or factor.varies <= {*layout.batch, *layout.heads, *layout.positions}
        ):
            raise Unlike("attention with a temperature that depends on query and key")
    return layout


def _score_labels(attention: Attention) -> frozenset[Label]:
    return attention.queries.labels | attention.keys.labels


def _read_steps(layout: Layout) -> list[tuple[Expression, bool]]:
    """Puts scale, cap, factors and biases into the layout; returns the masks separately."""
    sizes = layout.sizes
    scale, cap = 1.0, None
    masks: list[tuple[Expression, bool]] = []
    for step in layout.attention.steps:
        if step.kind == "scale":
            layout.biases = [(bias, sign * step.number) for bias, sign in layout.biases]
            cap = None if cap is None else cap * step.number
            scale = scale * step.number
        elif step.kind == "cap":
            if cap is not None or layout.biases or layout.factors or masks:
                raise Unlike("attention whose scores are capped twice or after a bias")
            cap = 1.0
        else:
            assert step.outside is not None
            value = expression(step.outside, sizes)
            if step.kind in ("factor", "divisor"):
                if cap is not None or layout.biases:
                    raise Unlike("attention with a learned temperature after a bias or a cap")
                layout.factors.append((value, step.kind == "divisor"))
            elif step.kind == "mask":
                masks += _conjuncts(value, bool(step.number))
            else:
                masks += _bias(layout, value, step.number)
    layout.spec = Spec(scale, False, cap)
    return masks


def _bias(layout: Layout, value: Expression, sign: float) -> list[tuple[Expression, bool]]:
    """Adds a bias to the layout, or returns the masks that it consists of: zero, and a large negative number."""
    if value.kind == "apply" and value.eqn.primitive.name == "select_n" and len(value.operands) == 3:
        cases = [_number(case, layout.sizes) for case in value.operands[1:]]
        for keeps in (0, 1):
            kept, dropped = cases[keeps], cases[1 - keeps]
            if kept == 0.0 and dropped is not None and sign * dropped <= NEGLIGIBLE:
                return _conjuncts(value.operands[0], bool(keeps))
    order = sorted(value.varies)
    folded = value.fold(order, layout.sizes) if order else None
    if folded is not None and sign > 0:
        zero, negligible = folded == 0, folded <= NEGLIGIBLE
        if negligible.any() and (zero | negligible).all():
            mask = Expression("array", value.varies, True, array=zero, array_order=tuple(order))
            return [(mask, True)]
    layout.biases.append((value, sign))
    return []


def _number(value: Expression, sizes: Sizes) -> float | None:
    if value.varies or not value.constant:
        return None
    folded = value.fold((), sizes)
    return None if folded is None or np.iscomplexobj(folded) else float(folded.reshape(()))


def _conjuncts(mask: Expression, keeps: bool) -> list[tuple[Expression, bool]]:
    """The conjuncts of a mask: two for `a & b`."""
    name = mask.eqn.primitive.name if mask.kind == "apply" else None
    if name == "not":
        return _conjuncts(mask.operands[0], not keeps)
    if name == ("and" if keeps else "or"):
        return [part for operand in mask.operands for part in _conjuncts(operand, keeps)]
    return [(mask, keeps)]


def _kind(layout: Layout, mask: Expression, keeps: bool) -> str:
    """Whether a mask keeps everything ("none"), is "causal", or is another one that must be passed on ("other")."""
    if not mask.constant or not mask.varies <= {*layout.time, *layout.positions}:
        return "other"
    folded = mask.fold([*layout.time, *layout.positions], layout.sizes)
    if folded is None:
        return "other"
    time, positions = layout.sizes.size(layout.time), layout.sizes.size(layout.positions)
    kept = np.broadcast_to(
        folded.reshape((*folded.shape[: len(layout.time)], -1)) if layout.time else folded.reshape(1, -1),
        (time, positions),
    )
    kept = kept.astype(bool) if keeps else ~kept.astype(bool)
    if kept.all():
        return "none"
    causal = np.arange(time)[:, None] >= np.arange(positions)[None, :]
    return "causal" if time > 1 and np.array_equal(kept, causal) else "other"


def _narrow(outside: Outside) -> Outside:
    """The 16-bit original of a value that was widened: its products are equal, and kernels want it narrow."""
    node = outside.value.node
    if node is None or node.name != "convert_element_type" or node.ins[0].hidden:
        return outside
    source = node.ins[0]
    if str(source.aval.dtype) in _NARROW and str(outside.value.aval.dtype) == "float32":
        return Outside(source, outside.axes)
    return outside


def scores_bytes(layout: Layout) -> int:
    """Bytes of the scores that the program computes."""
    return layout.attention.scores_bytes


def reads(layout: Layout) -> list[Value]:
    """The program's values that the layout's arrays are computed from."""
    found = layout.attention
    values = [_narrow(outside).value for outside in (found.queries, found.keys, found.values)]
    for value in (
        *(factor for factor, _ in layout.factors),
        *(bias for bias, _ in layout.biases),
        *(mask for mask, _ in layout.masks),
    ):
        values += value.reads()
    return [value for value in values if not value.is_held]
