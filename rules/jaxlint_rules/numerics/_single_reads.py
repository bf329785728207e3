"""Results that one operation alone reads, so that another function may compute both."""

from __future__ import annotations

import ast
from itertools import takewhile

from jaxlint.api import OperationEvent
from jaxlint.api.syntax import nodes_of
from jaxlint.api.values import Operation
from jaxlint_rules._names import variable_given

# What may compute its inner expressions more than once.
_REPEATED = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.FunctionDef, ast.Lambda)  # fmt: skip


def is_read_here_alone(made: Operation, event: OperationEvent) -> bool:
    """Whether an operation has the expression `made` in it, or reads the variable that holds its result, once, and nothing else does."""
    module, owner = event.frame.module, event.frame.owner
    above = list(module.ancestors(made.node))
    if event.node in above:
        return True
    statement = next((one for one in above if isinstance(one, ast.stmt)), None)
    name = variable_given(statement)
    if not name or not isinstance(statement, ast.Assign) or statement.value is not made.node:
        return False
    around = list(module.ancestors(event.node))
    reads = [one for one in nodes_of(owner, ast.Name) if one.id == name and isinstance(one.ctx, ast.Load)]
    beside = module.parents.get(statement)
    return len(reads) == 1 and beside in around and not _runs_again(around, beside)


def _runs_again(around: list[ast.AST], until: ast.AST | None) -> bool:
    """Whether a loop or a function lies between a place and what is around it."""
    return any(isinstance(one, _REPEATED) for one in takewhile(lambda one: one is not until, around))
