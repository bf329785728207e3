"""One source file for codemods: its trees, positions and names, parsed once and shared by all steps."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import libcst as cst
from libcst import matchers

from jaxlint.codemods.name_scopes import Names
from jaxlint.codemods.places import Places, first_line
from jaxlint.codemods.text_edits import Lines
from jaxlint.finding import Span
from jaxlint.gc_pause import no_garbage_collection
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.syntax.guard import nesting_problem
from jaxlint.syntax.parse import parse_source, refuse_long, span_of
from jaxlint.syntax.spelling import normalized

_LINE_END = re.compile(r"[\r\n]")
NodeT = TypeVar("NodeT", bound=cst.CSTNode)


class Refused(Exception):
    """A codemod refuses the rewrite; the message is the reason, for the user."""


class Site:
    """The shared view of one file. Raises Refused if the file cannot be parsed."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.lines = Lines(source.text)
        self.memo: dict[object, Any] = {}  # caches of other modules

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
        """Raises Refused if Python reads a name otherwise than it is written: the trees and the text would not agree about it."""
        if normalized(self.source.text) == self.source.text:
            return
        try:
            module = self._parsed(self.source.text)
        except cst.ParserSyntaxError as error:
            raise _refusal(error) from None
        for node in matchers.findall(module, matchers.Name()):
            if isinstance(node, cst.Name) and (read := normalized(node.value)) != node.value:
                raise Refused(f"Python reads `{node.value}` as `{read}`; write it so")

    @functools.cached_property
    def names(self) -> Names:
        return Names(self.tree)

    @functools.cached_property
    def _places(self) -> Places:
        return Places(self.lines, self.tree, self._parsed)

    def _parsed(self, text: str) -> cst.Module:
        """libcst's tree of a part of the file. Raises Refused, or ParserSyntaxError."""
        problem = nesting_problem(text, concrete=True)
        if problem is not None:
            raise Refused(problem.message)
        try:
            with no_garbage_collection():
                return cst.parse_module(text)
        except RecursionError as error:
            raise _refusal(error) from None

    @functools.cached_property
    def _empty(self) -> cst.Module:
        """A module with the line end of the file, to write nodes with."""
        return cst.Module([], default_newline=self.lines.newline)

    def place(self, node: cst.CSTNode) -> Span:
        """The span of a libcst node of this file, without parentheses around an expression."""
        return self._places.of(node)

    def outer_place(self, node: cst.BaseExpression) -> Span:
        """The span of an expression, with the parentheses around it."""
        return self._places.outer(node)

    def find(self, span: Span, *types: type[NodeT]) -> NodeT:
        """The innermost libcst node of one of `types` at exactly `span`. Raises Refused if there is none."""
        try:
            nodes = self._places.at(span)
        except cst.ParserSyntaxError as error:
            raise _refusal(error) from None
        for node in nodes:
            if isinstance(node, types):
                return node
        wanted = " or ".join(kind.__name__ for kind in types)
        raise Refused(f"there is no {wanted} at line {span.line}, column {span.column}")

    def find_ast(self, span: Span, *types: type[ast.AST]) -> ast.AST:
        """The outermost standard-library node of one of `types` at exactly `span`. Raises Refused."""
        for node in self._by_line.get(span.line, ()):
            if isinstance(node, types) and self.span(node) == span:
                return node
        wanted = " or ".join(kind.__name__ for kind in types)
        raise Refused(f"there is no {wanted} at line {span.line}, column {span.column}")

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
        code = self._empty.code_for_node(node)
        if place is None or not _LINE_END.search(code):
            return code
        indented = node.visit(_Indent(self._indentation(place)))
        assert isinstance(indented, cst.CSTNode)
        return self._empty.code_for_node(indented)

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


def _refusal(error: Exception) -> Refused:
    message = str(error).partition("\n")[0]
    return Refused(f"libcst cannot parse the file: {message}")


class _Indent(cst.CSTTransformer):
    """Writes out the block's indentation, which libcst would leave to the block."""

    def __init__(self, indentation: str) -> None:
        super().__init__()
        self.indentation = indentation

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        if not updated_node.indent:
            return updated_node
        last = cst.SimpleWhitespace(self.indentation + updated_node.last_line.value)
        return updated_node.with_changes(indent=False, last_line=last)

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        if not updated_node.indent:
            return updated_node
        space = cst.SimpleWhitespace(self.indentation + updated_node.whitespace.value)
        return updated_node.with_changes(indent=False, whitespace=space)
