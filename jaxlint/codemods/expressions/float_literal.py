"""`float-literal`: an integer literal becomes a float: `2` becomes `2.0`."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step


@codemod("float-literal")
def float_literal(draft: Draft, step: Step) -> None:
    """The span is the number, or a sign and a number. Takes no parameters."""
    node = draft.site.find_ast(step.span, ast.expr)
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(number, ast.Constant) or type(number.value) is not int:
        raise Refused("it is not an integer literal")
    text = draft.site.text(number)
    if not text.replace("_", "").isdecimal():
        raise Refused("the number is not a decimal literal")
    span = draft.site.span(number)
    draft.insert(span.end_line, span.end_column, ".0")
