"""Evaluates a traced program with the found patterns (attentions, cross-entropies, norms ...) computed by other
functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from jaxlint_runtime import compat
from jaxlint_runtime.kernels import epilogues, rowwise
from jaxlint_runtime.kernels.attention import find
from jaxlint_runtime.kernels.attention_operands import Layout, arrange
from jaxlint_runtime.kernels.found_patterns import Attention, Likelihood, Unlike
from jaxlint_runtime.kernels.likelihood_operands import Loss
from jaxlint_runtime.kernels.likelihood_operands import arrange as arrange_loss
from jaxlint_runtime.kernels.value_graph import Graph, Node, Value, build
from jaxlint_runtime.lowering.jaxpr_interpreter import control_flow

SCOPE = "jaxlint_kernel"  # in the name stack of substituted patterns

Fused = rowwise.RowWise | epilogues.Epilogue  # patterns that compilers mostly fuse
Match = Layout | Loss | Fused
Implementation = Callable[..., Any]  # the parameter of a match's `compute`
Choice = Callable[[Match], Implementation | None]  # None leaves a match unchanged


@dataclass
class Matches:
    """The patterns found in one graph, including the bodies of its loops and branches."""

    graph: Graph
    layouts: list[Match] = field(default_factory=list)
    bodies: dict[Node, list[Matches]] = field(default_factory=dict)
    near: list[str] = field(default_factory=list)

    def all_layouts(self) -> list[Match]:
        """All patterns, including those in bodies."""
        return list(self.turns())

    def turns(self) -> dict[Match, int]:
        """All patterns, including those in bodies, with their runs if the loops' trip counts are known."""
        every = dict.fromkeys(self.layouts, 1)
        for node, bodies in self.bodies.items():
            length = int(node.params.get("length", 1))
            for body in bodies:
                every |= {match: length * count for match, count in body.turns().items()}
        return every

    def all_near(self) -> list[str]:
        """Near misses of attention, with the reasons."""
        inner = [text for bodies in self.bodies.values() for body in bodies for text in body.all_near()]
        return list(dict.fromkeys([*self.near, *inner]))


def matches(jaxpr: Any) -> Matches:
    """The attentions and cross-entropies of a traced program."""
    return _matches(build(jaxpr), _large)


def fused(jaxpr: Any) -> Matches:
    """The norms, softmaxes and products with epilogues of a traced program outside of attentions and cross-entropies."""
    return _matches(build(jaxpr), _small)


def _matches(graph: Graph, look: Callable[[Graph, Matches], None]) -> Matches:
    result = Matches(graph)
    look(graph, result)
    for node in graph.nodes:
        if node.bodies and not node.hidden:
            bodies = [_matches(body, look) for body in node.bodies]
            if any(body.layouts or body.bodies or body.near for body in bodies):
                result.bodies[node] = bodies
    return result


def _large(graph: Graph, result: Matches) -> None:
    found = find(graph)
    result.near += found.near
    both: list[Attention | Likelihood] = [*found.attentions, *found.likelihoods]
    for match in both:
        if _substituted(match.product):
            continue
        try:
            result.layouts.append(arrange_loss(match) if isinstance(match, Likelihood) else arrange(match))
        except Unlike as reason:
            result.near.append(f"{match.place}: {reason}")


def _small(graph: Graph, result: Matches) -> None:
    larger = find(graph)
    both: list[Attention | Likelihood] = [*larger.attentions, *larger.likelihoods]
    kept = graph.needed({match.result: match.operands for match in both})
    every: list[Fused] = [*rowwise.find(graph), *epilogues.find(graph)]
    result.layouts += [match for match in every if match.node in kept and not _substituted(match.node)]


def _substituted(node: Node) -> bool:
    return SCOPE in str(node.eqn.source_info.name_stack)


def evaluate(found: Matches, args: Sequence[Any], choose: Choice) -> list[Any]:
    """The outputs of the program on flat `args`, its patterns computed as `choose` says."""
    graph = found.graph
    values: dict[Value, Any] = dict(zip(graph.inputs, args, strict=True))

    def read(value: Value) -> Any:
        return value.held if value.is_held else values[value]

    chosen = {layout.replaced: (layout, choose(layout)) for layout in found.layouts}
    replaced = {value: pair for value, pair in chosen.items() if pair[1] is not None}
    needed = graph.needed({value: layout.reads for value, (layout, _) in replaced.items()})
    wanted = {value for node in needed for value in node.ins} | set(graph.outputs)
    wanted |= {value for layout, _ in replaced.values() for value in layout.reads}
    for node in graph.nodes:
        layout, implementation = replaced.get(node.outs[0], (None, None)) if node.outs else (None, None)
        if layout is not None and implementation is not None and node.outs[0] in wanted:
            with jax.named_scope(SCOPE):
                values[node.outs[0]] = layout.compute(read, implementation)
        elif node in needed:
            results = _evaluated(found, node, [read(value) for value in node.ins], choose)
            values.update(zip(node.outs, results, strict=True))
    return [read(value) for value in graph.outputs]


def _evaluated(found: Matches, node: Node, operands: list[Any], choose: Choice) -> Sequence[Any]:
    bodies = found.bodies.get(node)
    if bodies is None or not any(body.all_layouts() for body in bodies):
        return compat.bind(node.eqn, operands)

    def within(body: Matches) -> Callable[..., list[Any]]:
        return lambda *flat: evaluate(body, flat, choose)

    return control_flow(node.eqn, operands, [within(body) for body in bodies])
