"""The region behind a value: elementwise equations, sums and maxima along axes, and data movement; and its evaluation
in NumPy.

A spelling is recognised by what it computes. The equations between a value and its sources are evaluated in double
precision on small random sources, and compared with the definition. Axes that are not reduced shrink to two elements,
so this takes milliseconds for any program.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.deferred_imports import deferred
from jaxlint_runtime.kernels.axis_labels import Axes, Axis, Label, Lost, NeedsSplit, Sizes, before, fitted
from jaxlint_runtime.kernels.found_patterns import place_of
from jaxlint_runtime.kernels.outside_operands import Outside
from jaxlint_runtime.kernels.value_graph import Graph, Node, Value

special = deferred("scipy.special")  # a dependency of jax

_MOST_TERMS = 80
_MOST_SPLITS = 8
_ROWS = 2  # elements along axes that are not reduced
_LARGEST = 2**20  # elements of an array of a probe

_Function = Callable[..., Any]
_Found = TypeVar("_Found")
_Replaceable = TypeVar("_Replaceable", bound="Replaceable")

_ELEMENTWISE: dict[str, _Function] = {
    "abs": np.abs,
    "add": np.add,
    "add_any": np.add,
    "and": np.logical_and,
    "clamp": lambda low, x, high: np.clip(x, low, high),
    "copy": lambda x: x,
    "cos": np.cos,
    "div": np.divide,
    "eq": np.equal,
    "erf": lambda x: special.erf(x),
    "erfc": lambda x: special.erfc(x),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "ge": np.greater_equal,
    "gt": np.greater,
    "is_finite": np.isfinite,
    "le": np.less_equal,
    "log": np.log,
    "log1p": np.log1p,
    "logistic": lambda x: special.expit(x),
    "lt": np.less,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "ne": np.not_equal,
    "neg": np.negative,
    "not": np.logical_not,
    "or": np.logical_or,
    "pow": np.power,
    "reduce_precision": lambda x: x,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "square": np.square,
    "stop_gradient": lambda x: x,
    "sub": np.subtract,
    "tanh": np.tanh,
    "optimization_barrier": lambda x: x,
}
_REDUCTIONS: dict[str, _Function] = {"reduce_sum": np.sum, "reduce_max": np.max}
_SLICES = ("slice", "split")


@dataclass(eq=False)
class Term:
    """A value with labelled axes, and its inputs. `kind`: leaf, number, apply, reduce, part or same."""

    outside: Outside
    kind: str = "leaf"
    node: Node | None = None
    operands: tuple[Term, ...] = ()
    over: Axis = ()  # labels of the operand that are reduced
    cut: tuple[Label, Label, int] | None = None  # of a part: the label of the whole, its own, and its offset
    number: float = 0.0

    @property
    def value(self) -> Value:
        """The value in the program."""
        return self.outside.value


class Replaceable:
    """A value of the program that is recognised, and may be computed in another way."""

    result: Value
    node: Node  # the last of it
    inside: frozenset[Value]  # the values between its sources and the result

    @property
    def place(self) -> str:
        """The place that computes the result."""
        return place_of(self.node)

    @property
    def replaced(self) -> Value:
        """The program's value that is replaced."""
        return self.result


@dataclass(eq=False)
class Region:
    """The terms behind `result`."""

    result: Term
    sizes: Sizes
    terms: list[Term] = field(default_factory=list)

    def below(self, cuts: frozenset[Value] = frozenset()) -> list[Term]:
        """The terms behind the result if the values `cuts` are given."""
        seen: dict[Term, None] = {}
        pending = [self.result]
        while pending:
            term = pending.pop()
            if term in seen:
                continue
            seen[term] = None
            if term.value not in cuts:
                pending += term.operands
        return list(seen)

    def leaves(self, cuts: frozenset[Value] = frozenset()) -> dict[Value, list[Axes]]:
        """The required inputs if `cuts` are given, each with the labels of its axes where it is read."""
        found: dict[Value, list[Axes]] = {}
        for term in self.below(cuts):
            if term.kind == "leaf" or term.value in cuts:
                places = found.setdefault(term.value, [])
                if term.outside.axes not in places:
                    places.append(term.outside.axes)
        return found

    def numbers(self, cuts: frozenset[Value] = frozenset()) -> list[float]:
        """The constants in it."""
        return [term.number for term in self.below(cuts) if term.kind == "number"]

    def probe(self, cuts: frozenset[Value] = frozenset()) -> Probe | None:
        """A way to compute the result from its leaves; None if that takes large arrays."""
        kept: set[Label] = set()
        for term in self.below(cuts):
            kept |= set(term.over)
            if term.cut is not None:
                kept |= set(term.cut[:2])
        leaves = self.leaves(cuts)
        together = _united(leaves)
        if together is None:
            return None
        real = {together.get(label, label) for label in kept}
        small = {
            label: size if together.get(label, label) in real else min(size, _ROWS)
            for label, size in self.sizes.of.items()
        }
        found = Probe(self, cuts, leaves, small)
        largest = max((math.prod(found.shape(value)) for value in leaves), default=0)
        return found if largest <= _LARGEST else None


