"""`remove-statement`: takes out a statement that does nothing any more."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.site import Refused
from jaxlint.codemods.statement_text import is_alone, siblings, taken_out
from jaxlint.finding import Step


@codemod("remove-statement")
def remove_statement(draft: Draft, step: Step) -> None:
    """The span is a call that stands as a statement of its own."""
    call = draft.site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    delete_statement(draft, call)


def delete_statement(draft: Draft, node: ast.AST) -> None:
    """Removes a statement, or that which the call `node` is; in a block of its own `pass` takes its place."""
    site = draft.site
    statement = node if isinstance(node, ast.stmt) else site.names.parents.get(node)
    if not isinstance(statement, ast.stmt) or not (statement is node or isinstance(statement, ast.Expr)):
        raise Refused("the call is part of a larger statement")
    if len(siblings(site, statement)) == 1 or not is_alone(site, statement):
        draft.replace(site.span(statement), "pass")
        return
    draft.replace(*taken_out(site, statement))
