"""Host syncs that only every N-th iteration reaches, and those of an evaluation at the end."""

from __future__ import annotations

import ast
import re
from itertools import takewhile

from jaxlint.api import Frame, Loop, Module
from jaxlint.api.syntax import cache, names_stored, nodes_of
from jaxlint_rules._loops import is_entered_once
from jaxlint_rules._main_loops import advances
from jaxlint_rules._names import names_in
from jaxlint_rules._periods import is_periodic

_BRIEF = 16  # iterations of a loop that another loop enters occasionally, such as an evaluation


def is_asked_last(node: ast.AST, module: Module) -> bool:
    """Whether the value is in an `if`, after an `and` whose first operand may skip it, as in every N-th step."""
    parents = module.parents
    # Of `a and b`, the statement itself tests `b`: `a` was tested before.
    behind = isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)
    seldom = behind and isinstance(node, ast.BoolOp) and is_periodic(node.values[0])
    parent = parents.get(node)
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Attribute, ast.BinOp)):
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) and parent.values[0] is not node:
            behind, seldom = True, seldom or is_periodic(parent.values[0])
        node, parent = parent, parents.get(parent)
    return seldom or (behind and isinstance(parent, (ast.If, ast.IfExp)) and parent.test is node)


def is_skipped(node: ast.AST, loop: ast.AST, module: Module) -> bool:
    """Whether only some iterations reach a place: a conditional expression or `if step % 100 == 0:` is around it, whatever the
    first step is, or `if step % 100: continue` before it lets only every N-th one pass.
    """
    inner = node
    for above in module.ancestors(node):
        if isinstance(above, ast.IfExp) and inner is not above.test and above is not node:
            return True
        if isinstance(above, ast.If) and inner in above.body and _holds_seldom(above.test):
            return True
        body = getattr(above, "body", [])
        for statement in body[: body.index(inner)] if isinstance(body, list) and inner in body else []:
            if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Continue):
                if is_periodic(statement.test):
                    return True
        if above is loop:
            return False
        inner = above
    return False


def _holds_seldom(test: ast.expr) -> bool:
    """`step % 100 == 0`, `not step % 100`, also beside other conditions."""
    if isinstance(test, ast.BoolOp):
        needed = any if isinstance(test.op, ast.And) else all
        return needed(map(_holds_seldom, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.BinOp) and isinstance(test.operand.op, ast.Mod)
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and is_periodic(test.left)


def is_by_setting(frame: Frame, loop: Loop) -> bool:
    """Whether a loop of this frame reaches a place in each iteration or in none: the `if`s around it test settings that no
    iteration changes, as in `if cfg.use_wandb:`."""
    tests = frame.conditions(loop)
    return all(isinstance(one, ast.If) and _is_settled(one.test, loop.node, frame.module) for one in tests)


def _is_settled(test: ast.expr, loop: ast.AST, module: Module) -> bool:
    """Whether a test reads names and attributes alone, and nothing that the loop or a method of the file sets."""
    if isinstance(test, ast.BoolOp):
        return all(_is_settled(value, loop, module) for value in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_settled(test.operand, loop, module)
    while isinstance(test, ast.Attribute):
        if test.attr in _set_later(module.tree):
            return False
        test = test.value
    return isinstance(test, ast.Name) and test.id not in names_stored(loop)


@cache
def _set_later(tree: ast.Module) -> frozenset[str]:
    """The attributes that a file sets outside of constructors."""
    made = [
        node
        for node in nodes_of(tree, ast.FunctionDef)
        if node.name in ("__init__", "__post_init__", "setup")
    ]
    first = {id(stored) for node in made for stored in nodes_of(node, ast.Attribute)}
    return frozenset(
        stored.attr
        for stored in nodes_of(tree, ast.Attribute)
        if not isinstance(stored.ctx, ast.Load) and id(stored) not in first
    )


_OPTIONS = re.compile(r"verbos|debug|print|(^|_)log|sync|progress|display|(^|_)show|profil|track")


_TRACKERS = re.compile(r"wandb|tensorboard|mlflow|neptune|comet|clearml")  # on in the runs that count


def is_asked_for(node: ast.AST, loop: ast.AST, module: Module) -> bool:
    """Whether an option of the caller decides if the loop reaches a place: `if verbose:`, where no iteration sets it."""
    for above in module.ancestors(node):
        if above is loop:
            return False
        if isinstance(above, ast.If):
            asked = names_in(above.test)
            test = ast.unparse(above.test).lower()
            if asked.isdisjoint(names_stored(loop)) and _OPTIONS.search(test) and not _TRACKERS.search(test):
                return True
    return False


def is_now_and_then(loop: Loop, frame: Frame) -> bool:
    """Whether only some iterations of an outer loop enter it: every N-th one, as an evaluation, or for a small, known number of
    iterations."""
    if loop not in frame.loops:
        return False
    if not (around := frame.loops[: frame.loops.index(loop)]):
        return _is_called_now_and_then(frame)
    outer = around[-1].node
    for above in frame.module.ancestors(loop.node):
        if above is outer:
            break
        if isinstance(above, ast.If) and is_periodic(above.test):
            return True
    return loop.trips is not None and loop.trips <= _BRIEF and frame.is_conditional_in(around[-1])


def _is_called_now_and_then(frame: Frame) -> bool:
    """Whether every N-th iteration of a loop calls the function, as one that evaluates."""
    call, caller = frame.call_node, frame.caller
    if call is None or caller is None or not caller.loops:
        return False
    outer = caller.loops[-1].node
    above = takewhile(lambda node: node is not outer, caller.module.ancestors(call))
    return any(isinstance(node, ast.If) and is_periodic(node.test) for node in above)


def ends_the_program(loop: Loop, frame: Frame) -> bool:
    """Whether a loop evaluates what another loop has trained, once: nothing goes from one iteration to the next."""
    if loop not in frame.loops or len(frame.loops) > 1 or not is_entered_once(frame) or advances(loop.node):
        return False
    others: list[ast.For | ast.While] = [*nodes_of(frame.owner, ast.For), *nodes_of(frame.owner, ast.While)]
    return any(
        one.lineno < getattr(loop.node, "lineno", 0)
        and one.col_offset == getattr(loop.node, "col_offset", -1)
        and advances(one)
        for one in others
    )
