"""`tuple-static-argument`: a list or set passed for a static parameter becomes a hashable tuple or frozenset."""

from __future__ import annotations

import ast

import libcst as cst

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step

_HASHABLE = ("tuple", "frozenset")


@codemod("tuple-static-argument")
def tuple_static_argument(draft: Draft, step: Step) -> None:
    """The literal at the span, and the literals nested in it. Takes no parameters."""
    around = draft.site.names.parents.get(draft.site.find_ast(step.span, ast.expr))
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in _HASHABLE:
        raise Refused(f"`{around.func.id}` already makes it hashable")
    node = draft.site.find(
        step.span,
        cst.List,
        cst.Set,
        cst.Dict,
        cst.ListComp,
        cst.SetComp,
        cst.DictComp,
        cst.Tuple,
    )
    new = _hashable(node)
    if new is not node:
        draft.replace(draft.site.outer_place(node), draft.site.code(new, step.span))


def _hashable(node: cst.BaseExpression) -> cst.BaseExpression:
    """`node` with unhashable literals replaced by hashable ones. Raises Refused."""
    if isinstance(node, (cst.Dict, cst.DictComp)):
        raise Refused("no hashable type has the methods of a dict; pass its items, or a frozen dataclass")
    if isinstance(node, (cst.ListComp, cst.SetComp)):
        return _call_of_generator(node)
    if isinstance(node, cst.List):
        return _tuple(node)
    if isinstance(node, cst.Set):
        bare = node.with_changes(lpar=(), rpar=())
        return cst.Call(cst.Name("frozenset"), [cst.Arg(bare)], lpar=node.lpar, rpar=node.rpar)
    if isinstance(node, cst.Tuple):
        elements = [_element(element) for element in node.elements]
        if all(new is old for new, old in zip(elements, node.elements, strict=True)):
            return node
        return node.with_changes(elements=elements)
    return node


def _tuple(node: cst.List) -> cst.Tuple:
    elements = [_element(element) for element in node.elements]
    if len(elements) == 1 and isinstance(elements[0].comma, cst.MaybeSentinel):
        elements[0] = elements[0].with_changes(comma=cst.Comma())
    opening = cst.LeftParen(whitespace_after=node.lbracket.whitespace_after)
    closing = cst.RightParen(whitespace_before=node.rbracket.whitespace_before)
    return cst.Tuple(elements, lpar=[*node.lpar, opening], rpar=[closing, *node.rpar])


def _element(element: cst.BaseElement) -> cst.BaseElement:
    if isinstance(element, cst.StarredElement):
        return element
    value = _hashable(element.value)
    return element if value is element.value else element.with_changes(value=value)


def _call_of_generator(node: cst.ListComp | cst.SetComp) -> cst.Call:
    opening, closing = (
        (node.lbracket, node.rbracket) if isinstance(node, cst.ListComp) else (node.lbrace, node.rbrace)
    )
    generator = cst.GeneratorExp(_hashable(node.elt), node.for_in, lpar=(), rpar=())
    return cst.Call(
        cst.Name("tuple" if isinstance(node, cst.ListComp) else "frozenset"),
        [cst.Arg(generator, whitespace_after_arg=closing.whitespace_before)],
        whitespace_before_args=opening.whitespace_after,
        lpar=node.lpar,
        rpar=node.rpar,
    )
