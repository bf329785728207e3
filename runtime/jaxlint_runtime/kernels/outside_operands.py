"""The outside operands of a pattern: scales, biases and masks, reduced to the axes along which they vary.

A kernel only needs the small original of a mask that was broadcast to the shape of the scores, and only the flag
"causal" for a causal mask. So the values are traced back through data movement, and elementwise equations are
repeated on the small originals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.kernels.axis_labels import Axes, Label, Lost, Sizes, before, fitted, labels
from jaxlint_runtime.kernels.value_graph import Value

Read = Callable[[Value], Any]

_ELEMENTWISE = frozenset(
    [
        "abs",
        "add",
        "add_any",
        "and",
        "ceil",
        "convert_element_type",
        "copy",
        "cos",
        "div",
        "eq",
        "exp",
        "exp2",
        "floor",
        "ge",
        "gt",
        "integer_pow",
        "is_finite",
        "le",
        "log",
        "log1p",
        "logistic",
        "lt",
        "max",
        "min",
        "mul",
        "ne",
        "neg",
        "not",
        "or",
        "pow",
        "rem",
        "round",
        "rsqrt",
        "select_n",
        "sign",
        "sin",
        "sqrt",
        "square",
        "sub",
        "tanh",
        "xor",
        "stop_gradient",
    ]
)
_TAKEN_APART = frozenset({"and", "or", "not", "select_n"})  # operations that create masks
_MOST = 2**27  # elements of a constant that is evaluated
_MOST_EQUATIONS = 200  # equations that are repeated for one value


@dataclass(frozen=True, slots=True)
class Outside:
    """A value from outside the pattern, and the labels of its axes."""

    value: Value
    axes: Axes

    @property
    def labels(self) -> frozenset[Label]:
        """The labels along which it varies."""
        return labels(self.axes)


def peeled(value: Value, axes: Axes, sizes: Sizes) -> Outside:
    """The smallest original of a value with these axis labels. Raises NeedsSplit."""
    best = Outside(value, axes)
    while True:
        if not value.hidden:
            best = Outside(value, axes)
        node = value.inside.node
        try:
            known = None if node is None else before(node.eqn, axes, sizes)
        except Lost:
            return best
        if node is None or known is None:
            return Outside(value, axes) if best.value.hidden else best
        value, axes = node.ins[0], known


@dataclass(frozen=True)
class Expression:
    """A value to be recomputed from small originals: an original, or an equation on others."""

    kind: str  # "read", "iota", "apply", "array"
    varies: frozenset[Label]
    constant: bool
    outside: Outside | None = None
    eqn: Any = None
    operands: tuple[Expression, ...] = ()
    array: Any = None  # its value, with an axis for each label of `array_order`
    array_order: tuple[Label, ...] = ()

    def build(self, order: Sequence[Label], sizes: Sizes, read: Read) -> Any:
        """Its value with one axis per label of `order`, of size 1 where it does not vary."""
        shape = [sizes.of[label] if label in self.varies else 1 for label in order]
        if self.kind == "read":
            assert self.outside is not None
            value = self.outside.value
            return arranged(jnp.asarray(read(value), value.aval.dtype), self.outside.axes, order, sizes)
        if self.kind == "iota":
            assert self.outside is not None
            index = jnp.zeros(shape, jnp.int32)
            stride = 1
            for label in reversed(self.outside.axes[self.eqn.params["dimension"]]):
                index = index + stride * jax.lax.broadcasted_iota(jnp.int32, shape, list(order).index(label))
                stride *= sizes.of[label]
            return index.astype(self.eqn.params["dtype"])
        if self.kind == "array":
            return arranged(self.array, tuple((label,) for label in self.array_order), order, sizes)
        built = [operand.build(order, sizes, read) for operand in self.operands]
        if self.eqn.primitive.name == "convert_element_type":
            return jax.lax.convert_element_type(built[0], self.eqn.params["new_dtype"])
        built = [jnp.broadcast_to(array, shape) for array in built]
        return self.eqn.primitive.bind(*built, **self.eqn.params)

    def reads(self) -> list[Value]:
        """The program's values that it is computed from."""
        if self.kind == "read":
            assert self.outside is not None
            return [] if self.outside.value.is_held else [self.outside.value]
        return [value for operand in self.operands for value in operand.reads()]

    def fold(self, order: Sequence[Label], sizes: Sizes) -> np.ndarray | None:
        """Its value now, arranged as in `build`; None if it depends on unknown values, or is too large."""
        if not self.constant or sizes.size([label for label in order if label in self.varies]) > _MOST:
            return None
        with jax.ensure_compile_time_eval():
            return np.asarray(self.build(order, sizes, lambda value: value.held))


