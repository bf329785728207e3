"""`sequence-to-array`: a list with a traced index becomes an array, and a slice with traced bounds a dynamic slice.

`weights[i]` becomes `jnp.array(weights)[i]`, and `x[i:i + 3]` becomes `lax.dynamic_slice_in_dim(x, i, 3)`.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step


@codemod("sequence-to-array")
def sequence_to_array(draft: Draft, step: Step) -> None:
    """The span is the subscript. Takes no parameters."""
    site = draft.site
    node = site.find_ast(step.span, ast.Subscript)
    assert isinstance(node, ast.Subscript)
    if not isinstance(node.ctx, ast.Load):
        raise Refused("the item is assigned, and a tracer cannot index a Python sequence")
    layout = Layout(site)
    check_expression(site, node, "the index")
    if isinstance(node.slice, ast.Slice):
        _slice(draft, layout, node, node.slice)
        return
    if any(isinstance(part, ast.Slice) for part in ast.walk(node.slice)):
        raise Refused("bounds of several dimensions have no direct counterpart; see lax.dynamic_slice")
    array = reference(site, draft.imports, "jax.numpy.array", node)
    draft.replace(site.span(node.value), f"{array}({layout.argument(node.value)})")


def _slice(draft: Draft, layout: Layout, node: ast.Subscript, bounds: ast.Slice) -> None:
    lower, upper = bounds.lower, bounds.upper
    if bounds.step is not None:
        raise Refused("the slice has a step, and lax.dynamic_slice_in_dim takes none")
    if lower is None or upper is None:
        raise Refused("the size of the slice depends on data; use a mask, or make the bound static")
    size = _size(lower, upper)
    if size is None:
        raise Refused("the size of the slice is not a constant in the code")
    site = draft.site
    function = reference(site, draft.imports, "jax.lax.dynamic_slice_in_dim", node)
    text = f"{function}({layout.argument(node.value)}, {layout.argument(lower)}, {layout.argument(size)})"
    draft.replace(site.span(node), text)


def _size(lower: ast.expr, upper: ast.expr) -> ast.expr | None:
    """`n` if the bounds are `i` and `i + n`."""
    if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        for same, other in ((upper.left, upper.right), (upper.right, upper.left)):
            if ast.dump(same) == ast.dump(lower) and isinstance(
                other, (ast.Constant, ast.Name, ast.Attribute)
            ):
                return other
    return None
