"""Blocks of statements as text: their lines with the comments that belong to them, reindented."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Sequence

from jaxlint.codemods.source.edited_file import comments
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_regions import first_line
from jaxlint.codemods.source.statement_text import is_alone
from jaxlint.finding import Span

MAX_LINE = 88
# Expressions that may be call arguments without parentheses.
_NOT_ARGUMENTS = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)
_TIGHT = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript)


class Layout:
    """The text of one file, by statements and blocks."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lines = site.lines.lines
        self.newline = site.lines.newline

    def indent(self, statement: ast.stmt) -> str:
        """The white space before `statement`. Raises Refused if it does not begin its line."""
        before = self.lines[first_line(statement) - 1][: self.site.span(statement).column - 1]
        if before.strip():
            raise Refused("the statement shares its line with another; put it on a line of its own")
        return before

    def unit(self, statement: ast.If | ast.While | ast.For) -> str:
        """The indentation width of the block of `statement`."""
        outer = self.indent(statement)
        first = statement.body[0]
        if first.lineno == statement.lineno or self._on_header_line(statement, first):
            return "    "
        inner = self.indent(first)
        if not inner.startswith(outer):
            raise Refused("the block is indented by a mixture of tabs and spaces")
        return inner[len(outer) :]

    def _on_header_line(self, statement: ast.If | ast.While | ast.For, first: ast.stmt) -> bool:
        return bool(self.lines[first.lineno - 1][: first.col_offset].strip()) and first is statement.body[0]

    def argument(self, node: ast.expr) -> str:
        """The text of `node` as the argument of a call. Raises Refused if it cannot be one."""
        if any(isinstance(part, (*_NOT_ARGUMENTS[:3], ast.Await)) for part in ast.walk(node)):
            raise Refused("an expression that would move assigns, awaits or yields")
        text = self.site.text(node)
        if isinstance(node, ast.Tuple) and not self._is_parenthesised(node):
            return f"({text})"
        return text

    def operand(self, node: ast.expr) -> str:
        """The text of `node` as an operand, in parentheses if it needs them."""
        text = self.argument(node)
        return (
            text
            if isinstance(node, _TIGHT) or (text.startswith("(") and self._is_whole(text))
            else f"({text})"
        )

    def _is_parenthesised(self, node: ast.Tuple) -> bool:
        text = self.site.text(node)
        return text.startswith("(") and self._is_whole(text)

    @staticmethod
    def _is_whole(text: str) -> bool:
        """Whether the parenthesis that opens `text` closes at its end."""
        depth = 0
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.OP and token.string in "([{":
                    depth += 1
                elif token.type == tokenize.OP and token.string in ")]}":
                    depth -= 1
                    if depth == 0:
                        rest = "".join(text.splitlines(keepends=True)[token.end[0] - 1 :])
                        first = text.splitlines()[token.end[0] - 1]
                        return not (first[token.end[1] :] + rest[len(first) :]).strip()
        except (tokenize.TokenError, SyntaxError):
            return False
        return False

    # Blocks

    def block(
        self, statements: Sequence[ast.stmt], *, indent: str, added: str = "", after: int = 0
    ) -> tuple[str, Span | None]:
        """The lines of `statements` with the comments that belong to them, and the span that they were copied from.

        `indent` is for statements on the line of their header, `added` goes before each line, `after` is the last
        line that is not part of the block. Raises Refused if a line cannot be moved.
        """
        if not statements:
            return "", None
        first, last = statements[0], statements[-1]
        if not self._begins_line(first):
            text = "".join(f"{indent}{self.site.text(one)}{self.newline}" for one in statements)
            start, end = self.site.span(first), self.site.span(last)
            return text, Span(start.line, start.column, end.end_line, end.end_column)
        span = self._block_span(statements, after)
        if added and any(self.spans_lines_in_string(one) for one in statements):
            raise Refused("a multi-line string would have to be indented")
        if not is_alone(self.site, last) and not self._ends_line(last):
            raise Refused("the block shares its last line with another statement")
        lines = self.lines[span.line - 1 : span.end_line]
        return "".join((added + line if line.strip() else line) + self.newline for line in lines), span

    def _block_span(self, statements: Sequence[ast.stmt], after: int) -> Span:
        """The whole lines of `statements` and of the comments that belong to them."""
        first, last = first_line(statements[0]), statements[-1].end_lineno or statements[-1].lineno
        column = self.site.span(statements[0]).column
        top = first
        while top > after + 1 and _is_blank_or_comment(self.lines[top - 2]):
            top -= 1
        while top < first and not self.lines[top - 1].strip():
            top += 1  # blank lines at the top go
        bottom = last
        for number in range(last + 1, len(self.lines) + 1):
            line = self.lines[number - 1]
            if not _is_blank_or_comment(line):
                break
            if line.strip():
                if len(line) - len(line.lstrip()) < column - 1:
                    break
                bottom = number
        return Span(top, 1, bottom, len(self.lines[bottom - 1]) + 1)

    def _begins_line(self, statement: ast.stmt) -> bool:
        line = self.lines[first_line(statement) - 1]
        return not line[: self.site.span(statement).column - 1].strip()

    def _ends_line(self, statement: ast.stmt) -> bool:
        span = self.site.span(statement)
        after = self.lines[span.end_line - 1][span.end_column - 1 :].strip()
        return not after or after.startswith("#")

    @staticmethod
    def spans_lines_in_string(statement: ast.AST) -> bool:
        """Whether a string inside spans several lines."""
        return any(
            isinstance(part, (ast.JoinedStr, ast.Constant))
            and (isinstance(part, ast.JoinedStr) or isinstance(part.value, (str, bytes)))
            and part.end_lineno != part.lineno
            for part in ast.walk(statement)
        )

    @staticmethod
    def identifiers(scope: Scope) -> set[str]:
        """Every name that has a meaning in the function of `scope` or around it."""
        found: set[str] = set()
        outer: Scope | None = scope
        while outer is not None:
            found |= outer.bindings.keys()
            outer = outer.parent
        for node in ast.walk(scope.node):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.alias):
                found.add(node.asname or node.name.partition(".")[0])
        return found

    def gap_above(self, statement: ast.stmt) -> str:
        """The separation of a function from the statement above it: empty if there is a blank line or no statement
        above."""
        line = first_line(statement)
        above = self.lines[line - 2].strip() if line > 1 else ""
        return "" if not above or above.endswith(":") or above.startswith("#") else self.newline

    @staticmethod
    def with_gap(whole: Span, gap: str, text: str) -> tuple[Span, str]:
        """The lines from the first of `whole` on, restarted with `gap` and `text`, which has its indentation."""
        return Span(whole.line, 1, whole.end_line, whole.end_column), gap + text

    # Comments

    def comments_outside(self, whole: Span, kept: Iterable[Span]) -> list[str]:
        """The comments in `whole` that are outside the `kept` spans."""
        if "#" not in self.site.lines.slice(whole):
            return []
        spans = list(kept)
        found = []
        for text, *place in comments(self.site.source.text):
            inside = [[s.line, s.column] <= place < [s.end_line, s.end_column] for s in (whole, *spans)]
            if inside[0] and not any(inside[1:]):
                found.append(text)
        return found

    def call(self, head: str, function: str, arguments: Sequence[str], indent: str) -> str:
        """`head function(arguments)`, on one line if it fits, otherwise one argument to a line."""
        line = f"{indent}{head}{function}({', '.join(arguments)})"
        if len(line) <= MAX_LINE and "\n" not in line and "\r" not in line:
            return line[len(indent) :]
        inner = f",{self.newline}".join(f"{indent}    {argument}" for argument in arguments)
        return f"{head}{function}({self.newline}{inner},{self.newline}{indent})"


def fresh_name(names: set[str], wanted: str) -> str:
    """`wanted`, with a number if it is taken."""
    number, name = 2, wanted
    while name in names:
        name, number = f"{wanted}_{number}", number + 1
    names.add(name)
    return name


def _is_blank_or_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")
