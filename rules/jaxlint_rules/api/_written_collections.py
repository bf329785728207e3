"""The collections of variables that a flax.linen module writes whenever it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Module
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.api.values import ClassValue, Function

_DEPTH = 3  # modules within modules


def written_collections(cls: ClassValue, depth: int = _DEPTH) -> Iterator[str]:
    """The collections that `__call__` of a module, or of a module that it makes, writes whatever its arguments are."""
    call, setup = cls.lookup("__call__"), cls.lookup("setup")
    if not isinstance(call, Function) or cls.model.kind != "linen":
        return
    methods = [method for method in (setup, call) if isinstance(method, Function)]
    yield from _written_by(call, methods)
    for method in methods if depth else ():
        for made in nodes_of(method.node, ast.Call):
            inner = method.scope.value_of(made.func.id) if isinstance(made.func, ast.Name) else None
            if isinstance(inner, ClassValue) and inner is not cls and _runs_always(made, method.module):
                yield from written_collections(inner, depth - 1)


def _written_by(call: Function, methods: list[Function]) -> Iterator[str]:
    held: dict[str, str] = {}
    for method in methods:
        held |= _variables(method.node)
    for target in nodes_of(call.node, ast.Attribute):
        name = dotted(target.value)
        stored = isinstance(target.ctx, ast.Store) and target.attr == "value"
        if stored and name in held and _runs_always(target, call.module):
            yield held[name]


@cache
def _variables(method: ast.AST) -> dict[str, str]:
    """The names and attributes that hold a variable, with its collection: `mean = self.variable("stats", ...)`."""
    found: dict[str, str] = {}
    for statement in nodes_of(method, ast.Assign):
        made = statement.value
        if not isinstance(made, ast.Call) or dotted(made.func) != "self.variable" or not made.args:
            continue
        collection = made.args[0]
        if isinstance(collection, ast.Constant) and isinstance(collection.value, str):
            found |= {dotted(target): collection.value for target in statement.targets}
    return found


def _runs_always(node: ast.AST, module: Module) -> bool:
    """Whether each call of `apply` reaches a place: only tests for `init` are around it."""
    inside = node
    for around in module.ancestors(node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return not _may_return_before(node, around)
        if isinstance(around, (ast.For, ast.While, ast.Try, ast.IfExp, ast.Lambda, ast.ListComp)):
            return False
        if isinstance(around, ast.If) and inside is not around.test and not _skips_init(around, inside):
            return False
        inside = around
    return False


def _skips_init(test: ast.If, inside: ast.AST) -> bool:
    """`if not self.is_initializing():` around the place."""
    asked = test.test
    if not isinstance(asked, ast.UnaryOp) or not isinstance(asked.op, ast.Not) or inside in test.orelse:
        return False
    called = asked.operand.func if isinstance(asked.operand, ast.Call) else None
    return called is not None and dotted(called) == "self.is_initializing"


def _may_return_before(node: ast.AST, function: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return any(returned.lineno < line for returned in nodes_of(function, ast.Return))
