"""Facts for hover and inlay hints: whether a name is traced or static, since when and through which calls, and which
array it is."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.places import shown_line
from jaxlint.server.checking import Facts
from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.inspection import FunctionFacts
from jaxlint.staging.inspection.arrays import ArrayFacts
from jaxlint.staging.reach.tracer_sources import CallSite
from jaxlint.syntax.facts import all_parameters
from jaxlint.syntax.parse import parse_source, split_lines

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SHOWN_CALLS = 3
HINTS = frozenset({"traced", "static"})
Place = tuple[int | None, int, int]  # cell, line from 1, column from 0 in code points


@dataclass(frozen=True, slots=True)
class Hint:
    """A few words after a place."""

    place: Place
    text: str
    tooltip: str


@dataclass(slots=True)
class _Function:
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    facts: FunctionFacts
    parameters: dict[str, ast.arg] = field(default_factory=dict)


class Explanations:
    """The facts about one document, at the time of their creation."""

    def __init__(self, source: SourceFile, facts: Facts) -> None:
        self.source = source
        self.lines = split_lines(source.text)
        self.functions: list[_Function] = []
        self.arrays = facts.arrays
        self.tree = ast.Module([], [])
        try:
            self.tree = parse_source(source)
        except SourceError:
            return
        by_place: dict[tuple[int, str], list[FunctionFacts]] = {}
        for fact in facts.functions:
            by_place.setdefault((fact.line, fact.qualname.rpartition(".")[2]), []).append(fact)
        for node in ast.walk(self.tree):
            if isinstance(node, _FUNCTIONS):
                line = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
                known = by_place.get((line, getattr(node, "name", "<lambda>")))
                if known:
                    parameters = {one.arg: one for one in all_parameters(node)}
                    self.functions.append(_Function(node, known.pop(0), parameters))

    def at(self, cell: int | None, line: int, column: int) -> tuple[str, int, int, int] | None:
        """The facts about the name at a place, as Markdown, with its line and its first and last column; None if
        there are none.

        Lines count from 1, columns from 0 in code points.
        """
        module_line = self._module_line(cell, line)
        found = self._name_at(module_line, column) if module_line is not None else None
        if module_line is None or found is None:
            return None
        name, first, last, node = found
        said = self._of_name(name, module_line, node)
        if not said:
            return None
        # In a notebook lines count in their cells.
        sources = {self.source.display: self.source}
        text = shown_line(self.source.display, module_line, "\n\n".join(said), sources)[2]
        return text, line, first, last

    def hints(self) -> Iterator[Hint]:
        """Which functions are traced, and which of their parameters are static."""
        for function in self.functions:
            facts, node = function.facts, function.node
            if facts.staged != "yes" or isinstance(node, ast.Lambda):
                continue
            body_line = node.body[0].lineno
            header = next(
                (
                    n
                    for n in range(node.lineno, body_line + 1)
                    if self.lines[n - 1].split("#")[0].rstrip().endswith(":")
                ),
                None,
            )
            if header is not None and header < body_line:
                reason = shown_line(
                    self.source.display, header, facts.reason, {self.source.display: self.source}
                )[2]
                yield Hint(self._place(header, len(self.lines[header - 1].rstrip())), "traced", reason)
            for name, parameter in function.parameters.items():
                if facts.params.get(name) == "static" and name not in ("self", "cls"):
                    end = self._column(parameter.end_lineno or 0, parameter.end_col_offset or 0)
                    yield Hint(
                        self._place(parameter.end_lineno or 0, end),
                        "static",
                        f"`{name}` is not a tracer here: JAX bakes its value in as a constant",
                    )

    # ---- texts ----

    def _of_name(self, name: str, line: int, node: ast.AST) -> list[str]:
        said = []
        array = self._array(name, line)
        for function in self._around(line):
            if name in function.parameters and function.facts.params.get(name):
                said.append(self._of_parameter(name, function, array))
                return said
        if isinstance(node, (*_FUNCTIONS, ast.Name, ast.Attribute)):
            for function in self.functions:
                if function.facts.qualname.rpartition(".")[2] == name:
                    said.append(_of_function(function.facts))
                    break
        if array is not None:
            said += self._of_variable(array, line)
        return said

    def _of_variable(self, array: ArrayFacts, line: int) -> list[str]:
        if not array.tracer:
            return [f"`{array.name}`: `{array.written()}`"]
        shown = _shape(array)
        around = next((one.facts for one in self._around(line) if one.facts.qualname == array.function), None)
        where = f" in `{around.qualname}`" if around is not None else ""
        said = [f"`{array.name}` is **a tracer**{where}{shown}."]
        if around is not None and around.staged == "yes" and around.reason:
            said.append(f"Why: {around.reason}.")
        return said

    def _of_parameter(self, name: str, function: _Function, array: ArrayFacts | None) -> str:
        facts = function.facts
        kind = facts.params[name]
        what = {
            "traced": "a tracer",
            "static": "static: not a tracer",
            "unknown": "not known to be a tracer",
        }[kind]
        where = f" in `{facts.qualname}`"
        if facts.staged == "no":
            where += ", which runs on the host"
        shown = _shape(array)
        lines = [f"`{name}` is **{what}**{where}{shown}."]
        if kind == "traced" and facts.reason:
            lines.append(f"Why: {facts.reason}.")
        calls = [
            call
            for call in (facts.calls or {}).get(name, [])
            if call is not None and not self._is_header(function, call)
        ]
        if calls:
            places = list(dict.fromkeys(self._place_of(call) for call in calls))
            more = f" and {len(places) - _SHOWN_CALLS} more" if len(places) > _SHOWN_CALLS else ""
            lines.append(f"Passed at {', '.join(places[:_SHOWN_CALLS])}{more}.")
        return "\n\n".join(lines)

    def _is_header(self, function: _Function, call: CallSite) -> bool:
        """Whether a call is the one that the analysis assumes where a function is defined."""
        node = function.node
        if call.path != self.source.display or isinstance(node, ast.Lambda):
            return False
        return function.facts.line <= call.line < node.body[0].lineno

    def _place_of(self, call: CallSite) -> str:
        """The place of a call for a reader of this document."""
        if call.path == self.source.display:
            return f"line {call.line}"
        try:
            path = os.path.relpath(call.path, Path(self.source.display).parent)
        except ValueError:  # on another drive
            path = call.path
        return f"{path}:{call.line}"

    def _array(self, name: str, line: int) -> ArrayFacts | None:
        """The array that a name was last bound to above a line, in the enclosing function."""
        around = self._around(line)
        function = around[0].facts.qualname if around else ""
        best: ArrayFacts | None = None
        for one in self.arrays:
            if one.name == name and one.line <= line and one.function in (function, ""):
                if best is None or (one.function != "", one.line, one.column) >= (
                    best.function != "",
                    best.line,
                    best.column,
                ):
                    best = one
        return best

    # ---- places ----

    def _around(self, line: int) -> list[_Function]:
        """The functions around a line, the innermost first."""
        found = [one for one in self.functions if one.node.lineno <= line <= (one.node.end_lineno or 0)]
        return sorted(found, key=lambda one: -one.node.lineno)

    def _name_at(self, line: int, column: int) -> tuple[str, int, int, ast.AST] | None:
        for node in ast.walk(self.tree):
            for name, first, last in self._spans(node, line):
                if first <= column <= last:
                    return name, first, last, node
        return None

    def _spans(self, node: ast.AST, line: int) -> Iterator[tuple[str, int, int]]:
        """The names of a node in a line, with their columns."""
        if isinstance(node, ast.Name) and node.lineno == line:
            first = self._column(line, node.col_offset)
            yield node.id, first, first + len(node.id)
        elif isinstance(node, ast.arg) and node.lineno == line:
            first = self._column(line, node.col_offset)
            yield node.arg, first, first + len(node.arg)
        elif isinstance(node, ast.Attribute) and node.end_lineno == line:
            last = self._column(line, node.end_col_offset or 0)
            yield node.attr, last - len(node.attr), last
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno == line:
            first = self.lines[line - 1].find(f" {node.name}", self._column(line, node.col_offset)) + 1
            if first:
                yield node.name, first, first + len(node.name)

    def _column(self, line: int, offset: int) -> int:
        """The column in code points for an offset in bytes."""
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))

    def _place(self, line: int, column: int) -> Place:
        cell, shown, _ = shown_line(self.source.display, line, "", {self.source.display: self.source})
        return cell, shown, column

    def _module_line(self, cell: int | None, line: int) -> int | None:
        if self.source.container is None:
            return line
        for number in range(1, len(self.lines) + 1):
            if self._place(number, 0)[:2] == (cell, line):
                return number
        return None


def _shape(array: ArrayFacts | None) -> str:
    """The known facts about an array, after the word "tracer"."""
    known = array is not None and array.known
    return f", `{array.written().removesuffix(' tracer')}`" if array is not None and known else ""


def _of_function(facts: FunctionFacts) -> str:
    verdict = {
        "yes": "traced: JAX runs it with tracers"
        + (", by convention" if facts.basis == "convention" else ""),
        "no": "not traced: it runs on the host",
        "unknown": "perhaps traced",
    }[facts.staged]
    return f"`{facts.qualname}` is **{verdict}**." + (f"\n\nWhy: {facts.reason}." if facts.reason else "")
