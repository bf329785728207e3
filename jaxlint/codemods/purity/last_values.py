"""The value that a variable has last: at the end of a function it is the last one that statements in sequence assign.

`x = self.layer(x)`, and then `return x`, returns what the layer gives, whatever the parameter `x` was.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from jaxlint.codemods.purity.program import File, FunctionNode, function_around
from jaxlint.codemods.purity.value_queries import ValueQueries
from jaxlint.codemods.purity.values import ARRAY, FILLED, NOTHING, NUMBER, Box, Place, Values, one, unknown

Runs = Callable[[ast.expr, File], bool]


def last_given(
    name: str,
    statements: Sequence[ast.stmt],
    possible: ValueQueries,
    file: File,
    certainly_runs: Runs = lambda iterable, file: False,
) -> Values:
    """The last value that statements in sequence assign to a variable; empty if that depends on the path.

    `certainly_runs`: whether a loop over an expression has a turn.
    """
    for statement in reversed(statements):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if len(targets) == 1 and isinstance(statement, ast.Assign):
            (target,) = targets
            if isinstance(target, ast.Name) and target.id == name:
                return possible.of(statement.value, file)
            if isinstance(target, ast.Tuple):
                names = [getattr(one, "id", "") for one in target.elts]
                if names.count(name) == 1:
                    return possible.expressions.item_at(
                        possible.of(statement.value, file), names.index(name), len(names)
                    )
        if isinstance(statement, ast.AugAssign) and getattr(statement.target, "id", "") == name:
            home = file.names.scope_at(statement).resolve(name)
            before = possible.of_place(Place(file, home, name)) if home is not None else unknown()
            added = possible.of(statement.value, file) == {ARRAY} and before <= {ARRAY, NUMBER}
            return one(ARRAY) if added else NOTHING
        parts = list(ast.walk(statement))
        if any(
            isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
            for one in parts
        ):
            whole = isinstance(statement, ast.For) and not statement.orelse
            if not whole or any(isinstance(one, ast.Break | ast.Continue) for one in parts):
                break
            assert isinstance(statement, ast.For)
            turns = certainly_runs(statement.iter, file)
            return last_given(name, statement.body, possible, file, certainly_runs) if turns else NOTHING
    return NOTHING


def returned_last(
    statement: ast.Return, function: FunctionNode, possible: ValueQueries, file: File
) -> Values:
    """What the last statement of a function returns."""
    if isinstance(function, ast.Lambda) or statement is not function.body[-1]:
        return possible.of(statement.value, file)
    value = statement.value
    if isinstance(value, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in value.elts):
        parts = [_part(part, function, possible, file) for part in value.elts]
        return one(Box("tuple", tuple(parts), NOTHING))
    return possible.of(value, file) if value is None else _part(value, function, possible, file)


def _part(node: ast.expr, function: FunctionNode, possible: ValueQueries, file: File) -> Values:
    """A returned expression. A container may have been filled after its assignment, and a nested function may assign the variable."""
    assert not isinstance(function, ast.Lambda)
    scope = file.names.scope_inside(function)
    if not isinstance(node, ast.Name) or scope is None or node.id not in scope.bindings:
        return possible.of(node, file)
    if any(function_around(each.node, file) is not function for each in scope.bindings[node.id]):
        return possible.of(node, file)
    found = last_given(node.id, function.body[:-1], possible, file)
    filled = any(isinstance(value, Box) and value.kind in FILLED for value in found)
    return found if found and not filled else possible.of(node, file)
