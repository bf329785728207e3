"""The libcst nodes of a file and their places, parsed one statement at a time.

libcst takes ten times as long for a file as the standard library, and several times that for the positions of its
nodes. A codemod asks for one place. The standard library's tree, which is at hand, says which statement that is in:
its lines alone are parsed, at their place in a text that is otherwise empty.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from jaxlint.codemods.text_edits import Lines
from jaxlint.finding import Span
from jaxlint.gc_pause import no_garbage_collection

_Nodes = dict[Span, list[cst.CSTNode]]  # by their place, inner before outer


class Places:
    """The libcst nodes of the text `lines`, whose syntax tree is `tree`.

    `parse` is libcst's parser. What it raises for the whole text goes to the caller.
    """

    def __init__(self, lines: Lines, tree: ast.Module, parse: Callable[[str], cst.Module]) -> None:
        self._lines = lines
        self._tree = tree
        self._parse = parse
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

    def at(self, span: Span) -> Sequence[cst.CSTNode]:
        """The nodes with this span, inner before outer. A parenthesised tuple or generator has two."""
        return self._around(span).get(span, ())

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
                self._parsed[key] = self._placed(self._parse(text), region.first - 2)
            except cst.ParserSyntaxError:  # such as a decorator whose parenthesis opens on the line before
                return self._all()
        return self._parsed[key]

    def _all(self) -> _Nodes:
        if self._whole is None:
            self._whole = self._placed(self._parse(self._lines.text), 0)
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


class Region:
    """Whole lines that hold one statement, or several that share lines: 1-based, the last inclusive.

    `body` is what completes a header whose block is left out.
    """

    __slots__ = ("body", "first", "indented", "last")

    def __init__(self, first: int, last: int, *, indented: bool, body: str = "") -> None:
        self.first = first
        self.last = last
        self.indented = indented
        self.body = body


def smallest_region(tree: ast.Module, lines: Sequence[str], span: Span) -> Region | None:
    """The smallest region that can be parsed by itself and has all of `span`; None if only the file has."""
    found: Region | None = None
    block: Sequence[ast.stmt] | None = tree.body
    while block is not None:
        here = _sharing(block, span.line, span.end_line)
        if not here:
            return found
        first, last = first_line(here[0]), _last_line(here[-1])
        if first > span.line or last < span.end_line:
            return found
        before = lines[here[0].lineno - 1].encode()[: here[0].col_offset]
        if before.strip():
            return found  # the block stands on the line of its header
        if not lines[here[0].lineno - 1].lstrip().startswith("elif"):
            found = Region(first, last, indented=bool(before))
        if len(here) > 1:
            return found
        [statement] = here
        body = getattr(statement, "body", None)
        if found is not None and found.first == first and body and _is_header(statement, body, span, lines):
            below = lines[body[0].lineno - 1]
            indent = below[: len(below) - len(below.lstrip())]
            return Region(first, first_line(body[0]) - 1, indented=bool(before), body=f"{indent}pass")
        block = next((one for one in _blocks(statement) if one and _covers(one, span)), None)
    return found


def _is_header(statement: ast.stmt, body: Sequence[ast.stmt], span: Span, lines: Sequence[str]) -> bool:
    """Whether `span` ends before the first line of the block of `statement`, which begins its line."""
    if isinstance(statement, ast.Try | ast.TryStar) or span.end_line >= first_line(body[0]):
        return False
    return not lines[body[0].lineno - 1].encode()[: body[0].col_offset].strip()


def _sharing(block: Sequence[ast.stmt], first: int, last: int) -> list[ast.stmt]:
    """The adjacent statements of a block on these lines, and those that share a line with one of them."""
    start = bisect_left(block, first, key=_last_line)
    end = bisect_right(block, last, key=first_line)
    if start >= end:
        return []
    while start > 0 and _last_line(block[start - 1]) >= first_line(block[start]):
        start -= 1
    while end < len(block) and first_line(block[end]) <= _last_line(block[end - 1]):
        end += 1
    return list(block[start:end])


def _covers(block: Sequence[ast.stmt], span: Span) -> bool:
    return first_line(block[0]) <= span.line and span.end_line <= _last_line(block[-1])


def _blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, ())
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def first_line(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    return min([statement.lineno, *(part.lineno for part in getattr(statement, "decorator_list", ()))])


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _span(place: CodeRange, lines_above: int) -> Span:
    return Span(
        place.start.line + lines_above,
        place.start.column + 1,
        place.end.line + lines_above,
        place.end.column + 1,
    )
