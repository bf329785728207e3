"""One source file for codemods: its trees, positions and names, parsed once and shared by all steps."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from jaxlint.codemods.source.name_scopes import Names
from jaxlint.codemods.source.refused import Refused
from jaxlint.codemods.source.statement_regions import first_line
from jaxlint.codemods.source.text_edits import lines_of
from jaxlint.finding import Span
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.syntax.parse import parse_source, refuse_long, span_of
from jaxlint.syntax.spelling import normalized

if TYPE_CHECKING:  # libcst takes as long to load as a small project to check; most fixes do without it
    import libcst as cst

    from jaxlint.codemods.source.places import Places

__all__ = ["Refused", "Site"]
NodeT = TypeVar("NodeT", bound="cst.CSTNode")


def place_of(node: ast.expr | ast.stmt) -> list[int]:
    """The lines and columns of a node, as `ast` has them: first line, first column, last line, last column."""
    return [node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0]


class Site:
    """The shared view of one file. Raises Refused if the file cannot be parsed."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.lines = lines_of(source.text)
        self.memo: dict[object, Any] = {}  # caches of other modules

    @property
    def display(self) -> str:
        """The path of the file, as it is shown."""
        return self.source.display

    @functools.cached_property
    def tree(self) -> ast.Module:
        try:
            refuse_long(self.source)
            tree = parse_source(self.source)
        except SourceError as error:
            raise Refused(error.message) from None
        self._refuse_other_spellings()
        return tree

    def _refuse_other_spellings(self) -> None:
        """Raises Refused if Python reads a name otherwise than it is written: then the trees and the text would disagree."""
        if normalized(self.source.text) == self.source.text:
            return
        from jaxlint.codemods.source.places import names_in

        for name in names_in(self.source.text):
            if (read := normalized(name)) != name:
                raise Refused(f"Python reads `{name}` as `{read}`; write `{read}`")

    @functools.cached_property
    def names(self) -> Names:
        return Names(self.tree)

    @functools.cached_property
    def _places(self) -> Places:
        from jaxlint.codemods.source.places import Places

        return Places(self.lines, self.tree)

    def place(self, node: cst.CSTNode) -> Span:
        """The span of a libcst node of this file, without parentheses around an expression."""
        return self._places.of(node)

    def outer_place(self, node: cst.BaseExpression) -> Span:
        """The span of an expression, with the parentheses around it."""
        return self._places.outer(node)

    def find(self, span: Span, *types: type[NodeT]) -> NodeT:
        """The innermost libcst node of one of `types` at exactly `span`. Raises Refused if there is none."""
        return self._places.find(span, *types)

    def find_ast(self, span: Span, *types: type[ast.AST]) -> ast.AST:
        """The outermost standard-library node of one of `types` at exactly `span`. Raises Refused."""
        for node in self._by_line.get(span.line, ()):
            if isinstance(node, types) and self.span(node) == span:
                return node
        wanted = " or ".join(kind.__name__ for kind in types)
        raise Refused(f"there is no {wanted} at line {span.line}, column {span.column}")

    def find_loop(self, span: Span) -> ast.For:
        """The `for` that runs over the expression at exactly `span`. Raises Refused."""
        iterable = self.find_ast(span, ast.expr)
        loop = self.names.parents.get(iterable)
        if not isinstance(loop, ast.For) or loop.iter is not iterable:
            raise Refused("the span is not the iterable of a `for` statement")
        return loop

    def find_function(self, span: Span) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function whose name is at `span`, which is how findings mark functions."""
        for node in self._by_line.get(span.line, ()):
            if (
                isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                and self.lines.slice(span) == node.name
            ):
                return node
        return None

    @functools.cached_property
    def _by_line(self) -> Mapping[int, list[ast.AST]]:
        """Nodes of the standard library's tree by their first line, outer before inner."""
        found: dict[int, list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            if hasattr(node, "lineno"):
                found.setdefault(node.lineno, []).append(node)
        return found

    @functools.cached_property
    def stored_attributes(self) -> Mapping[str, list[ast.Attribute]]:
        """The stores to attributes, by attribute name."""
        found: dict[str, list[ast.Attribute]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.setdefault(node.attr, []).append(node)
        return found

    @functools.cached_property
    def method_calls(self) -> Mapping[str, list[ast.Call]]:
        """The calls of attributes, by attribute name."""
        found: dict[str, list[ast.Call]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                found.setdefault(node.func.attr, []).append(node)
        return found

    @functools.cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """The classes of the file by name, the first of several."""
        found: dict[str, ast.ClassDef] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, node)
        return found

    @functools.cached_property
    def decorated(self) -> Sequence[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions that have decorators."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return [node for node in ast.walk(self.tree) if isinstance(node, kinds) and node.decorator_list]

    def span(self, node: ast.AST) -> Span:
        """The span of a node of the standard library's tree."""
        return span_of(node, self.lines.lines)  # type: ignore[arg-type]

    def across(self, nodes: Sequence[ast.AST]) -> Span:
        """The span from the first to the last of adjacent nodes."""
        first, last = self.span(nodes[0]), self.span(nodes[-1])
        return Span(first.line, first.column, last.end_line, last.end_column)

    def text(self, node: ast.AST) -> str:
        """The source text of a node of the standard library's tree."""
        return self.lines.slice(self.span(node))

    def code(self, node: cst.CSTNode, place: Span | None = None) -> str:
        """The source text of a libcst node, parsed or built.

        `place` is its destination, needed if it may span several lines, which libcst indents by their block.
        """
        from jaxlint.codemods.source.places import code_of

        indentation = self._indentation(place) if place is not None else None
        return code_of(node, self.lines.newline, indentation)

    def _indentation(self, place: Span) -> str:
        """The white space before the statement around `place`: the indentation of its block."""
        around = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and first_line(node) <= place.line <= (node.end_lineno or 0)
        ]
        innermost = max(around, key=lambda node: (node.lineno, node.col_offset), default=None)
        line = self.lines.lines[(innermost.lineno if innermost is not None else place.line) - 1]
        return line[: len(line) - len(line.lstrip())]
