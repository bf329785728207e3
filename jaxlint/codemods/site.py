"""One source file as a codemod sees it: its trees, positions and names, parsed once and shared by all steps."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import TypeVar

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from jaxlint.codemods.names import Names
from jaxlint.codemods.text import Lines
from jaxlint.finding import Span
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.syntax.parse import parse_source, refuse_nesting, span_of

NodeT = TypeVar("NodeT", bound=cst.CSTNode)


class Refused(Exception):
    """A codemod cannot make the rewrite; the message is the reason, for the user."""


class Site:
    """The shared view of one file. Raises Refused where the file cannot be parsed."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.lines = Lines(source.text)

    @functools.cached_property
    def tree(self) -> ast.Module:
        try:
            return parse_source(self.source)
        except SourceError as error:
            raise Refused(error.message) from None

    @functools.cached_property
    def names(self) -> Names:
        return Names(self.tree)

    @functools.cached_property
    def module(self) -> cst.Module:
        try:
            refuse_nesting(self.source, concrete=True)
            return cst.parse_module(self.source.text)
        except SourceError as error:
            raise Refused(error.message) from None
        except (cst.ParserSyntaxError, RecursionError) as error:
            message = str(error).partition("\n")[0]
            raise Refused(f"libcst cannot parse the file: {message}") from None

    @functools.cached_property
    def _nodes(self) -> Mapping[Span, list[cst.CSTNode]]:
        """Nodes by span, inner before outer. A parenthesised tuple or generator stands under both its spans."""
        found: dict[Span, list[cst.CSTNode]] = {}
        for node, place in self._places.items():
            found.setdefault(place, []).append(node)
            if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
                found.setdefault(self.outer_place(node), []).append(node)
        return found

    @functools.cached_property
    def _places(self) -> Mapping[cst.CSTNode, Span]:
        wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
        return {node: _span(place) for node, place in positions.items() if isinstance(place, CodeRange)}

    def place(self, node: cst.CSTNode) -> Span:
        """Where a libcst node of this file is; parentheses around an expression do not count."""
        return self._places[node]

    def outer_place(self, node: cst.BaseExpression) -> Span:
        """Where an expression is, with the parentheses around it."""
        if not node.lpar:
            return self.place(node)
        first, last = self.place(node.lpar[0]), self.place(node.rpar[-1])
        return Span(first.line, first.column, last.end_line, last.end_column)

    def find(self, span: Span, *types: type[NodeT]) -> NodeT:
        """The innermost libcst node of one of `types` at exactly `span`. Raises Refused when there is none."""
        for node in self._nodes.get(span, ()):
            if isinstance(node, types):
                return node
        wanted = " or ".join(kind.__name__ for kind in types)
        raise Refused(f"there is no {wanted} at line {span.line}, column {span.column}")

    def find_ast(self, span: Span, *types: type[ast.AST]) -> ast.AST:
        """The outermost standard-library node of one of `types` at exactly `span`. Raises Refused."""
        for node in ast.walk(self.tree):
            if isinstance(node, types) and getattr(node, "lineno", None) == span.line:
                if self.span(node) == span:
                    return node
        wanted = " or ".join(kind.__name__ for kind in types)
        raise Refused(f"there is no {wanted} at line {span.line}, column {span.column}")

    def span(self, node: ast.AST) -> Span:
        """Where a node of the standard library's tree is."""
        return span_of(node, self.lines.lines)  # type: ignore[arg-type]

    def text(self, node: ast.AST) -> str:
        """The source text of a node of the standard library's tree."""
        return self.lines.slice(self.span(node))

    def code(self, node: cst.CSTNode) -> str:
        """The source text of a libcst node, built or found."""
        return self.module.code_for_node(node)


def _span(place: CodeRange) -> Span:
    return Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)
