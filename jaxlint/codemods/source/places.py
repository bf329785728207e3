"""The libcst nodes of a file and their places, parsed one statement at a time.

libcst takes ten times as long for a file as the standard library, and several times that for the positions of
its nodes. A codemod asks for one place. The standard library's tree, which exists already, shows the
statement at that place: only its lines are parsed, at their position in a text that is otherwise empty.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from jaxlint.codemods.source.refused import Refused
from jaxlint.codemods.source.statement_regions import smallest_region
from jaxlint.codemods.source.text_edits import Lines
from jaxlint.finding import Span
from jaxlint.gc_pause import no_garbage_collection
from jaxlint.syntax.guard import nesting_problem

_LINE_END = re.compile(r"[\r\n]")
NodeT = TypeVar("NodeT", bound=cst.CSTNode)
_Nodes = dict[Span, list[cst.CSTNode]]  # by their place, inner before outer


class Places:
    """The libcst nodes of the text `lines`, whose syntax tree is `tree`."""

    def __init__(self, lines: Lines, tree: ast.Module) -> None:
        self._lines = lines
        self._tree = tree
        self._spans: dict[cst.CSTNode, Span] = {}
        self._parsed: dict[tuple[int, str], _Nodes] = {}  # by the first line and the text that was parsed
        self._whole: _Nodes | None = None

    def of(self, node: cst.CSTNode) -> Span:
        """The span of a node that `at` gave or that is part of one, without parentheses around an expression."""
        return self._spans[node]

    def outer(self, node: cst.BaseExpression) -> Span:
        """The span of an expression, with the parentheses around it."""
        if not node.lpar:
            return self.of(node)
        first, last = self.of(node.lpar[0]), self.of(node.rpar[-1])
        return Span(first.line, first.column, last.end_line, last.end_column)

    def find(self, span: Span, *types: type[NodeT]) -> NodeT:
        """The innermost node of one of `types` at exactly `span`. Raises Refused if there is none."""
        for node in self.at(span):
            if isinstance(node, types):
                return node
        wanted = " or ".join(kind.__name__ for kind in types)
        raise Refused(f"there is no {wanted} at line {span.line}, column {span.column}")

    def at(self, span: Span) -> Sequence[cst.CSTNode]:
        """The nodes with this span, inner before outer. A parenthesised tuple or generator has two. Raises Refused."""
        try:
            return self._around(span).get(span, ())
        except cst.ParserSyntaxError as error:
            raise _refusal(error) from None

    def _around(self, span: Span) -> _Nodes:
        """The nodes of the smallest statement around `span`; those of the file if its lines do not say enough."""
        region = smallest_region(self._tree, self._lines.lines, span)
        if region is None or self._whole is not None:
            return self._all()
        first = self._lines.starts[region.first - 1]
        end = self._lines.starts[region.last] if region.last < len(self._lines.starts) else None
        newline = self._lines.newline
        # A line of its own decides the default line end, and opens a block for what is indented.
        text = ("if 1:" if region.indented else "") + newline + self._lines.text[first:end] + region.body
        key = (region.first, text)
        if key not in self._parsed:
            try:
                self._parsed[key] = self._placed(parsed(text), region.first - 2)
            except cst.ParserSyntaxError:  # such as a decorator whose parenthesis opens on the line before
                return self._all()
        return self._parsed[key]

    def _all(self) -> _Nodes:
        if self._whole is None:
            self._whole = self._placed(parsed(self._lines.text), 0)
        return self._whole

    def _placed(self, module: cst.Module, lines_above: int) -> _Nodes:
        # (`MetadataWrapper.resolve` visits the tree once more, for nothing.)
        provider = PositionProvider()
        computed: dict[cst.CSTNode, Any] = {}
        provider._computed = computed
        with no_garbage_collection():
            provider._gen_impl(module)
        found: _Nodes = {}
        self._spans.update((node, _span(place, lines_above)) for node, place in computed.items())
        for node in computed:
            found.setdefault(self._spans[node], []).append(node)
            if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
                found.setdefault(self.outer(node), []).append(node)
        return found


def parsed(text: str) -> cst.Module:
    """libcst's tree. Raises Refused if the text nests too deeply, and ParserSyntaxError."""
    problem = nesting_problem(text, concrete=True)
    if problem is not None:
        raise Refused(problem.message)
    try:
        with no_garbage_collection():
            return cst.parse_module(text)
    except RecursionError as error:
        raise _refusal(error) from None


def names_in(text: str) -> Iterator[str]:
    """Every name in a file, as it is written. Raises Refused."""
    try:
        waiting: list[cst.CSTNode] = [parsed(text)]
    except cst.ParserSyntaxError as error:
        raise _refusal(error) from None
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Name):
            yield node.value
        waiting += reversed(node.children)


def _refusal(error: Exception) -> Refused:
    message = str(error).partition("\n")[0]
    return Refused(f"libcst cannot parse the file: {message}")


def _span(place: CodeRange, lines_above: int) -> Span:
    return Span(
        place.start.line + lines_above,
        place.start.column + 1,
        place.end.line + lines_above,
        place.end.column + 1,
    )


def code_of(node: cst.CSTNode, newline: str, indentation: str | None = None) -> str:
    """The source text of a node, parsed or built, for a file with this line end.

    `indentation` is that of its destination, needed if it may span several lines, which libcst indents by their block.
    """
    module = cst.Module([], default_newline=newline)
    code = module.code_for_node(node)
    if indentation is None or not _LINE_END.search(code):
        return code
    indented = node.visit(_Indent(indentation))
    assert isinstance(indented, cst.CSTNode)
    return module.code_for_node(indented)


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
