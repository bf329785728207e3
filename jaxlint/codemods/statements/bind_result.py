"""`bind-result`: the result of an update that stands alone as a statement is assigned to the updated object.

`x.at[i].set(v)` becomes `x = x.at[i].set(v)`, and `state.replace(step=1)` becomes `state = state.replace(step=1)`.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step


@codemod("bind-result")
def bind_result(draft: Draft, step: Step) -> None:
    """The span is the call. Parameters: `argument` (int), if the updated object is an argument and not the receiver;
    `keyword`, the source of another argument that the call needs."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    statement = site.names.parents.get(call)
    if not isinstance(statement, ast.Expr):
        raise Refused("the call is not a statement of its own")
    updated = _updated(call, step.parameters.get("argument"))
    _check_target(site, statement, updated)
    start, end = site.span(call), site.span(call)
    draft.insert(start.line, start.column, f"{site.text(updated)} = ")
    keyword = step.parameters.get("keyword")
    if isinstance(keyword, str) and keyword.partition("=")[0] not in [one.arg for one in call.keywords]:
        if not site.text(call).endswith(")") or site.text(call).rstrip(") \t\n\r").endswith(","):
            raise Refused("the layout of the call leaves no place for another argument")
        draft.insert(end.end_line, end.end_column - 1, f", {keyword}")


def _updated(call: ast.Call, argument: object) -> ast.expr:
    if isinstance(argument, int):
        if any(isinstance(one, ast.Starred) for one in call.args) or len(call.args) <= argument:
            raise Refused("the updated object is not a positional argument")
        return call.args[argument]
    if not isinstance(call.func, ast.Attribute):
        raise Refused("the updated object is not written before the call")
    node = call.func.value
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "at":
        return node.value.value
    return node


def _check_target(site: Site, statement: ast.stmt, updated: ast.expr) -> None:
    """Raises Refused unless the assignment to `updated` changes what the rest of the program sees."""
    if (
        isinstance(updated, ast.Attribute)
        and isinstance(updated.value, ast.Name)
        and updated.value.id == "self"
    ):
        owner = next((a for a in site.names.ancestors(statement) if isinstance(a, ast.ClassDef)), None)
        if owner is None or owner.bases or owner.keywords or owner.decorator_list:
            raise Refused(
                f"`{ast.unparse(updated)}` belongs to a class that may forbid assignment of attributes"
            )
        return
    if not isinstance(updated, ast.Name):
        raise Refused(f"`{ast.unparse(updated)}` is not a plain variable that can take the new object")
    scope = site.names.scope_at(updated)
    name = updated.id
    if scope.is_comprehension or (name not in scope.bindings and name not in scope.redirected):
        raise Refused(f"`{name}` belongs to an outer scope; assigning it here would make it a local variable")
    if not Flow(site.names, scope).is_used_after(name, statement):
        raise Refused(f"`{name}` is not used afterwards; return the new object to the caller")
