"""`swap-arguments`: swaps the first two positional arguments of a call."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step


@codemod("swap-arguments")
def swap_arguments(draft: Draft, step: Step) -> None:
    """The span is the call. The parameter `keyword` names the first argument, if the second is not positional."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    if not call.args:
        raise Refused("the call has no positional argument")
    if any(isinstance(one, ast.Starred) for one in call.args):
        raise Refused("the call unpacks unknown arguments")
    layout = Layout(site)
    first = call.args[0]
    if len(call.args) == 1:
        place = site.span(first)
        draft.insert(place.line, place.column, f"{step.parameters['keyword']}=")
        return
    second = call.args[1]
    one, two = layout.argument(first), layout.argument(second)
    draft.replace(site.span(first), two)
    draft.replace(site.span(second), one)
