"""A region as text: the new function, and the call that replaces the region."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from jaxlint.codemods.source.site import Site
from jaxlint.finding import Span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(slots=True)
class Written:
    """The lines of the function, its place, and the call."""

    head: list[str]  # blank lines before the function
    indent: str
    lines: list[str]  # of the function, from its `def` on
    tail: list[str]  # blank lines after it
    before: int  # the line above which it goes
    span: Span  # the replaced text
    call: str
    newline: str
    also: list[tuple[Span, str]] = field(default_factory=list)  # below it, each in one line

    def definition(self, decorator: str) -> tuple[int, str]:
        """The line above which the function goes, and its text."""
        decorated = [f"{self.indent}{decorator}"] if decorator else []
        lines = [*self.head, *decorated, *self.lines, *self.tail]
        return self.before, "".join(line + self.newline for line in lines)

    def whole(self, text: str, decorator: str) -> str:
        """The file with the function in it, and the call."""
        lines = _LINE.findall(text)  # a file may have line ends of several kinds
        for place, new in self.also:
            line = lines[place.line - 1]
            lines[place.line - 1] = line[: place.column - 1] + new + line[place.end_column - 1 :]
        first, last = self.span.line, self.span.end_line
        before = lines[first - 1][: self.span.column - 1]
        after = lines[last - 1][self.span.end_column - 1 :]
        lines[first - 1 : last] = [f"{before}{self.call}{after}"]
        line_of_it, definition = self.definition(decorator)
        lines[line_of_it - 1 : line_of_it - 1] = [definition]
        return "".join(lines)

    @property
    def line(self) -> int:
        """The line of its `def` in the file with no decorator."""
        return self.before + len(self.head)


@dataclass(slots=True)
class HostParts:
    """`names`: what the host computes, each with the parameter for it. `numbers`: those of them that are numbers of Python. `as_array`: the
    function that makes an array of one, where it would be static."""

    names: dict[ast.expr, str] = field(default_factory=dict)
    numbers: list[ast.expr] = field(default_factory=list)
    as_array: str = ""

    @property
    def parameters(self) -> list[str]:
        """The parameters for what the host computes."""
        return list(dict.fromkeys(self.names.values()))

    def texts(self, site: Site) -> list[str]:
        """What the host computes, as text."""
        found: dict[str, str] = {}
        for node, name in self.names.items():
            text = site.text(node)
            found.setdefault(
                name, f"{self.as_array}({text})" if node in self.numbers and self.as_array else text
            )
        return list(found.values())
