"""Tests that a function repeats: a later branch of the same test sees what the earlier branch bound."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from jaxlint.staging.values import Value
from jaxlint.syntax.facts import contents, dotted, names_stored, nodes_of, parts
from jaxlint.syntax.memo import cache

if TYPE_CHECKING:
    from jaxlint.staging.values.frame import Frame

_POSITIVE = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}


@cache
def repeated_tests(function: ast.AST) -> dict[ast.expr, tuple[str, bool]]:
    """The tests that the `if`s of a function repeat, on values that it does not change.

    Each as a text that is equal for a test and its negation, and whether the test is the positive form.
    """
    tests = [node.test for node in nodes_of(function, ast.If)]
    asked = {test: found for test in tests if (found := _positive(test)) is not None}
    times = Counter(text for text, _ in asked.values())
    if not times or max(times.values()) < 2:
        return {}
    changing = _changing(function)
    return {
        test: found
        for test, found in asked.items()
        if times[found[0]] > 1 and changing.isdisjoint(_parts(test))
    }


def _positive(test: ast.expr) -> tuple[str, bool] | None:
    """A test of a variable or an attribute, or a comparison of these."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _positive(test.operand)
        return (inner[0], not inner[1]) if inner is not None else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right, op = test.left, test.comparators[0], type(test.ops[0])
        if not dotted(left) or not (dotted(right) or isinstance(right, ast.Constant)):
            return None
        positive = _POSITIVE.get(op, op)
        other = dotted(right) or ast.unparse(right)
        return f"{dotted(left)} {positive.__name__} {other}", positive is op
    place = dotted(test)
    return (place, True) if place else None


def _parts(test: ast.expr) -> set[str]:
    """The names and attributes that a test reads."""
    every = parts(test)
    names = {node.id for node in every if isinstance(node, ast.Name)}
    return names | {f".{node.attr}" for node in every if isinstance(node, ast.Attribute)}


def _changing(function: ast.AST) -> set[str]:
    """The names that a function binds more than once or in a loop, and the attributes that it sets."""
    stored = contents(function).stores
    times = Counter(node.id for node in stored if isinstance(node, ast.Name))
    changing = {name for name, count in times.items() if count > 1}
    for kind in (ast.For, ast.AsyncFor, ast.While):
        for loop in nodes_of(function, kind):
            changing |= names_stored(loop)
    return changing | {f".{node.attr}" for node in stored if isinstance(node, ast.Attribute)}


def question(test: ast.expr, frame: Frame) -> tuple[str, bool] | None:
    """The repeated test that this one belongs to, and whether it is the positive form; None if it stands alone."""
    again = repeated_tests(frame.function.node) if frame.function is not None else None
    return again.get(test) if again else None


def recall(asked: tuple[str, bool], outcome: bool, frame: Frame) -> None:
    """Restores the variables that an earlier branch of the same test bound under this outcome."""
    bound = frame.bound_by_tests.get(asked[0])
    if bound is None:
        return
    variables = frame.scope.variables
    for name, (either, under) in bound.items():
        if variables.get(name) is either:
            variables[name] = under[asked[1] is outcome]


def remember(
    asked: tuple[str, bool], when_true: dict[str, Value], when_false: dict[str, Value], frame: Frame
) -> None:
    """Records what each branch of a test has bound, after the join."""
    variables, positive = frame.scope.variables, asked[1]
    frame.bound_by_tests[asked[0]] = {
        name: (variables[name], {positive: when_true[name], not positive: held})
        for name, held in when_false.items()
        if name in when_true and when_true[name] is not held and name in variables
    }
