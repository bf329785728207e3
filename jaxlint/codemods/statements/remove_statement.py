"""`remove-statement`: removes a statement that has no effect any more."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.statement_text import is_alone, siblings, taken_out
from jaxlint.finding import Step


@codemod("remove-statement")
def remove_statement(draft: Draft, step: Step) -> None:
    """The span is a call that is a statement."""
    call = draft.site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    delete_statement(draft, call)


def delete_statement(draft: Draft, node: ast.AST) -> None:
    """Removes a statement, or the one that the call `node` is. `pass` replaces the only statement of a block."""
    site = draft.site
    statement = node if isinstance(node, ast.stmt) else site.names.parents.get(node)
    if not isinstance(statement, ast.stmt) or not (statement is node or isinstance(statement, ast.Expr)):
        raise Refused("the call is part of a larger statement")
    if len(siblings(site, statement)) == 1 or not is_alone(site, statement):
        draft.replace(site.span(statement), "pass")
        return
    draft.replace(*taken_out(site, statement))
