"""Matrix products with an epilogue: activation(x @ w + b), and gated linear units, activation(x @ w + b) * (x @ u +
c).

The two products of a gated unit may be one product whose result is cut in halves. The epilogue is recognised by
evaluating it (`elementwise_region`), so any spelling of an activation works.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.kernels.activation_functions import ACTIVATIONS, IDENTITY, Activation
from jaxlint_runtime.kernels.axis_labels import Axes, Axis, Label, Sizes
from jaxlint_runtime.kernels.elementwise_region import Probe, Region, Replaceable, is_floating, outermost
from jaxlint_runtime.kernels.outside_operands import Outside, Read, arranged, peeled
from jaxlint_runtime.kernels.value_graph import Graph, Node, Value

_TOLERANCE = {"bfloat16": 4e-3, "float16": 1e-3}  # of constants that are rounded to the dtype
_MOST_LEAVES = 4
_MAGNITUDES = (0.1, 1.0, 1.0, 2.0, 2.0, 2.0, 5.0, 5.0)  # of the inputs on which an activation is tried


@dataclass(frozen=True)
class Factors:
    """The arrays of a product with an epilogue: `rows` is [R, K]; each of `tables` [K, N]; each of `shifts` [N] or
    None."""

    rows: Any
    tables: tuple[Any, ...]
    shifts: tuple[Any, ...]


@dataclass(frozen=True)
class EpilogueSpec:
    """activation(first product), times the second product if it is gated."""

    activation: Activation
    gated: bool

    @property
    def kind(self) -> str:
        """Its name."""
        what = self.activation.name
        return f"gated linear unit ({what})" if self.gated else f"matmul with epilogue ({what})"


@dataclass(frozen=True)
class Part:
    """One operand of an epilogue, a table or a shift: the whole array, or `count` columns of it from `start` on."""

    outside: Outside
    columns: Axis
    start: int = 0
    count: int | None = None


@dataclass(eq=False)
class Epilogue(Replaceable):
    """One product, or two, with their epilogue."""

    spec: EpilogueSpec
    result: Value
    axes: Axes
    rows: Outside  # the multiplied value
    depth: list[Label]
    tables: list[Part]
    shifts: list[Part | None]
    sizes: Sizes
    node: Node  # the last of it
    inside: frozenset[Value]

    @property
    def reads(self) -> list[Value]:
        """The program's values that it is computed from."""
        every = [self.rows, *(part.outside for part in (*self.tables, *self.shifts) if part is not None)]
        return [outside.value for outside in every if not outside.value.is_held]

    @property
    def columns(self) -> list[Label]:
        """The labels of the columns of the result."""
        return list(self.axes[-1])

    @property
    def row_labels(self) -> list[Label]:
        """The labels of its rows."""
        return [label for axis in self.axes[:-1] for label in axis]

    @property
    def shape(self) -> tuple[int, int, int]:
        """R, K and N."""
        sizes = self.sizes
        return sizes.size(self.row_labels), sizes.size(self.depth), sizes.size(self.columns)

    @property
    def bytes(self) -> int:
        """Bytes of the products."""
        aval = self.result.aval
        return len(self.tables) * int(np.prod(aval.shape)) * int(aval.dtype.itemsize)

    def compute(self, read: Read, implementation: Callable[[Factors, EpilogueSpec], Any]) -> Any:
        """The result by `implementation`, which returns [R, N]."""
        count, depth, _width = self.shape
        order = [*self.row_labels, *self.depth]
        whole = [self.sizes.of[label] for label in order]
        rows = jnp.broadcast_to(arranged(read(self.rows.value), self.rows.axes, order, self.sizes), whole)

        def part(given: Part, before: list[Label]) -> Any:
            labels = [*before, *given.columns]
            array = arranged(read(given.outside.value), given.outside.axes, labels, self.sizes)
            array = array.reshape(*([depth] if before else []), self.sizes.size(given.columns))
            return array[..., given.start : given.start + (given.count or array.shape[-1])]

        factors = Factors(
            rows.reshape(count, depth),
            tuple(part(table, self.depth) for table in self.tables),
            tuple(None if shift is None else part(shift, []) for shift in self.shifts),
        )
        array = implementation(factors, self.spec)
        return array.reshape(self.result.aval.shape).astype(self.result.aval.dtype)


def find(graph: Graph) -> list[Epilogue]:
    """The products with epilogues of a graph, without those in the bodies of loops and branches."""
    return outermost(graph, _matched, _used_elsewhere, rank=2)


