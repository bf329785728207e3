"""`loss-by-parts`: the cross-entropy of a product is computed for a part of the examples at a time, by `jax.lax.map` over a checkpoint.

So the scores of all examples never exist at once, forward or backward. That the call takes the scores of a product, and how many
examples make a part, is known from the program that ran. Raises Refused where the scores are used elsewhere, or made in another way.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from jaxlint.codemods.imports import reference
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.remove_statement import delete_statement
from jaxlint.codemods.site import Refused, Site
from jaxlint.codemods.statements import siblings
from jaxlint.finding import Span, Step

_LOSS = "optax.softmax_cross_entropy_with_integer_labels"
_PRODUCTS = frozenset({"jax.numpy.matmul", "jax.numpy.dot"})
_PART = "part"


@codemod("loss-by-parts")
def loss_by_parts(draft: Draft, step: Step) -> None:
    """The span is the call of the loss. Parameter: `examples`, how many make a part."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    found = _scores(site, call)
    if found is None:
        raise Refused("the scores are not made by one product")
    _check(site, call, found)
    names = {node.id for node in ast.walk(found.expression) if isinstance(node, ast.Name)}
    if _PART in names:
        raise Refused(f"`{_PART}` means something else here")
    scores = site.text(found.expression)
    rows = site.text(found.rows)
    before, after = _around(site, found)
    assert before + rows + after == scores
    mapped = reference(site, draft.imports, "jax.lax.map", call)
    checkpoint = reference(site, draft.imports, "jax.checkpoint", call)
    loss = f"lambda {_PART}: {site.text(call.func)}({before}{_PART}[0]{after}, {_PART}[1])"
    labels = site.text(_arguments(call)[1])
    examples = int(str(step.parameters["examples"]))
    draft.replace(
        site.span(call), f"{mapped}({checkpoint}({loss}), ({rows}, {labels}), batch_size={examples})"
    )
    if found.statement is not None:
        delete_statement(draft, found.statement)


def find_losses(site: Site, line: int) -> list[Span]:
    """The calls of the loss whose scores are made by the product at a line."""
    found = []
    for node in ast.walk(site.tree):
        if isinstance(node, ast.Call) and site.names.qualified(node.func) == _LOSS:
            scores = _scores(site, node)
            if scores is not None:
                product = scores.expression
                if product.lineno <= line <= (product.end_lineno or product.lineno):
                    found.append(site.span(node))
    return found


@dataclass(frozen=True)
class _Scores:
    """The expression that makes the scores, the factor in it that has the examples, and the statement that gives it a name."""

    expression: ast.expr
    rows: ast.expr
    statement: ast.Assign | None


def _arguments(call: ast.Call) -> list[ast.expr]:
    """The scores and the labels. Raises Refused for other arguments."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given = [
        *call.args,
        *(named.pop(name) for name in ("logits", "labels")[len(call.args) :] if name in named),
    ]
    if len(given) != 2 or named or any(isinstance(one, ast.Starred) for one in given):
        raise Refused("the loss has other arguments than scores and labels")
    return given


def _scores(site: Site, call: ast.Call) -> _Scores | None:
    """How the scores of a call are made; None where that is no product, perhaps with a bias, in the same block."""
    try:
        expression = _arguments(call)[0]
    except Refused:
        return None
    statement: ast.Assign | None = None
    if isinstance(expression, ast.Name):
        statement = _given(site, expression)
        if statement is None:
            return None
        expression = statement.value
    product = expression
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Add):
        product = product.left
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.MatMult):
        return _Scores(expression, product.left, statement)
    if isinstance(product, ast.Call) and len(product.args) == 2 and not product.keywords:
        if site.names.qualified(product.func) in _PRODUCTS:
            return _Scores(expression, product.args[0], statement)
    return None


def _given(site: Site, name: ast.Name) -> ast.Assign | None:
    """The one statement of the same block, before it, that gives a name its value."""
    last = next(node for node in site.names.ancestors(name) if isinstance(node, ast.stmt))
    block = siblings(site, last)
    for statement in reversed(block[: block.index(last)]):
        if name.id in _stored(statement):
            single = isinstance(statement, ast.Assign) and len(statement.targets) == 1
            if single and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                return statement
            return None
    return None


def _check(site: Site, call: ast.Call, found: _Scores) -> None:
    """Raises Refused where the scores are used elsewhere, or what makes them has changed by the time of the call."""
    if found.statement is None:
        return
    target = found.statement.targets[0]
    assert isinstance(target, ast.Name)
    home = site.names.scope_at(found.statement).resolve(target.id)
    uses = site.names.uses_of(target.id, home) if home is not None else []
    if any(call not in site.names.ancestors(use.name) for use in uses):
        raise Refused(f"`{target.id}` is used elsewhere, too")
    last = next(node for node in site.names.ancestors(call) if isinstance(node, ast.stmt))
    block = siblings(site, last)
    needed = {node.id for node in ast.walk(found.expression) if isinstance(node, ast.Name)}
    for statement in block[block.index(found.statement) + 1 : block.index(last)]:
        if changed := needed & _stored(statement):
            raise Refused(f"`{min(changed)}` is given another value in between")


def _stored(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, or part of one."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            while isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value  # type: ignore[assignment]
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found


def _around(site: Site, found: _Scores) -> tuple[str, str]:
    """The text of the scores before and after the factor with the examples. Raises Refused where it has several lines."""
    whole, inner = site.span(found.expression), site.span(found.rows)
    if whole.line != whole.end_line:
        raise Refused("the product is written over several lines")
    text = site.text(found.expression)
    return text[: inner.column - whole.column], text[inner.end_column - whole.column :]
