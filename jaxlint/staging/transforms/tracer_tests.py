"""Code that tests whether a value is a tracer, by a function, by `isinstance` or by its type."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.jaxapi.names import ASKS_FOR_TRACER
from jaxlint.staging.evaluator.machine import Part
from jaxlint.staging.values import Array, External, Value, constant, find_array
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import dotted, last_name
from jaxlint.syntax.memo import cache


@cache
def _asks(called: ast.expr) -> bool:
    return last_name(called) in ASKS_FOR_TRACER


@cache
def _asks_for_each(node: ast.AST) -> bool:
    """`any(isinstance(leaf, Tracer) for leaf in leaves)`."""
    over = node.args[0] if isinstance(node, ast.Call) and node.args else None
    test = over.elt if isinstance(over, (ast.GeneratorExp, ast.ListComp)) else None
    return (
        isinstance(test, ast.Call)
        and dotted(test.func) == "isinstance"
        and len(test.args) == 2
        and dotted(test.args[1]).endswith("Tracer")
    )


class TracerTests(Part):
    """Answers such questions about certain tracers."""

    def finds_tracer(self, called: ast.expr, value: Value) -> bool:
        """Whether `called` is a function like `is_tracer`, and `value` certainly is one."""
        if not _asks(called):
            return False
        found = find_array(value, True)
        return found is not None and found.certain

    def finds_tracers(self, node: ast.AST, answers: Sequence[Value]) -> bool:
        """Whether an `any` asks for tracers, and each possible element is one: there may be none, but that is rare."""
        return _asks_for_each(node) and all(constant(answer) is True for answer in answers)

    def compares_with_tracer_type(self, node: ast.Compare, kind: Value, frame: Frame) -> bool | None:
        """The result of `type(x) is DynamicJaxprTracer` and the like; None for any other test."""
        if not (isinstance(kind, External) and kind.name.endswith("Tracer")):
            return None
        asked, op = node.left, node.ops[0]
        if len(node.ops) > 1 or not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return None
        if not (isinstance(asked, ast.Call) and dotted(asked.func) == "type" and len(asked.args) == 1):
            return None
        value = self.machine.language.eval(asked.args[0], frame)
        if not isinstance(value, Array) or not value.staged or not value.certain:
            return None
        return isinstance(op, (ast.Is, ast.Eq))