def expression(outside: Outside, sizes: Sizes) -> Expression:
    """The recomputation of a value along the axes on which it varies. Raises NeedsSplit."""
    return _expression(outside, sizes, {})


def _expression(outside: Outside, sizes: Sizes, done: dict[Outside, Expression]) -> Expression:
    outside = peeled(outside.value, outside.axes, sizes)
    if outside in done:
        return done[outside]
    value, axes = outside.value, outside.axes
    node = value.inside.node
    found = Expression("read", outside.labels, value.is_constant, outside)
    if node is not None and node.name == "iota":
        found = Expression("iota", frozenset(axes[node.params["dimension"]]), True, outside, node.eqn)
    elif node is not None and node.name in _ELEMENTWISE and len(done) < _MOST_EQUATIONS:
        done[outside] = found  # reserves its place, so that the bound counts it
        operands = tuple(
            _expression(Outside(operand, fitted(axes, operand.shape)), sizes, done) for operand in node.ins
        )
        varies = frozenset().union(*(operand.varies for operand in operands))
        constant = all(operand.constant for operand in operands)
        if varies < outside.labels or constant or value.hidden or node.name in _TAKEN_APART:
            found = Expression("apply", varies, constant, None, node.eqn, operands)
    done[outside] = found
    return found


def scalar(outside: Outside, sizes: Sizes) -> float | None:
    """The single number in a value, if it is known."""
    worked_out = expression(outside, sizes)
    if worked_out.varies or not worked_out.constant:
        return None
    folded = worked_out.fold((), sizes)
    return None if folded is None or np.iscomplexobj(folded) else float(folded.reshape(()))


def arranged(array: Any, axes: Axes, order: Sequence[Label], sizes: Sizes) -> Any:
    """An array with labelled axes as one with an axis per label of `order`, of size 1 for labels that it lacks."""
    shape = jnp.shape(array)
    for n, (axis, size) in enumerate(zip(axes, shape, strict=True)):
        if not axis and size > 1:
            array = jax.lax.slice_in_dim(array, 0, 1, axis=n)
    own = [label for axis in axes for label in axis]
    array = array.reshape([sizes.of[label] for label in own])
    present = [label for label in order if label in own]
    array = array.transpose([own.index(label) for label in present])
    return array.reshape([sizes.of[label] if label in own else 1 for label in order])


def restored(array: Any, order: Sequence[Label], axes: Axes, sizes: Sizes, aval: Any) -> Any:
    """The result of an implementation, with the labels of `order`, as a program value with labelled axes."""
    array = array.reshape([sizes.of[label] for label in order])
    array = array.transpose([list(order).index(label) for axis in axes for label in axis])
    return array.reshape(aval.shape).astype(aval.dtype)


def mask_of(value: Value) -> Value | None:
    """The mask behind a factor of zeros and ones."""
    value = value.inside
    while value.node is not None and value.node.name in ("broadcast_in_dim", "convert_element_type"):
        source = value.node.ins[0].inside
        if value.node.name == "convert_element_type" and str(source.aval.dtype) == "bool":
            return source if source.shape == value.shape else None
        value = source
    return None
