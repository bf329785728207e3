"""`wrap-expression`: puts a call of a function around an expression."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step


@codemod("wrap-expression")
def wrap_expression(draft: Draft, step: Step) -> None:
    """The span is the expression. `function`: the dotted name of the function; `before`: those of the arguments before the expression."""
    site = draft.site
    node = site.find_ast(step.span, ast.expr)
    item = site.names.parents.get(node)
    if isinstance(item, ast.withitem) and item.optional_vars is not None:
        raise Refused("the `with` has an `as` name, which would be bound to something else")
    name = reference(site, draft.imports, str(step.parameters["function"]), node)
    before = step.parameters.get("before")
    given = (
        [reference(site, draft.imports, str(one), node) for one in before] if isinstance(before, list) else []
    )
    draft.insert(step.span.line, step.span.column, f"{name}({''.join(f'{one}, ' for one in given)}")
    draft.insert(step.span.end_line, step.span.end_column, ")")
