"""Which statements and branches of the program's files a run reaches.

A probe is inserted before each statement, and around each part of an expression that Python may skip: the
branches of a ternary, the operands after `and` and `or`, the rows of a comprehension, the body of a lambda.
It costs some tens of nanoseconds, and also works in threads and generators. Names, signatures, lines and
closures of functions do not change. Code that numba compiles has no probes and counts as not reached.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.capture.watched_functions import is_for_numba

_MARK = "jaxlint reach "
_BLOCKS = ("body", "orelse", "finalbody")
Place = tuple[int, int, int, int]  # as `ast` counts


@dataclass(slots=True)
class ReachedCode:
    """The places with probes, by real path, and those that were reached."""

    noted: dict[str, list[Place]] = field(default_factory=dict)
    reached: dict[str, set[int]] = field(default_factory=dict)

    def note(self, tree: ast.Module, path: str, marks: dict[str, Any]) -> None:
        """Inserts the probes into the tree of a file. `marks`: the constants of its code that will be replaced."""
        places = self.noted.setdefault(path, [])
        again = bool(places)  # a file that is loaded twice, as `__main__` and by name
        mark = f"{_MARK}{len(marks)}"
        marks[mark] = self.reached.setdefault(path, set()).add
        _Notes(mark, [] if again else places).visit(tree)

    def forget(self, path: str) -> None:
        """Forgets a file that could not be compiled with its probes."""
        self.noted.pop(path, None)

    def missed(self) -> list[dict[str, Any]]:
        """The places that no probe has reported, by file."""
        return [
            {
                "path": path,
                "places": [place for n, place in enumerate(places) if n not in self.reached[path]],
            }
            for path, places in self.noted.items()
        ]


class _Notes(ast.NodeTransformer):
    def __init__(self, mark: str, places: list[Place]) -> None:
        self._mark = mark
        self._places = places
        self._string: ast.JoinedStr | None = None  # the f-string around

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "pattern", "type_params"):
                continue
            if name in _BLOCKS and isinstance(value, list):
                setattr(node, name, list(self._block(value)))
            elif isinstance(value, list):
                value[:] = [self.visit(one) if isinstance(one, ast.AST) else one for one in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def _block(self, block: list[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements of a block, each after its probe. A docstring and imports from `__future__` stay first."""
        for number, statement in enumerate(block):
            if not _stays_first(statement, number):
                yield ast.copy_location(ast.Expr(self._call(statement)), statement)
            found = self.visit(statement)
            assert isinstance(found, ast.stmt)
            yield found

    def _call(self, node: ast.expr | ast.stmt) -> ast.Call:
        number = len(self._places)
        self._places.append(place_of(self._string or node))
        call = ast.Call(ast.Constant(self._mark), [ast.Constant(number)], [])
        for part in (call, call.func, *call.args):
            ast.copy_location(part, node)
        return call

    def _noted(self, node: ast.expr) -> ast.expr:
        """The expression after a probe: the second of two values."""
        call = self._call(node)
        pair = ast.Tuple([call, self.visit(node)], ast.Load())
        found = ast.Subscript(pair, ast.Constant(1), ast.Load())
        for part in (pair, found, found.slice):
            ast.copy_location(part, node)
        return found

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not is_for_numba(node):
            return self.generic_visit(node)
        for part in (part for one in node.body for part in ast.walk(one)):
            if isinstance(part, ast.stmt):
                self._places.append(place_of(part))  # no probe can tell whether it is reached
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        node.body, node.orelse = self._noted(node.body), self._noted(node.orelse)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values = [self.visit(node.values[0]), *map(self._noted, node.values[1:])]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.args = self.visit(node.args)
        node.body = self._noted(node.body)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ast.AST:
        node.generators = [self.visit(one) for one in node.generators]
        node.elt = self._noted(node.elt)
        return node

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        node.generators = [self.visit(one) for one in node.generators]
        node.key, node.value = self._noted(node.key), self.visit(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        around = self._string
        if sys.version_info < (3, 12):  # its parts have wrong places: it is reached if all of them are
            self._string = around or node
        found = self.generic_visit(node)
        self._string = around
        return found


def place_of(node: ast.expr | ast.stmt) -> Place:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


def _stays_first(statement: ast.stmt, number: int) -> bool:
    """Whether nothing may precede a statement, or it needs no probe."""
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return True
    return number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
