"""Methods that a compiled function holds together with their object, and what they do with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.api import Frame, Reporter, TransformEvent
from jaxlint.api.syntax import FunctionNode, cache, dotted, nodes_of, walk
from jaxlint.api.values import BoundMethod, ClassValue, Function, Instance, Transformed, constant
from jaxlint_rules._callables import innermost
from jaxlint_rules._names import last_name


def captured_self(event: TransformEvent, report: Reporter) -> tuple[ClassValue | None, Function | None, str]:
    """The class and the method whose `self` the compiled function holds, and the attribute with that function."""
    target = innermost(event.transformed.target)
    if isinstance(target, BoundMethod):
        parent = next(iter(report.module.ancestors(event.node)), None)
        kept = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Attribute)
        receiver, function = target.receiver, target.function
        if kept and isinstance(receiver, Instance) and isinstance(function, Function):
            assert isinstance(parent, ast.Assign)
            assert isinstance(parent.targets[0], ast.Attribute)
            return receiver.cls, function, parent.targets[0].attr
        return None, None, ""
    if isinstance(target, Function) and target.cls is not None and target.node.args.args:
        options = event.transformed.options
        numbers = constant(options["static_argnums"]) if "static_argnums" in options else ()
        names = constant(options["static_argnames"]) if "static_argnames" in options else ()
        first = target.node.args.args[0].arg
        if 0 in _listed(numbers) or first in _listed(names):
            return target.cls, target, ""
    return None, None, ""


def is_identified_by_itself(cls: ClassValue) -> bool:
    """Whether objects of the class only equal themselves, whatever their attributes are."""
    if cls.kind != "plain":
        return False
    return all({"__eq__", "__hash__"}.isdisjoint(known.namespace) for known in cls.mro())


def is_compiled_by_class(frame: Frame) -> bool:
    """Whether a frame is reached through a method that its class compiles (`cls.step = jax.jit(cls.step)`). A
    setting may decide whether the path without `jit` runs.
    """
    for one in (frame, *frame.callers()):
        function = one.function
        if function is not None and function.cls is not None and not isinstance(function.node, ast.Lambda):
            methods = (held for known in function.cls.mro() for held in known.namespace.values())
            made = (method.node for method in methods if isinstance(method, Function))
            if any(function.name in _compiled_by(node) for node in made):
                return True
    return False


@cache
def _compiled_by(method: FunctionNode) -> frozenset[str]:
    """The methods that a class method replaces by compiled ones."""
    parameters = method.args.args
    if isinstance(method, ast.Lambda) or not parameters or parameters[0].arg == "self":
        return frozenset()
    first = parameters[0].arg
    return frozenset(
        target.attr
        for statement in nodes_of(method, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Attribute)
        and dotted(target.value) == first
        and isinstance(statement.value, ast.Call)
        and last_name(statement.value.func) in ("jit", "filter_jit", "pmap", "shard_map")
    )


def _listed(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def reads_of_self(
    cls: ClassValue, method: Function, seen: set[ast.AST]
) -> Iterator[tuple[str, tuple[ast.Attribute, ast.AST]]]:
    """Attributes of `self` that the method reads, directly or through other methods: name -> (place, enclosing def)."""
    if method.node in seen or not method.node.args.args or len(seen) > 20:
        return
    seen.add(method.node)
    later = _run_later(method.node)
    for load in facts_of_method(method.node).loads:
        if load in later:
            continue
        member = cls.lookup(load.attr)
        if isinstance(member, Function) and member.module is method.module:
            yield from reads_of_self(cls, member, seen)
        elif member is None or not isinstance(member, (Function, Transformed)):
            yield load.attr, (load, method.node)


@cache
def _run_later(method: FunctionNode) -> frozenset[ast.AST]:
    """The functions that a method hands to the host: `io_callback(self.save, None, x)` runs `save` each time, not at trace time."""
    return frozenset(
        call.args[0]
        for call in nodes_of(method, ast.Call)
        if call.args and last_name(call.func) in ("io_callback", "pure_callback", "callback")
    )


@dataclass
class MethodFacts:
    """The attributes that a method reads (the last first) and stores, and the methods that it calls or passes on."""

    loads: list[ast.Attribute] = field(default_factory=list)
    stores: dict[str, list[ast.Attribute]] = field(default_factory=dict)
    set_to_none: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)  # `jax.grad(self.value)(w)` runs `value` too
    jits: bool = False  # it compiles something again


def methods_of(cls: ClassValue) -> Iterator[ast.FunctionDef]:
    """The methods of a class and of those it inherits from, that take the object."""
    for known in cls.mro():
        for method in known.node.body:
            if isinstance(method, ast.FunctionDef) and method.args.args:
                yield method


@cache
def facts_of_method(method: FunctionNode) -> MethodFacts:
    me = method.args.args[0].arg
    found = MethodFacts()

    def of_me(node: ast.AST | None) -> str:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == me:
            return node.attr
        return ""

    for part in walk(method):
        if isinstance(part, ast.Attribute):
            name = of_me(part)
            if name and isinstance(part.ctx, ast.Load):
                found.loads.append(part)
            elif name and isinstance(part.ctx, ast.Store):
                found.stores.setdefault(name, []).append(part)
        elif isinstance(part, (ast.Assign, ast.AnnAssign)):
            if isinstance(part.value, ast.Constant) and part.value.value is None:
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                found.set_to_none.update(filter(None, map(of_me, targets)))
        elif isinstance(part, ast.Call):
            found.called.add(of_me(part.func))
            found.passed.update(filter(None, map(of_me, part.args)))
            if last_name(part.func) in ("jit", "filter_jit", "clear_cache"):
                found.jits = True
    found.loads.sort(key=lambda part: (-part.lineno, -part.col_offset))
    return found
