"""Layer norm, RMS norm and softmax along the last axis of a value, in any spelling.

A value is one of these if it is computed from a single array, and vectors along the normalised axis, by elementwise
equations and reductions only, and agrees with the definition (`elementwise_region`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxlint_runtime.kernels.axis_labels import Axes, Label, Sizes
from jaxlint_runtime.kernels.elementwise_region import Probe, Region, Replaceable, is_floating, outermost
from jaxlint_runtime.kernels.outside_operands import Outside, Read, arranged, restored
from jaxlint_runtime.kernels.value_graph import Graph, Node, Value

LAYER_NORM, RMS_NORM, SOFTMAX = "layer norm", "RMS norm", "softmax"

_LARGEST_EPS = 0.1
_TOLERANCE = {"bfloat16": 2e-2, "float16": 4e-3}  # of constants that are rounded to the dtype


@dataclass(frozen=True)
class Rows:
    """The arrays of a norm or a softmax: `rows` is [R, D]; `scale` and `shift`, None for none, are [D]."""

    rows: Any
    scale: Any = None
    shift: Any = None


@dataclass(frozen=True)
class RowSpec:
    """The computation: a norm adds `eps` to the variance or mean square. `plus_one`: it scales by 1 + scale."""

    kind: str
    eps: float = 0.0
    plus_one: bool = False


@dataclass(eq=False)
class RowWise(Replaceable):
    """One norm or softmax: its place and its inputs."""

    spec: RowSpec
    result: Value
    axes: Axes
    source: Outside
    scale: Outside | None
    shift: Outside | None
    sizes: Sizes
    node: Node  # the last of it
    inside: frozenset[Value]  # the values between source and result

    @property
    def reads(self) -> list[Value]:
        """The program's values that it is computed from."""
        every = [self.source, self.scale, self.shift]
        return [outside.value for outside in every if outside is not None and not outside.value.is_held]

    @property
    def columns(self) -> list[Label]:
        """The labels of the normalised axes."""
        return list(self.axes[-1])

    @property
    def rows(self) -> list[Label]:
        """The other labels, as the source has them."""
        return [label for axis in self.source.axes for label in axis if label not in self.columns]

    @property
    def shape(self) -> tuple[int, int]:
        """R and D."""
        return self.sizes.size(self.rows), self.sizes.size(self.columns)

    @property
    def bytes(self) -> int:
        """Bytes of the result."""
        aval = self.result.aval
        return int(np.prod(aval.shape)) * int(aval.dtype.itemsize)

    def compute(self, read: Read, implementation: Callable[[Rows, RowSpec], Any]) -> Any:
        """The result by `implementation`, which returns [R, D] in the dtype of its rows."""
        count, width = self.shape
        order = [*self.rows, *self.columns]

        def vector(outside: Outside | None) -> Any:
            if outside is None:
                return None
            return arranged(read(outside.value), outside.axes, self.columns, self.sizes).reshape(width)

        rows = arranged(read(self.source.value), self.source.axes, order, self.sizes).reshape(count, width)
        array = implementation(Rows(rows, vector(self.scale), vector(self.shift)), self.spec)
        return restored(array, order, self.axes, self.sizes, self.result.aval)


def find(graph: Graph) -> list[RowWise]:
    """The norms and softmaxes of a graph, without those in the bodies of loops and branches."""
    return outermost(graph, _matched, _used_elsewhere)


def _used_elsewhere(graph: Graph, match: RowWise) -> bool:
    """Whether full-size intermediate values have other uses."""
    kept = graph.needed({match.result: match.reads})
    size = match.result.aval.size
    return any(
        value.node in kept and value.aval.size == size for value in match.inside if value is not match.result
    )


def _matched(node: Node, region: Region) -> RowWise | None:
    names = {term.node.name for term in region.terms if term.kind in ("apply", "reduce") and term.node}
    if "reduce_sum" not in names:
        return None
    raised = bool(names & {"exp", "exp2"})
    rooted = bool(names & {"rsqrt", "sqrt", "pow", "integer_pow"})
    if not raised and not rooted:
        return None
    for cut in _cuts(region):
        match = _of(node, region, cut, raised, rooted)
        if match is not None:
            return match
    return None


def _cuts(region: Region) -> Iterator[Value]:
    """Arrays through which everything that varies from row to row passes, in program order."""
    axes = region.result.outside.axes
    size = region.sizes.size([label for axis in axes for label in axis])
    columns = set(axes[-1])
    seen: dict[Value, None] = {}
    for term in region.terms:
        if term.value.hidden or term.value.aval.size != size or term.value is region.result.value:
            continue
        if is_floating(term.value):
            seen[term.value] = None

    def made(value: Value) -> int:
        return value.node.index if value.node is not None else -1

    for value in sorted(seen, key=made):
        leaves = region.leaves(frozenset({value}))
        if value not in leaves or any(term.kind == "part" for term in region.below(frozenset({value}))):
            continue
        others = [place for leaf, places in leaves.items() if leaf is not value for place in places]
        if all({label for axis in place for label in axis} <= columns for place in others):
            yield value


