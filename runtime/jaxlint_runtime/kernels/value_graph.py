"""A traced program as a graph of values, with calls inlined and every use of a value known.

Jitted calls are inlined. A call with its own derivative rule (`jax.nn.relu`, an old `jax.nn.softmax`) stays one node,
so that the rule is kept; its body is attached for the matchers. The bodies of loops, branches and checkpoints are
separate graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from jaxlint_runtime import compat
from jaxlint_runtime.compat import Literal
from jaxlint_runtime.lowering.jaxpr_interpreter import is_plain_call

_BODIES = frozenset({"scan", "while", "cond", "remat", "remat2", "checkpoint"})
_CUSTOM_DERIVATIVE = "custom_jvp_call"


@dataclass(eq=False, slots=True)
class Value:
    """An array of the program; equal only to itself."""

    aval: Any
    node: Node | None = None  # the node that computes it; None for inputs, constants and literals
    users: list[Node] = field(default_factory=list)
    held: Any = None  # the value of a literal or a constant, which may be a tracer of an outer trace
    is_held: bool = False
    # for a result of a call with its own derivative rule: the same value inside it
    shown: Value | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return tuple(self.aval.shape)

    @property
    def is_constant(self) -> bool:
        """Whether its value is known now."""
        return self.is_held and not isinstance(self.held, jax.core.Tracer)

    @property
    def hidden(self) -> bool:
        """Whether it only exists inside a call with its own derivative rule."""
        return self.node is not None and self.node.hidden

    @property
    def inside(self) -> Value:
        """The same value as computed: inside a call with its own derivative rule, if it comes from one."""
        return self.shown.inside if self.shown is not None else self


@dataclass(eq=False, slots=True)
class Node:
    """An equation. `hidden`: it is inside a call with its own derivative rule, and is never evaluated itself."""

    eqn: Any
    ins: list[Value]
    outs: list[Value]
    index: int
    hidden: bool = False
    bodies: list[Graph] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of its primitive."""
        return str(self.eqn.primitive.name)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of its equation."""
        return dict(self.eqn.params)


@dataclass(eq=False)
class Graph:
    """One jaxpr and the jitted calls in it."""

    inputs: list[Value]
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    def all_nodes(self) -> Iterator[Node]:
        """Its nodes and those of their bodies, in program order."""
        for node in self.nodes:
            yield node
            for body in node.bodies:
                yield from body.all_nodes()

    def needed(self, replaced: dict[Value, Sequence[Value]] | None = None) -> set[Node]:
        """The nodes that its outputs depend on if each key of `replaced` is computed from the given values instead."""
        replaced = replaced or {}
        kept = {node for node in self.nodes if node.eqn.effects and not node.hidden}
        pending = [*self.outputs, *(value for node in kept for value in node.ins)]
        seen: set[Value] = set()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in replaced:
                pending += replaced[value]
            elif value.node is not None and value.node not in kept:
                kept.add(value.node)
                pending += value.node.ins
        return kept


def build(jaxpr: Any) -> Graph:
    """The graph of a jaxpr."""
    parts = compat.open_jaxpr(jaxpr)
    graph = Graph([Value(var.aval) for var in parts.invars])
    _add(graph, parts, [*_constants(parts), *graph.inputs], graph.outputs, hidden=False)
    return graph


def _add(graph: Graph, parts: Any, given: Sequence[Value], outputs: list[Value], hidden: bool) -> None:
    """Appends the equations of a jaxpr with the constants and inputs `given`, and its results to `outputs`."""
    values: dict[Any, Value] = dict(zip([*parts.constvars, *parts.invars], given, strict=True))

    def read(atom: Any) -> Value:
        if isinstance(atom, Literal):
            return Value(atom.aval, held=atom.val, is_held=True)
        return values[atom]

    for eqn in parts.eqns:
        ins = [read(atom) for atom in eqn.invars]
        if is_plain_call(eqn):
            inner = compat.open_jaxpr(compat.inner_jaxprs(eqn)[0][1])
            results: list[Value] = []
            _add(graph, inner, [*_constants(inner), *ins], results, hidden)
            values.update(zip(eqn.outvars, results, strict=True))
            continue
        node = Node(eqn, ins, [], len(graph.nodes), hidden)
        node.outs = [Value(var.aval, node) for var in eqn.outvars]
        graph.nodes.append(node)
        for value in ins:
            value.users.append(node)
        values.update(zip(eqn.outvars, node.outs, strict=True))
        bodies = [body for _, body in compat.inner_jaxprs(eqn)]
        if node.name in _BODIES:
            node.bodies = [build(body) for body in bodies]
        elif node.name == _CUSTOM_DERIVATIVE and bodies:
            inner = compat.open_jaxpr(bodies[0])
            results = []
            _add(graph, inner, [*_constants(inner), *ins], results, hidden=True)
            for outside, inside in zip(node.outs, results, strict=True):
                outside.shown = inside
    outputs += [read(atom) for atom in parts.outvars]


def _constants(parts: Any) -> list[Value]:
    return [
        Value(var.aval, held=const, is_held=True)
        for var, const in zip(parts.constvars, parts.consts, strict=True)
    ]
