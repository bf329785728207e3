"""The parent of each node, computed for one statement of the module at a time, since most files need few parents."""

from __future__ import annotations

import ast
from bisect import bisect_right

from jaxlint.syntax.facts import children


class Parents:
    """A mapping from the nodes of a module to their parents."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.found: dict[ast.AST, ast.AST] = {}
        self.starts = [_start(statement) for statement in tree.body]
        self.done: set[int] = set()  # statements, by position, whose nodes are all in `found`

    def get(self, node: ast.AST | None) -> ast.AST | None:
        """The parent of `node`; None for the module itself and for nodes of other modules."""
        if node is None or node is self.tree:  # where every walk up ends
            return None
        parent = self.found.get(node)
        if parent is None and len(self.done) < len(self.starts):
            self._look(node)
            parent = self.found.get(node)
        return parent

    def __contains__(self, node: object) -> bool:
        return isinstance(node, ast.AST) and self.get(node) is not None

    def __getitem__(self, node: ast.AST) -> ast.AST:
        parent = self.get(node)
        if parent is None:
            raise KeyError(node)
        return parent

    def _look(self, node: ast.AST) -> None:
        """Adds the statements at the position of `node`; all statements if it has none or is not there."""
        line = getattr(node, "lineno", None)
        if line is not None:
            place = bisect_right(self.starts, line) - 1
            while place >= 0 and (self.tree.body[place].end_lineno or line) >= line:
                self._add(place)
                place -= 1
            if node in self.found:
                return
        for place in range(len(self.starts)):  # inside f-strings Python 3.11 counts lines differently
            self._add(place)

    def _add(self, place: int) -> None:
        if place in self.done:
            return
        self.done.add(place)
        found = self.found
        found[self.tree.body[place]] = self.tree
        stack: list[ast.AST] = [self.tree.body[place]]
        while stack:
            node = stack.pop()
            below = children(node)
            found.update(dict.fromkeys(below, node))
            stack += below


def _start(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
