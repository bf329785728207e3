"""Host tests that decide whether a loop of array operations continues."""

from __future__ import annotations

import ast

from jaxlint.api import ConvertEvent, Event, Frame
from jaxlint.api.syntax import cache, dotted, names_stored, nodes_of, walk
from jaxlint.api.values import Static
from jaxlint_rules._names import last_name, names_in

_BETWEEN = (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Attribute, ast.BinOp)


def exit_of(event: Event) -> tuple[ast.While | ast.For, ast.expr] | None:
    """The loop that runs until a condition on its own results, and that condition, if `event` is part of it.

    None for loops that iterate over data, or do more than compute: they must run in Python.
    """
    parents = event.frame.module.parents
    node: ast.AST = event.node
    parent = parents.get(node)
    while isinstance(parent, _BETWEEN):
        node, parent = parent, parents.get(parent)
    if isinstance(parent, ast.While) and parent.test is node:
        return (
            (parent, parent.test)
            if _computes_only(parent) and _decided_in(parent, parent.test, event.frame)
            else None
        )
    if isinstance(parent, ast.If) and parent.test is node:
        loop = parents.get(parent)
        if _leaves(parent) and isinstance(loop, (ast.While, ast.For)) and parent in loop.body:
            return (
                (loop, parent.test)
                if _computes_only(loop) and _decided_in(loop, parent.test, event.frame)
                else None
            )
    if isinstance(parent, ast.Assign) and isinstance(event, ConvertEvent):
        loop = parents.get(parent)
        if isinstance(loop, (ast.While, ast.For)) and parent in loop.body and _computes_only(loop):
            test = _test_of(parent, loop)
            return (loop, test) if test is not None else None
    return None


def _leaves(statement: ast.If) -> bool:
    """`if done: break`, also where it notes so first: `converged = True`."""
    *notes, last = statement.body
    return (
        isinstance(last, ast.Break)
        and not statement.orelse
        and all(isinstance(note, ast.Assign) and isinstance(note.value, ast.Constant) for note in notes)
    )


def _test_of(fetched: ast.Assign, loop: ast.While | ast.For) -> ast.expr | None:
    """The condition of a loop that reads a number which an iteration fetches: `error = float(...)`, `if error < tol: break`."""
    tests = [
        one.test
        for one in loop.body[loop.body.index(fetched) + 1 :]
        if isinstance(one, ast.If) and _leaves(one)
    ]
    tests += [loop.test] if isinstance(loop, ast.While) else []
    names = names_stored(fetched)
    return next((test for test in tests if names & names_in(test)), None)


@cache
def _computes_only(loop: ast.While | ast.For) -> bool:
    """Whether the body only assigns variables and leaves by a condition."""
    if loop.orelse or _runs_functions_it_is_given(loop):
        return False
    if isinstance(loop, ast.For) and not (
        isinstance(loop.iter, ast.Call)
        and dotted(loop.iter.func) == "range"
        and isinstance(loop.target, ast.Name)
    ):
        return False
    for statement in loop.body:
        if isinstance(statement, ast.If):
            if not _leaves(statement):
                return False
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not all(_is_variable(target) for target in targets):
                return False
        elif not isinstance(statement, ast.Pass):
            return False
    return not any(_makes_object(child) for statement in loop.body for child in walk(statement))


def _runs_functions_it_is_given(loop: ast.While | ast.For) -> bool:
    """`while cond_fun(state): state = body_fun(state)`: a Python version of `lax.while_loop`, for debugging."""
    if not isinstance(loop, ast.While) or len(loop.body) != 1 or not isinstance(loop.test, ast.Call):
        return False
    step = loop.body[0]
    if not isinstance(step, ast.Assign) or not isinstance(step.value, ast.Call):
        return False
    state = ast.unparse(step.targets[0])
    return all(
        isinstance(call.func, ast.Name)
        and [ast.unparse(a) for a in call.args] == [state]
        and not call.keywords
        for call in (loop.test, step.value)
    )


def _makes_object(node: ast.AST) -> bool:
    """A call of a class, whose objects are on the host."""
    return isinstance(node, ast.Call) and last_name(node.func)[:1].isupper()


def has_while_loop(frame: Frame) -> bool:
    """Whether the enclosing function also calls `lax.while_loop`, or is named as its Python counterpart."""
    function = frame.function
    return function is not None and _speaks_of_while_loop(function.node)


@cache
def _speaks_of_while_loop(node: ast.AST) -> bool:
    named = "while_loop" in getattr(node, "name", "")
    return named or any(dotted(call.func).endswith("while_loop") for call in nodes_of(node, ast.Call))


def _is_variable(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_is_variable(part) for part in target.elts)
    return isinstance(target, ast.Name)


def _decided_in(loop: ast.While | ast.For, test: ast.expr, frame: Frame) -> bool:
    """Whether the condition reads an array that the body assigns; Python numbers need no host sync."""
    assigned = set().union(*(names_stored(statement) for statement in loop.body))
    for part in walk(test):
        if isinstance(part, ast.Name) and part.id in assigned:
            if not isinstance(frame.value_of(part.id), Static):
                return True
    return False