@dataclass(eq=False)
class Probe:
    """A region that can be evaluated."""

    region: Region
    cuts: frozenset[Value]
    leaves: dict[Value, list[Axes]]
    sizes: dict[Label, int]

    def shape(self, value: Value) -> tuple[int, ...]:
        """The required shape of an array for a leaf."""
        axes = self.leaves[value][0]
        return tuple(math.prod(self.sizes[label] for label in axis) for axis in axes)

    def evaluate(self, given: Mapping[Value, np.ndarray]) -> np.ndarray:
        """The result, in double precision, with one axis for each axis of the result."""
        order = list(dict.fromkeys(label for term in self.region.below(self.cuts) for label in _all(term)))
        done: dict[Term, np.ndarray] = {}
        with np.errstate(all="ignore"):
            array = self._term(self.region.result, given, order, done)
        axes = self.region.result.outside.axes
        own = [label for axis in axes for label in axis]
        array = np.broadcast_to(array, [self.sizes[label] if label in own else 1 for label in order])
        array = array.transpose([*(order.index(label) for label in own), *_rest(order, own)])
        return array.reshape([math.prod(self.sizes[label] for label in axis) for axis in axes])

    def _term(
        self, term: Term, given: Mapping[Value, np.ndarray], order: list[Label], done: dict[Term, np.ndarray]
    ) -> np.ndarray:
        if term in done:
            return done[term]
        if term.value in given and (term.kind == "leaf" or term.value in self.cuts):
            result = self._arranged(given[term.value], term.outside.axes, order)
        elif term.kind == "number":
            result = np.full([1] * len(order), term.number)
        else:
            ins = [self._term(operand, given, order, done) for operand in term.operands]
            result = self._applied(term, ins, order)
        done[term] = result
        return result

    def _applied(self, term: Term, ins: list[np.ndarray], order: list[Label]) -> np.ndarray:
        if term.kind == "same":
            return ins[0]
        assert term.node is not None
        if term.kind == "part":
            assert term.cut is not None
            whole, part, start = term.cut
            from_, to = order.index(whole), order.index(part)
            taken = ins[0].take(range(start, start + self.sizes[part]), axis=from_)
            return np.swapaxes(taken, from_, to)
        name, params = term.node.name, term.node.params
        if term.kind == "reduce":
            axes = tuple(order.index(label) for label in term.over)
            shape = list(ins[0].shape)
            for axis, label in zip(axes, term.over, strict=True):
                shape[axis] = self.sizes[label]
            return np.asarray(_REDUCTIONS[name](np.broadcast_to(ins[0], shape), axis=axes, keepdims=True))
        if name == "integer_pow":
            return np.power(ins[0], float(params["y"]))
        if name == "convert_element_type":
            return ins[0].astype(np.float64) if np.dtype(params["new_dtype"]) != np.bool_ else ins[0] != 0
        if name == "select_n":
            return np.where(ins[0] != 0, ins[2], ins[1])
        return np.asarray(_ELEMENTWISE[name](*ins))

    def _arranged(self, array: np.ndarray, axes: Axes, order: Sequence[Label]) -> np.ndarray:
        own = [label for axis in axes for label in axis]
        array = array.reshape([self.sizes[label] for label in own])
        array = array.transpose([own.index(label) for label in order if label in own])
        return array.reshape([self.sizes[label] if label in own else 1 for label in order])


def outermost(
    graph: Graph,
    matched: Callable[[Node, Region], _Replaceable | None],
    used_elsewhere: Callable[[Graph, _Replaceable], bool],
    rank: int = 1,
) -> list[_Replaceable]:
    """The matches of `matched` in a graph, without the bodies of loops and branches, and without those inside other
    matches.

    `rank`: the least number of axes of a result.
    """
    found: list[_Replaceable] = []
    taken: set[Value] = set()
    for node in reversed(graph.nodes):
        if not ends(node) or node.outs[0] in taken or len(node.outs[0].shape) < rank:
            continue
        match = within(node.outs[0], functools.partial(matched, node))
        if match is not None and not used_elsewhere(graph, match):
            found.append(match)
            taken |= match.inside
    return found[::-1]


def within(result: Value, match: Callable[[Region], _Found | None]) -> _Found | None:
    """The result of `match` for the region of a value; None if its axes cannot be labelled."""
    cuts: dict[Label, tuple[int, ...]] = {}
    for _ in range(_MOST_SPLITS):
        sizes = Sizes(dict(cuts))
        try:
            axes = tuple(sizes.new(size) for size in result.shape)
            return match(_Walk(sizes).region(Outside(result, axes)))
        except NeedsSplit as need:
            cuts[need.label] = need.sizes
        except Lost:
            break
    return None


