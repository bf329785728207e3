"""Where the nodes of a libcst tree stand, computed for one statement of the module at a time.

libcst computes the positions of all nodes of a file at once, which takes several times as long as parsing it. Most
fixes ask for one place. A statement of the module is as far down as the standard library's tree says, which is at hand.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from jaxlint.finding import Span
from jaxlint.gc_pause import no_garbage_collection


class Places:
    """The spans of the nodes of `module`, whose text `tree` is the standard library's tree of."""

    def __init__(self, module: cst.Module, tree: ast.Module) -> None:
        self._module = module
        self._spans: dict[cst.CSTNode, Span] = {}
        self._nodes: dict[Span, list[cst.CSTNode]] = {}  # inner before outer
        self._statements = _placed(module, tree)
        self._starts = [start for _, start, _ in self._statements]
        self._done: set[int] = set()  # statements, by position
        self._is_whole = False

    def of(self, node: cst.CSTNode) -> Span:
        """The span of a node of the tree, without parentheses around an expression."""
        if node not in self._spans:
            self._add_all()
        return self._spans[node]

    def outer(self, node: cst.BaseExpression) -> Span:
        """The span of an expression, with the parentheses around it."""
        if not node.lpar:
            return self.of(node)
        first, last = self.of(node.lpar[0]), self.of(node.rpar[-1])
        return Span(first.line, first.column, last.end_line, last.end_column)

    def at(self, span: Span) -> Iterable[cst.CSTNode]:
        """The nodes with this span, inner before outer. A parenthesised tuple or generator has two."""
        if span not in self._nodes:
            number = bisect_right(self._starts, span.line) - 1
            if number >= 0:
                self._add(number)
            if span not in self._nodes:
                self._add_all()
        return self._nodes.get(span, ())

    def _add(self, number: int) -> None:
        """Adds the nodes of one statement."""
        if number in self._done or self._is_whole:
            return
        self._done.add(number)
        statement, start, end = self._statements[number]
        provider = SimpleNamespace(_computed={})
        state = PositionProvidingCodegenState(
            default_indent=self._module.default_indent,
            default_newline=self._module.default_newline,
            provider=cast(Any, provider),
        )
        state.line = start
        with no_garbage_collection():
            statement._codegen(state)
            found: Mapping[cst.CSTNode, CodeRange] = provider._computed
            if found[statement].end.line == end:
                self._keep(found)

    def _add_all(self) -> None:
        if self._is_whole:
            return
        self._is_whole = True
        self._spans.clear()
        self._nodes.clear()
        # (`MetadataWrapper.resolve` visits the tree once more, for nothing.)
        provider = PositionProvider()
        provider._computed = {}
        with no_garbage_collection():
            provider._gen_impl(self._module)
            self._keep(cast(Mapping[cst.CSTNode, Any], provider._computed))

    def _keep(self, found: Mapping[cst.CSTNode, CodeRange]) -> None:
        for node, place in found.items():
            self._spans[node] = _span(place)
        for node in found:
            self._nodes.setdefault(self._spans[node], []).append(node)
            if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
                self._nodes.setdefault(self.outer(node), []).append(node)


def _placed(module: cst.Module, tree: ast.Module) -> list[tuple[Any, int, int]]:
    """The statements of a module, each with the line that its comments or itself begin at and the line that it ends at.

    Empty if the two trees do not agree.
    """
    found: list[tuple[Any, int, int]] = []
    waiting = iter(tree.body)
    for statement in module.body:
        count = len(statement.body) if isinstance(statement, cst.SimpleStatementLine) else 1
        own = [one for _, one in zip(range(count), waiting, strict=False)]
        if len(own) < count or not own:
            return []
        decorators = getattr(own[0], "decorator_list", ())
        first = min([own[0].lineno, *(decorator.lineno for decorator in decorators)])
        start = first - len(getattr(statement, "leading_lines", ()))
        found.append((statement, start, own[-1].end_lineno or first))
    return found if next(waiting, None) is None else []


def _span(place: CodeRange) -> Span:
    return Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)
