"""`mask-to-where`: a selection by a traced boolean mask keeps its shape.

`x.at[x > 1].set(v)` becomes `jnp.where(x > 1, v, x)`, and `x[x > 0].sum()` becomes `jnp.where(x > 0, x, 0).sum()`.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step

# The new element of an update, from the old element and the value.
_UPDATES = {
    "set": "{value}",
    "add": "{array} + {operand}",
    "subtract": "{array} - {operand}",
    "multiply": "{array} * {operand}",
    "mul": "{array} * {operand}",
    "divide": "{array} / {operand}",
}
# Reductions to one number, with their neutral element.
_NEUTRAL = {"sum": "0", "prod": "1", "any": "False", "all": "True"}


@codemod("mask-to-where")
def mask_to_where(draft: Draft, step: Step) -> None:
    """The span is the subscript with the mask. Takes no parameters."""
    site = draft.site
    node = site.find_ast(step.span, ast.Subscript)
    assert isinstance(node, ast.Subscript)
    layout, parents = Layout(site), site.names.parents
    array, mask = node.value, node.slice
    update = isinstance(array, ast.Attribute) and array.attr == "at"
    if isinstance(array, ast.Attribute) and update:
        array = array.value
    method = parents.get(node)
    call = parents.get(method) if method is not None else None
    for part in (array, mask):
        check_expression(site, part, "the mask")
    if not isinstance(array, (ast.Name, ast.Attribute)) or not _compares(site, mask, array):
        raise Refused("the mask is not a comparison of the array, so its shape may differ")
    where = reference(site, draft.imports, "jax.numpy.where", node)
    text, asked = layout.argument(array), layout.argument(mask)
    if not update:
        reduction, around = _reduction(site, node)
        if reduction == "mean":
            mean = reference(site, draft.imports, "jax.numpy.mean", node)
            draft.replace(site.span(around), f"{mean}({text}, where={asked})")
        elif reduction in _NEUTRAL:
            draft.replace(site.span(node), f"{where}({asked}, {text}, {_NEUTRAL[reduction]})")
        else:
            raise Refused(f"the length of `{text}` depends on the data, and no sum or mean follows")
        return
    if not (isinstance(method, ast.Attribute) and isinstance(call, ast.Call) and call.func is method):
        raise Refused("the number of items under the mask depends on the data")
    if method.attr not in _UPDATES:
        raise Refused(f"`.at[...].{method.attr}` has no counterpart under a mask")
    if len(call.args) != 1 or call.keywords:
        raise Refused(f"`.at[...].{method.attr}` is not called with exactly one value")
    if layout.comments_outside(site.span(call), ()):
        raise Refused("the rewrite would lose a comment inside the call")
    value = call.args[0]
    check_expression(site, value, "the value")
    new = _UPDATES[method.attr].format(
        array=text, value=layout.argument(value), operand=layout.operand(value)
    )
    draft.replace(site.span(call), f"{where}({asked}, {new}, {text})")


def _reduction(site: Site, node: ast.Subscript) -> tuple[str, ast.AST]:
    """The reduction to one number that follows a selection, with its call."""
    parent = site.names.parents[node]
    call = site.names.parents.get(parent)
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent:
        return ("" if call.args or call.keywords else parent.attr), call
    if isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords:
        return (site.names.qualified(parent.func) or "").removeprefix("jax.numpy."), parent
    return "", node


def _compares(site: Site, mask: ast.expr, array: ast.expr, depth: int = 2) -> bool:
    """Whether `mask` consists of elementwise comparisons of the whole array with single numbers."""
    same = ast.dump(array)
    if isinstance(mask, ast.Name) and depth:
        bindings = site.names.bindings_of(mask.id, site.names.scope_at(mask))
        made = site.names.parents.get(bindings[0].node) if len(bindings) == 1 else None
        return isinstance(made, ast.Assign) and _compares(site, made.value, array, depth - 1)
    if isinstance(mask, ast.Compare):
        others = [side for side in (mask.left, *mask.comparators) if ast.dump(side) != same]
        return len(mask.ops) == 1 and len(others) == 1 and _is_number(others[0])
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        return _compares(site, mask.left, array, depth) and _compares(site, mask.right, array, depth)
    if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
        return _compares(site, mask.operand, array, depth)
    if isinstance(mask, ast.Call) and isinstance(mask.func, ast.Attribute) and len(mask.args) == 1:
        return mask.func.attr in ("isnan", "isinf", "isfinite", "signbit") and ast.dump(mask.args[0]) == same
    return False


def _is_number(node: ast.expr) -> bool:
    """A constant, a variable (at most of the array's shape, or the mask would not fit it), or a reduction."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("mean", "max", "min", "median", "sum", "std") and not node.keywords
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, (ast.Constant, ast.Name, ast.Attribute))
