"""Calls of methods of an object, by the scope that makes them: what runs between two calls of a compiled method."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.api import CallEvent, Module
from jaxlint.api.syntax import dotted
from jaxlint.api.values import BoundMethod, ClassValue, Instance
from jaxlint_rules._callables import innermost
from jaxlint_rules._compiled_methods import facts_of_method, methods_of
from jaxlint_rules.purity._captures import Owner, Place, between, timeline

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(slots=True)
class ObjectCalls:
    """The calls that one scope makes on one object: method -> places."""

    owner: Owner
    receiver: str
    methods: dict[str, dict[ast.AST, Place]] = field(default_factory=dict)

    def change_between(self, changing: set[str], running: set[str]) -> ast.Call | None:
        """A call of a `changing` method after one of the `running` methods, and before another."""
        line = timeline(self.owner)
        root = self.receiver.partition(".")[0]
        made = [*line.bound.get(root, ()), *line.changed.get(self.receiver, ())]
        if len(made) > 1:
            return None  # another object may have the name
        changes = [
            place
            for name in changing
            for place in self.methods.get(name, {}).values()
            if not any(place.shares_loop(one) for one in made)
        ]
        uses = [place for name in running for place in self.methods.get(name, {}).values()]
        found = between(changes, uses)
        return found.node if found is not None and isinstance(found.node, ast.Call) else None


class CallsByClass:
    """The calls of methods of project objects that the analysis saw."""

    def __init__(self) -> None:
        self.seen: dict[ast.ClassDef, dict[tuple[ast.AST, str], ObjectCalls]] = {}

    def add(self, event: CallEvent) -> None:
        callee = innermost(event.callee)
        node, frame = event.node, event.frame
        if not isinstance(callee, BoundMethod) or not isinstance(callee.receiver, Instance):
            return
        if frame.stage.staged or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return
        receiver = dotted(node.func.value)
        place = _place(node, frame.owner, receiver, frame.module) if receiver else None
        if place is not None:
            scopes = self.seen.setdefault(callee.receiver.cls.node, {})
            calls = scopes.setdefault((frame.owner, receiver), ObjectCalls(frame.owner, receiver))
            calls.methods.setdefault(node.func.attr, {})[node] = place

    def change_between(self, cls: ClassValue, changing: set[str], runs: str) -> ast.Call | None:
        """A call of a `changing` method between two that run the compiled function in the attribute `runs`."""
        running = {runs, *callers_of(cls, runs)} - changing
        for calls in self.seen.get(cls.node, {}).values():
            found = calls.change_between(changing, running)
            if found is not None:
                return found
        return None


def callers_of(cls: ClassValue, name: str) -> Iterator[str]:
    """The methods of the class that call its method `name`, directly or through others."""
    waiting, seen = [name], {name}
    while waiting:
        called = waiting.pop()
        for method in methods_of(cls):
            if method.name not in seen and called in facts_of_method(method).called:
                seen.add(method.name)
                waiting.append(method.name)
                yield method.name


def _place(node: ast.Call, owner: Owner, receiver: str, module: Module) -> Place | None:
    """The place of a call in its scope; None if a test of the object decides whether it happens."""
    loops: list[ast.AST] = []
    root = receiver.partition(".")[0]
    for above in module.ancestors(node):
        if above is owner:
            return Place(node, node.lineno, tuple(loops))
        if isinstance(above, _LOOPS):
            loops.append(above)
        elif isinstance(above, ast.If):
            if any(isinstance(part, ast.Name) and part.id == root for part in ast.walk(above.test)):
                return None
        elif isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
    return Place(node, node.lineno, tuple(loops))
