"""Python loops whose iterations depend on the previous one, and that may become one program for all iterations."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jaxlint.api.syntax import dotted, walk
from jaxlint_rules._loops import counters
from jaxlint_rules._names import bound_by, last_name, names_in

LAYERS = re.compile(r"layer|block|depth|stage|level|head|scale|micro|device|dim|message|pass|modul|refine")
STEPS = re.compile(r"iter|step|horizon|epoch|sweep|max_it|n_time|num_time|timesteps")


def carries(node: ast.For | ast.While) -> bool:
    """Whether an iteration depends on the result of the previous one."""
    later = set[str]().union(*map(bound_by, node.body))  # names that the body binds later
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            if later & names_in(statement.value):
                return True
            later -= bound_by(statement)
    for statement in node.body:
        if isinstance(statement, ast.For) and carries(statement):
            return True
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            return True
        if isinstance(statement, ast.Assign):
            if bound_by(statement) & names_in(statement.value):
                return True
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value  # `states.append(step(states[-1]))`
            if isinstance(call.func, ast.Attribute) and call.func.attr == "append":
                grown = dotted(call.func.value)
                if any(_is_last(part, grown) for argument in call.args for part in walk(argument)):
                    return True
    return False


def _is_last(node: ast.AST, grown: str) -> bool:
    """`states[-1]`, the item appended by the previous iteration."""
    return (
        bool(grown)
        and isinstance(node, ast.Subscript)
        and dotted(node.value) == grown
        and isinstance(node.slice, ast.UnaryOp)
    )


def may_loop(node: ast.For | ast.While) -> bool:
    """Whether the body can be the same program in every iteration."""
    return may_repeat(node.body, counter(node))


def may_repeat(body: Sequence[ast.AST], name: str) -> bool:
    """The same for code that runs once for each value of the counter."""
    for statement in body:
        for child in walk(statement):
            if isinstance(child, (ast.Break, ast.Return, ast.JoinedStr, ast.Yield)):
                return False
            if isinstance(child, (ast.If, ast.IfExp)) and name in names_in(child.test):
                if not _is_end(child.test, name):
                    return False
            if isinstance(child, ast.Slice) and not all(
                bound is None or isinstance(bound, (ast.Constant, ast.UnaryOp))
                for bound in (child.lower, child.upper)
            ):
                return False
            if isinstance(child, ast.Subscript) and name in names_in(child.slice):
                if LAYERS.search(ast.unparse(child.value).lower()):
                    return False
            if isinstance(child, ast.Call) and _makes_layer(child):
                return False
    return True


def _is_end(test: ast.expr, name: str) -> bool:
    """`t > 0`, `t == 0`: whether an iteration is the first or the last, which `jnp.where` or `lax.cond` may ask as well."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == name
        and all(isinstance(other, ast.Constant) and other.value in (0, 1) for other in test.comparators)
    )


def _makes_layer(call: ast.Call) -> bool:
    """A layer that is created and called: each iteration has its own parameters."""
    made = call.func.func if isinstance(call.func, ast.Call) else call.func
    last = last_name(made)
    return last[:1].isupper() or last in ("getattr", "setattr", "print")


def counter(node: ast.For | ast.While) -> str:
    """The counter of the iterations: the variable of a `for`, or what a `while` compares and increments."""
    if isinstance(node, ast.For):
        return node.target.id if isinstance(node.target, ast.Name) else ""
    test = node.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        return ""
    name = dotted(test.left)
    return name if name in counters(node) else ""