class _Walk:
    """Walks backwards from a value."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.done: dict[Outside, Term] = {}

    def region(self, outside: Outside) -> Region:
        return Region(self.term(outside), self.sizes, list(self.done.values()))

    def term(self, outside: Outside) -> Term:
        if outside in self.done:
            return self.done[outside]
        term = self.done[outside] = Term(outside)
        value, axes = outside.value.inside, outside.axes
        node = value.node
        number = _number(value)
        if number is not None:
            term.kind, term.number = "number", number
        elif value is not outside.value:
            term.kind, term.operands = "same", (self.term(Outside(value, axes)),)
        elif node is not None and len(self.done) < _MOST_TERMS:
            try:
                self._made(term, node, axes)
            except Lost:
                term.kind, term.operands = "leaf", ()
        return term

    def _made(self, term: Term, node: Node, axes: Axes) -> None:
        name = node.name
        moved = before(node.eqn, axes, self.sizes) if len(node.ins) == 1 else None
        if moved is not None:
            term.kind, term.node, term.operands = "same", node, (self.term(Outside(node.ins[0], moved)),)
        elif name in _REDUCTIONS:
            kept = list(axes)
            source: list[Axis] = []
            over: list[Label] = []
            for n, size in enumerate(node.ins[0].shape):
                if n in node.params["axes"]:
                    new = self.sizes.new(size)
                    over += new
                    source.append(new)
                else:
                    source.append(kept.pop(0))
            term.kind, term.node, term.over = "reduce", node, tuple(over)
            term.operands = (self.term(Outside(node.ins[0], tuple(source))),)
        elif name in _SLICES:
            self._part(term, node, axes)
        elif elementwise(node):
            term.kind, term.node = "apply", node
            term.operands = tuple(
                self.term(Outside(operand, fitted(axes, operand.shape))) for operand in node.ins
            )

    def _part(self, term: Term, node: Node, axes: Axes) -> None:
        """A slice along one axis whose label is not merged with others."""
        shape = node.ins[0].shape
        if node.name == "split":
            along = node.params["axis"]
            number = node.outs.index(term.value)
            start = sum(node.params["sizes"][:number])
        else:
            strides = node.params["strides"]
            starts = node.params["start_indices"]
            cut = [n for n, size in enumerate(shape) if size != node.outs[0].shape[n]]
            if len(cut) != 1 or (strides is not None and strides[cut[0]] != 1):
                return
            along, start = cut[0], starts[cut[0]]
        if len(axes[along]) != 1:
            return
        new = self.sizes.new(shape[along])
        if len(new) != 1:
            return
        source = (*axes[:along], new, *axes[along + 1 :])
        term.kind, term.node, term.cut = "part", node, (new[0], axes[along][0], start)
        term.operands = (self.term(Outside(node.ins[0], source)),)


def elementwise(node: Node) -> bool:
    """Whether a region continues through a node."""
    name = node.name
    if len(node.outs) != 1:
        return False
    if name == "select_n":
        return len(node.ins) == 3
    return name in _ELEMENTWISE or name in ("integer_pow", "convert_element_type")


def ends(node: Node) -> bool:
    """Whether the result of a node may be that of a region: a floating array from an elementwise equation."""
    if node.hidden or len(node.outs) != 1 or not node.outs[0].shape:
        return False
    last = node.outs[0].inside.node
    return last is not None and elementwise(last) and is_floating(node.outs[0])


def is_floating(value: Value) -> bool:
    """Whether a value is a floating array."""
    return bool(jnp.issubdtype(value.aval.dtype, jnp.floating))


def _number(value: Value) -> float | None:
    if not value.is_constant or value.shape:
        return None
    try:
        return float(value.held)
    except (TypeError, ValueError):
        return None


def _all(term: Term) -> list[Label]:
    found = [label for axis in term.outside.axes for label in axis]
    return [*found, *term.over, *(term.cut[:2] if term.cut is not None else ())]


def _rest(order: Sequence[Label], own: Sequence[Label]) -> list[int]:
    return [n for n, label in enumerate(order) if label not in own]


def _united(leaves: dict[Value, list[Axes]]) -> dict[Label, Label] | None:
    """Unites labels that name the same axis of a leaf which is read in several places."""
    roots: dict[Label, Label] = {}

    def root(label: Label) -> Label:
        while label in roots:
            label = roots[label]
        return label

    for places in leaves.values():
        first = places[0]
        for other in places[1:]:
            for a, b in zip(first, other, strict=True):
                if len(a) != len(b):
                    return None
                for x, y in zip(a, b, strict=True):
                    if root(x) != root(y):
                        roots[root(x)] = root(y)
    return {label: root(label) for label in [*roots]}