def _of(node: Node, region: Region, source: Value, raised: bool, rooted: bool) -> RowWise | None:
    cut = frozenset({source})
    terms = region.below(cut)
    reductions = [term for term in terms if term.kind == "reduce"]
    if not any(term.node is not None and term.node.name == "reduce_sum" for term in reductions):
        return None
    places = region.leaves(cut)[source]
    outer = next((axes for axes in places if _last(axes) == region.result.outside.axes[-1]), None)
    if outer is None or not _last(outer):
        return None
    columns = region.sizes.size(_last(outer))
    if any(region.sizes.size(term.over) != columns for term in reductions):
        return None
    if any(_last(axes) != _last(outer) and not _over(_last(axes), reductions) for axes in places):
        return None  # a sum along another axis
    probe = region.probe(cut)
    if probe is None:
        return None
    vectors = [leaf for leaf in probe.leaves if leaf is not source]
    if len(vectors) > 2 or any(len(probe.leaves[leaf]) != 1 for leaf in vectors):
        return None
    tolerance = _TOLERANCE.get(str(node.outs[0].aval.dtype), 1e-6)
    told = None
    if raised and not vectors:
        told = _softmax(probe, source, tolerance)
    if told is None and rooted:
        told = _norm(probe, source, vectors, tolerance)
    if told is None:
        return None
    spec, scale, shift = told

    def outside(value: Value | None) -> Outside | None:
        return None if value is None else Outside(value, probe.leaves[value][0])

    return RowWise(
        spec,
        node.outs[0],
        region.result.outside.axes,
        _narrowest(Outside(source, outer)),
        outside(scale),
        outside(shift),
        region.sizes,
        node,
        frozenset(term.value for term in terms if term.kind in ("apply", "reduce")) - {source},
    )


def _last(axes: Axes) -> tuple[Label, ...]:
    return next((axis for axis in reversed(axes) if axis), ())


def _over(axis: tuple[Label, ...], reductions: list[Any]) -> bool:
    return any(term.over == axis for term in reductions)


def _narrowest(source: Outside) -> Outside:
    """The value before it was widened: the backward pass then stores the narrow one."""
    node = source.value.node
    while node is not None and node.name == "convert_element_type" and not node.ins[0].hidden:
        inner = node.ins[0]
        if not is_floating(inner):
            break
        if inner.aval.dtype.itemsize > source.value.aval.dtype.itemsize:
            break
        source = Outside(inner, source.axes)
        node = inner.node
    return source


def _same(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return bool(np.all(np.abs(a - b) <= tolerance * (1e-3 + np.abs(b) + np.abs(b).mean())))


def _draws(probe: Probe, source: Value) -> Iterator[np.ndarray]:
    """Rows of ordinary size, and small ones in which eps matters."""
    generator = np.random.default_rng(0)
    shape = probe.shape(source)
    yield 3.0 * generator.normal(size=shape) + 0.5
    yield 2e-3 * generator.normal(size=shape) + 1e-3
    yield generator.normal(size=shape)


def _columns_last(probe: Probe, source: Value, array: np.ndarray) -> np.ndarray:
    """An array for the source with the axis order of the result."""
    order = [label for axis in probe.region.result.outside.axes for label in axis]
    columns = probe.region.result.outside.axes[-1]
    axes = next(axes for axes in probe.leaves[source] if _last(axes) == columns)
    own = [label for axis in axes for label in axis]
    array = array.reshape([probe.sizes[label] for label in own])
    array = array.transpose([own.index(label) for label in order])
    return array.reshape([int(np.prod([probe.sizes[x] for x in axis])) for axis in _axes(probe)])


def _axes(probe: Probe) -> Axes:
    return probe.region.result.outside.axes


def _softmax(
    probe: Probe, source: Value, tolerance: float
) -> tuple[RowSpec, Value | None, Value | None] | None:
    for array in _draws(probe, source):
        raised = np.exp(array - array.max(axis=-1, keepdims=True))
        expected = raised / raised.sum(axis=-1, keepdims=True)
        found = probe.evaluate({source: array})
        if not _same(found, _columns_last(probe, source, expected), tolerance):
            return None
    return RowSpec(SOFTMAX), None, None


def normalised(array: np.ndarray, kind: str, eps: float) -> np.ndarray:
    """A norm along the last axis, without scale and shift."""
    if kind == LAYER_NORM:
        array = array - array.mean(axis=-1, keepdims=True)
    return array / np.sqrt((array**2).mean(axis=-1, keepdims=True) + eps)


def _norm(
    probe: Probe, source: Value, vectors: list[Value], tolerance: float
) -> tuple[RowSpec, Value | None, Value | None] | None:
    generator = np.random.default_rng(1)
    given = {vector: generator.normal(size=probe.shape(vector)) for vector in vectors}
    wide = {vector: np.asarray(array).reshape(-1) for vector, array in given.items()}
    draws = list(_draws(probe, source))
    results = [probe.evaluate({source: array, **given}) for array in draws]
    numbers = sorted({abs(x) for x in probe.region.numbers(probe.cuts) if 0 < abs(x) < _LARGEST_EPS})
    for kind in (LAYER_NORM, RMS_NORM):
        for eps in (*numbers, 0.0):
            rows = [_columns_last(probe, source, normalised(array, kind, eps)) for array in draws]
            for scale, plus_one, shift in _affine(vectors):
                factor = 1.0 if scale is None else wide[scale] + (1.0 if plus_one else 0.0)
                added = 0.0 if shift is None else wide[shift]
                if all(_same(a, b * factor + added, tolerance) for a, b in zip(results, rows, strict=True)):
                    return RowSpec(kind, eps, plus_one), scale, shift
    return None


def _affine(vectors: list[Value]) -> Iterator[tuple[Value | None, bool, Value | None]]:
    """The vectors that may scale, directly or as one plus it, and those that may shift."""
    if not vectors:
        yield None, False, None
    elif len(vectors) == 1:
        yield vectors[0], False, None
        yield vectors[0], True, None
        yield None, False, vectors[0]
    else:
        for scale, shift in (vectors, vectors[::-1]):
            yield scale, False, shift
            yield scale, True, shift