def _used_elsewhere(graph: Graph, match: Epilogue) -> bool:
    """Whether the products, or values derived from them on the way, have other uses."""
    kept = graph.needed({match.result: match.reads})
    return any(value.node in kept for value in match.inside if value is not match.result)


@dataclass(frozen=True)
class _Source:
    """A product among the leaves of a region, and its operands."""

    value: Value
    axes: Axes  # of the product
    rows: Outside
    table: Outside
    depth: list[Label]
    columns: Axis


def _matched(node: Node, region: Region) -> Epilogue | None:
    leaves = region.leaves()
    if len(leaves) > _MOST_LEAVES or any(term.kind == "reduce" for term in region.terms):
        return None
    axes = region.result.outside.axes
    if not axes[-1]:
        return None
    products = [leaf for leaf in leaves if leaf.node is not None and leaf.node.name == "dot_general"]
    vectors = [leaf for leaf in leaves if leaf not in products]
    if len(products) not in (1, 2) or any(leaf.hidden for leaf in leaves):
        return None
    sources: list[_Source] = []
    named: dict[tuple[Value, int], Axis] = {}
    for product in products:
        source = _source(region, product, leaves[product], named)
        if source is None:
            return None
        sources.append(source)
    first = sources[0]
    if any(source.rows != first.rows for source in sources):
        return None
    row_labels = {label for axis in axes[:-1] for label in axis}
    if any(set(_flat(place)) & row_labels for vector in vectors for place in leaves[vector]):
        return None
    probe = region.probe()
    told = None if probe is None else _told(probe, region, sources, vectors, str(node.outs[0].aval.dtype))
    if told is None:
        return None
    spec, tables, shifts = told
    inside = frozenset(
        term.value
        for term in region.terms
        if term.value.node is not None and set(_flat(term.outside.axes)) & row_labels
    )
    return Epilogue(
        spec, node.outs[0], axes, first.rows, first.depth, tables, shifts, region.sizes, node, inside
    )


def _flat(axes: Axes) -> list[Label]:
    return [label for axis in axes for label in axis]


def _source(
    region: Region, product: Value, places: list[Axes], depths: dict[tuple[Value, int], Axis]
) -> _Source | None:
    """A product as rows times a table: the table is the operand that only has columns.

    `depths` has the labels over which other products with the same rows are summed.
    """
    node = product.node
    assert node is not None
    summed, (left_batch, _) = node.params["dimension_numbers"]
    if left_batch:
        return None
    rows_of_result = [label for axis in region.result.outside.axes[:-1] for label in axis]
    free = [
        [n for n in range(len(value.shape)) if n not in over]
        for value, over in zip(node.ins, summed, strict=True)
    ]
    axes = places[0]
    if any([x for axis in place for x in axis if x in rows_of_result] != rows_of_result for place in places):
        return None
    own = (axes[: len(free[0])], axes[len(free[0]) :])
    for of_rows, of_columns in ((0, 1), (1, 0)):
        columns = tuple(_flat(own[of_columns]))
        if not columns or set(_flat(own[of_rows])) != set(rows_of_result):
            continue
        origin = _unconverted(node.ins[of_rows])
        named: list[list[Axis]] = [[()] * len(value.shape) for value in node.ins]
        depth: list[Label] = []
        for n, m in zip(*summed, strict=True):
            place = (origin, (n, m)[of_rows])
            if place not in depths:
                depths[place] = region.sizes.new(node.ins[0].shape[n])
            named[0][n] = named[1][m] = depths[place]
            depth += depths[place]
        for side in (0, 1):
            for n, axis in zip(free[side], own[side], strict=True):
                named[side][n] = axis
        given = origin if _only_narrow(node.ins[of_rows], origin) else node.ins[of_rows]
        rows = peeled(given, tuple(named[of_rows]), region.sizes)
        table = peeled(node.ins[of_columns], tuple(named[of_columns]), region.sizes)
        if rows.labels - {*rows_of_result, *depth} or table.labels - {*columns, *depth}:
            return None
        return _Source(product, axes, rows, table, depth, columns)
    return None


def _unconverted(value: Value) -> Value:
    while value.node is not None and value.node.name == "convert_element_type" and not value.node.hidden:
        value = value.node.ins[0]
    return value


def _only_narrow(value: Value, origin: Value) -> bool:
    """Whether a value was only widened, so that the products of its origin are equal."""
    return bool(origin.aval.dtype.itemsize <= value.aval.dtype.itemsize) and is_floating(origin)


