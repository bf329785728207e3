"""What scopes do with an object: the methods that they call, and the functions that they give it to. This shows what
changes it between two calls of a compiled method."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.api import CallEvent, Module
from jaxlint.api.syntax import all_parameters, cache, dotted, nodes_of
from jaxlint.api.values import BoundMethod, ClassValue, Function, Instance
from jaxlint_rules._callables import given_values, innermost
from jaxlint_rules._compiled_methods import facts_of_method, is_identified_by_itself, methods_of
from jaxlint_rules._names import last_name
from jaxlint_rules.purity._captures import Owner, Place, between, timeline

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MAX_CALLS = 4  # depth to which functions that receive the object are followed


@dataclass(slots=True)
class Given:
    """A call that gives the object to a function of the program, as one of its parameters."""

    place: Place
    function: Function
    parameter: str


@dataclass(slots=True)
class ObjectCalls:
    """The calls that one scope makes on one object: method -> places; and the calls that pass it on."""

    owner: Owner
    receiver: str
    methods: dict[str, dict[ast.AST, Place]] = field(default_factory=dict)
    given: dict[ast.AST, Given] = field(default_factory=dict)

    def bindings(self) -> list[Place]:
        """Where the scope binds the name of the object, or the attribute that holds it."""
        line = timeline(self.owner)
        return [
            *line.bound.get(self.receiver.partition(".")[0], ()),
            *line.changed.get(self.receiver, ()),
        ]

    def change_between(self, changing: set[str], running: set[str]) -> ast.Call | None:
        """A call of a `changing` method after one of the `running` methods, and before another."""
        made = self.bindings()
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
        if frame.stage.staged or not isinstance(node, ast.Call):
            return
        if isinstance(callee, (Function, BoundMethod)):
            self.add_given(event, callee)
        if not isinstance(callee, BoundMethod) or not isinstance(callee.receiver, Instance):
            return
        if not isinstance(node.func, ast.Attribute):
            return
        receiver = dotted(node.func.value)
        place = _place(node, frame.owner, receiver, frame.module) if receiver else None
        if place is not None:
            calls = self.of(callee.receiver.cls, frame.owner, receiver)
            calls.methods.setdefault(node.func.attr, {})[node] = place

    def add_given(self, event: CallEvent, callee: Function | BoundMethod) -> None:
        """Records the objects that a call passes to a function of the program, by position or by name."""
        node, frame = event.node, event.frame
        function = callee.function if isinstance(callee, BoundMethod) else callee
        if not isinstance(function, Function) or not isinstance(node, ast.Call):
            return
        if any(isinstance(part, ast.Starred) for part in node.args) or len(event.args) != len(node.args):
            return
        names = [one.arg for one in all_parameters(function.node)]
        names = names[1:] if isinstance(callee, BoundMethod) else names
        for name, written, value in given_values(event, node, names):
            path = dotted(written)
            if path and isinstance(value, Instance) and is_identified_by_itself(value.cls):
                place = _place(node, frame.owner, path, frame.module)
                if place is not None:
                    self.of(value.cls, frame.owner, path).given[node] = Given(place, function, name)

    def of(self, cls: ClassValue, owner: Owner, path: str) -> ObjectCalls:
        scopes = self.seen.setdefault(cls.node, {})
        return scopes.setdefault((owner, path), ObjectCalls(owner, path))

    def store_between(self, cls: ClassValue, name: str, runs: str) -> ast.Attribute | None:
        """An assignment of the attribute `name`, also in a function that receives the object, between two calls that run
        the compiled function in the attribute `runs`."""
        running = {runs, *callers_of(cls, runs, passed=True)}
        for calls in [*self.seen.get(cls.node, {}).values()]:
            made = calls.bindings()
            if len(made) > 1 or compiles_again(calls.owner):
                continue
            stores = {place.node: (place, node) for place, node in self.stores(cls, calls, name, _MAX_CALLS)}
            uses = self.uses(cls, calls, running, _MAX_CALLS)
            for use in uses:
                stores.pop(use.node, None)  # it changes the object and runs the method: which is first?
            found = between(
                [place for place, _ in stores.values() if not any(map(place.shares_loop, made))], uses
            )
            if found is not None:
                return stores[found.node][1]
        return None

    def stores(
        self, cls: ClassValue, calls: ObjectCalls, name: str, depth: int
    ) -> Iterator[tuple[Place, ast.Attribute]]:
        """Where a scope assigns the attribute of the object, or calls a function that does; and the assignment."""
        for place in timeline(calls.owner).changed.get(f"{calls.receiver}.{name}", ()):
            if isinstance(place.node, ast.Attribute):
                yield place, place.node
        for one in calls.given.values() if depth else ():
            owner = one.function.node
            if one.parameter not in timeline(owner).bound:
                inner = self.of(cls, owner, one.parameter)
                node = next((node for _, node in self.stores(cls, inner, name, depth - 1)), None)
                if node is not None:
                    yield one.place, node

    def uses(self, cls: ClassValue, calls: ObjectCalls, running: set[str], depth: int) -> list[Place]:
        """The places of a scope that run one of the methods on the object, also in a function that receives it."""
        found = [place for name in running for place in calls.methods.get(name, {}).values()]
        for one in calls.given.values() if depth else ():
            inner = self.seen.get(cls.node, {}).get((one.function.node, one.parameter))
            if inner is not None and self.uses(cls, inner, running, depth - 1):
                found.append(one.place)
        return found

    def change_between(self, cls: ClassValue, changing: set[str], runs: str) -> ast.Call | None:
        """A call of a `changing` method between two that run the compiled function in the attribute `runs`."""
        running = {runs, *callers_of(cls, runs)} - changing
        for calls in self.seen.get(cls.node, {}).values():
            found = calls.change_between(changing, running)
            if found is not None:
                return found
        return None


def callers_of(cls: ClassValue, name: str, passed: bool = False) -> Iterator[str]:
    """The methods of the class that call its method `name`, directly or through others; those that pass it to a
    function, as `jax.grad(self.loss)`, with `passed`."""
    waiting, seen = [name], {name}
    while waiting:
        called = waiting.pop()
        for method in methods_of(cls):
            own = facts_of_method(method)
            if method.name not in seen and (called in own.called or (passed and called in own.passed)):
                seen.add(method.name)
                waiting.append(method.name)
                yield method.name


@cache
def compiles_again(owner: Owner) -> bool:
    """Whether a scope forgets what was compiled."""
    return any(last_name(call.func) in ("clear_cache", "clear_caches") for call in nodes_of(owner, ast.Call))


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
