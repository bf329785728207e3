"""Compiled functions that a method creates and stores, and the attributes of the enclosing object that they read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.api import Reporter, TransformEvent
from jaxlint.api.syntax import all_parameters, dotted, nodes_of, walk
from jaxlint.api.values import ClassValue, Function, Transformed
from jaxlint_rules._callables import innermost
from jaxlint_rules._compiled_methods import reads_of_self

_MOST = 20  # functions that a compiled one is followed into


@dataclass(frozen=True, slots=True)
class Closure:
    """`self._step = jax.jit(step)` in a method of `cls`, where `step` is a function defined in that method."""

    cls: ClassValue
    function: Function
    me: str  # the name of the object in the method
    maker: ast.AST  # the method
    holder: str  # the attribute that keeps the compiled function


def kept_closure(event: TransformEvent, report: Reporter) -> Closure | None:
    """The function in a method that a transformation compiles, if an attribute of the object holds the result."""
    function, method = innermost(event.transformed.target), event.frame.function
    if not isinstance(function, Function) or function.cls is not None or method is None:
        return None
    if method.cls is None or method.kind or isinstance(method.node, ast.Lambda) or not method.node.args.args:
        return None
    if not any(part is function.node for part in walk(method.node)):
        return None
    me = method.node.args.args[0].arg
    name = function.name if event.decorator is not None else ""
    for statement in nodes_of(method.node, ast.Assign):
        if statement.value is event.node or (name and dotted(statement.value) == name):
            for target in statement.targets:
                if isinstance(target, ast.Attribute) and dotted(target.value) == me:
                    return Closure(method.cls, function, me, method.node, target.attr)
    return None


def reads_of_closure(closure: Closure) -> Iterator[tuple[str, tuple[ast.Attribute, ast.AST]]]:
    """Attributes of the object that the function reads, itself, in functions beside it and in methods that it calls: name ->
    (place, enclosing def)."""
    seen: set[ast.AST] = set()
    waiting = [closure.function]
    while waiting and len(seen) < _MOST:
        function = waiting.pop()
        if function.node in seen or closure.me in {p.arg for p in all_parameters(function.node)}:
            continue
        seen.add(function.node)
        for part in walk(function.node):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
                if isinstance(part.value, ast.Name) and part.value.id == closure.me:
                    member = closure.cls.lookup(part.attr)
                    if isinstance(member, Function) and member.module is function.module:
                        yield from reads_of_self(closure.cls, member, set())
                    elif not isinstance(member, (Function, Transformed)):
                        yield part.attr, (part, function.node)
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                held = function.scope.value_of(part.id)
                beside = innermost(held) if held is not None else None
                if isinstance(beside, Function) and "<locals>" in beside.qualname:
                    waiting.append(beside)
