"""`wrap-call`: an expression becomes the argument of a call, such as `tuple(sizes)` or `jnp.array(losses)`."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step


@codemod("wrap-call")
def wrap_call(draft: Draft, step: Step) -> None:
    """The span is the expression. The parameter `function` is a builtin, or a dotted name, which is imported if
    needed."""
    site = draft.site
    node = site.find_ast(step.span, ast.expr)
    assert isinstance(node, ast.expr)
    function = str(step.parameters["function"])
    if isinstance(node, (ast.Starred, ast.GeneratorExp)):
        raise Refused("the argument is unpacked, or a generator")
    if "." in function:
        function = reference(site, draft.imports, function, node)
    elif site.names.scope_at(node).resolve(function) is not None:
        raise Refused(f"`{function}` is not the builtin here")
    draft.replace(step.span, f"{function}({Layout(site).argument(node)})")