def _told(
    probe: Probe, region: Region, sources: list[_Source], vectors: list[Value], dtype: str
) -> tuple[EpilogueSpec, list[Part], list[Part | None]] | None:
    """The definition that the region agrees with."""
    generator = np.random.default_rng(0)
    draws = [
        {leaf: scale * generator.normal(size=probe.shape(leaf)) for leaf in probe.leaves}
        for scale in _MAGNITUDES
    ]
    found = [probe.evaluate(given) for given in draws]
    width = found[0].shape[-1]
    whole = np.concatenate([array.reshape(-1, width) for array in found])
    matrices = [
        {source.value: _matrix(probe, region, source, given[source.value]) for source in sources}
        for given in draws
    ]
    columns = {value: matrix.shape[1] for value, matrix in matrices[0].items()}
    tolerance = _TOLERANCE.get(dtype, 1e-6)
    best: tuple[float, Any] | None = None
    for guess in _guesses(probe, columns, vectors, width):
        arrays = [
            np.concatenate(
                [_added(a[piece[0]], piece[1], shift, b, width) for a, b in zip(matrices, draws, strict=True)]
            )
            for piece, shift in zip(*guess, strict=True)
        ]
        gates = arrays[1] if len(arrays) == 2 else 1.0
        for activation in (*ACTIVATIONS, *((IDENTITY,) if len(arrays) == 2 else ())):
            expected = activation.reference(arrays[0]) * gates
            beside = np.abs(expected) + 0.1 * np.abs(arrays[0] * gates) + 1e-2
            error = float(np.max(np.abs(whole - expected) / beside))
            if error <= tolerance and (best is None or error < best[0]):
                best = (error, (EpilogueSpec(activation, len(arrays) == 2), *_parts(guess, sources, probe)))
    return None if best is None else best[1]


_Piece = tuple[Value, int]  # a leaf, and the start of the columns
_Guess = tuple[list[_Piece], list[_Piece | None]]


def _guesses(probe: Probe, columns: dict[Value, int], vectors: list[Value], width: int) -> Iterator[_Guess]:
    """The possible columns of the products, and the possible shifts of each."""
    whole = next(iter(columns))
    if all(count == width for count in columns.values()):
        pairs: list[list[_Piece]] = [[(v, 0) for v in order] for order in itertools.permutations(columns)]
    elif len(columns) == 1 and columns[whole] == 2 * width:
        pairs = [[(whole, 0), (whole, width)], [(whole, width), (whole, 0)]]
    else:
        return
    sizes = {vector: int(np.prod(probe.shape(vector))) for vector in vectors}
    for pieces in pairs:
        if not vectors:
            yield pieces, [None] * len(pieces)
        elif len(vectors) == 1 and sizes[vectors[0]] == 2 * width and len(pieces) == 2:
            yield pieces, [(vectors[0], start) for _, start in pieces]
        elif all(size == width for size in sizes.values()):
            slots: list[Value | None] = [*vectors, *([None] * (len(pieces) - len(vectors)))]
            for order in dict.fromkeys(itertools.permutations(slots, len(pieces))):
                if set(vectors) <= set(order):
                    yield pieces, [None if vector is None else (vector, 0) for vector in order]


def _matrix(probe: Probe, region: Region, source: _Source, array: np.ndarray) -> np.ndarray:
    """A product as rows, in the order of the result, by columns."""
    own = _flat(source.axes)
    order = [label for axis in region.result.outside.axes[:-1] for label in axis]
    array = array.reshape([probe.sizes[label] for label in own])
    array = array.transpose([own.index(label) for label in (*order, *source.columns)])
    return array.reshape(int(np.prod([probe.sizes[label] for label in order])), -1)


def _added(
    matrix: np.ndarray, start: int, shift: _Piece | None, given: Mapping[Value, np.ndarray], width: int
) -> np.ndarray:
    array = matrix[:, start : start + width]
    if shift is not None:
        array = array + given[shift[0]].reshape(-1)[shift[1] : shift[1] + width]
    return array


def _parts(guess: _Guess, sources: list[_Source], probe: Probe) -> tuple[list[Part], list[Part | None]]:
    pieces, shifts = guess
    by_value = {source.value: source for source in sources}
    width = probe.region.sizes.size(probe.region.result.outside.axes[-1])

    def part(outside: Outside, columns: Axis, start: int) -> Part:
        whole = probe.region.sizes.size(columns) == width
        return Part(outside, columns, start, None if whole else width)

    tables = [part(by_value[v].table, by_value[v].columns, start) for v, start in pieces]
    found: list[Part | None] = []
    for shift in shifts:
        if shift is None:
            found.append(None)
            continue
        axes = probe.leaves[shift[0]][0]
        found.append(part(Outside(shift[0], axes), tuple(_flat(axes)), shift[1]))
    return tables, found
