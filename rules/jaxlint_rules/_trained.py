"""When nnx models are trained, and when compiled functions run: by the identity of the objects, in the order of the analysis."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.api import CallEvent, TransformEvent
from jaxlint.api.syntax import FunctionNode, all_parameters, cache, dotted, nodes_of
from jaxlint.api.values import (
    BoundMethod,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    Transformed,
    Value,
)
from jaxlint_rules._callables import function_called_with, innermost
from jaxlint_rules._names import last_name

OPTIMIZERS = frozenset({"flax.nnx.Optimizer", "flax.nnx.ModelAndOptimizer"})
_UPDATE = "flax.nnx.update"
_MAX_CALLS = 3  # depth to which functions that receive a model are followed


def is_nnx(value: Value | None) -> bool:
    """Whether a value is a module of nnx, or another object of it."""
    if isinstance(value, Instance):
        return value.cls.kind == "nnx"
    return isinstance(value, ExternalObject) and value.name.startswith("flax.nnx.")


def model_of(value: Value) -> Value | None:
    """The model that a value is, or that an optimizer updates."""
    if isinstance(value, ExternalObject) and value.name in OPTIMIZERS:
        value = value.args[0] if value.args else value
    return value if is_nnx(value) else None


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happens in the order of the analysis, and the loops around it, also those of callers."""

    time: int
    loops: frozenset[ast.AST]
    node: ast.AST

    def shares_loop(self, other: Moment) -> bool:
        """Whether some loop repeats both."""
        return not self.loops.isdisjoint(other.loops)

    def may_follow(self, other: Moment) -> bool:
        return self.time > other.time or self.shares_loop(other)


def loops_around(event: CallEvent | TransformEvent) -> frozenset[ast.AST]:
    return frozenset(loop.node for one in (event.frame, *event.frame.callers()) for loop in one.loops)


@dataclass(slots=True)
class Training:
    """The calls on the host that train a model, and those that run a compiled function."""

    time: int = 0
    trained: list[tuple[Value, Moment]] = field(default_factory=list)
    ran: dict[ast.AST, list[Moment]] = field(default_factory=dict)

    def moment(self, event: CallEvent | TransformEvent) -> Moment:
        self.time += 1
        return Moment(self.time, loops_around(event), event.node)

    def note(self, event: CallEvent) -> None:
        """Records a call."""
        if event.frame.stage.staged or event.frame.is_in_test():
            return
        callee = event.callee
        if isinstance(callee, Transformed):
            self.ran.setdefault(callee.node, []).append(self.moment(event))
        models = [*_trained_by(event)]
        if models:
            moment = self.moment(event)
            self.trained += [(model, moment) for model in models]

    def of_others(self, model: Value) -> set[ast.AST]:
        """The calls that train known models, and never this one."""
        own = {moment.node for one, moment in self.trained if one is model}
        return {moment.node for _, moment in self.trained} - own

    def stale(self, model: Value, made: Moment, compiled: ast.AST) -> Moment | None:
        """When a model is trained after a function was compiled that captures it, and before that function runs again."""
        runs = self.ran.get(compiled, ())
        for one, moment in self.trained:
            if one is not model or moment.time < made.time or moment.shares_loop(made):
                continue
            before = any(moment.may_follow(run) for run in runs)
            after = any(run.may_follow(moment) for run in runs)
            if not runs or (before and after):
                return moment
        return None


def _trained_by(event: CallEvent) -> Iterator[Value]:
    """The models whose parameters a call changes."""
    callee, args = event.callee, event.args
    if event.name == _UPDATE:
        yield from filter(None, map(model_of, args[:1]))
    elif isinstance(callee, ExternalMethod) and isinstance(callee.receiver, ExternalObject):
        if callee.name == "update" and callee.receiver.name in OPTIMIZERS:
            yield from filter(None, map(model_of, [*args[:1], callee.receiver]))
    elif isinstance(callee, (Function, BoundMethod, Transformed)) and any(
        model_of(value) is not None for value in (*args, *event.kwargs.values())
    ):
        called = function_called_with(callee)
        if called is not None:
            function, names = called
            for name, value in (*zip(names, args, strict=False), *event.kwargs.items()):
                model = model_of(value)
                if model is not None and updates(function, name):
                    yield model


def updates(function: Function, parameter: str, depth: int = _MAX_CALLS) -> bool:
    """Whether a function updates the model, or the model of the optimizer, that a parameter gets."""
    for call, place in _given(function.node).get(parameter, ()):
        called = dotted(call.func)
        method = called.rpartition(".")[2]
        if place < 0 or called in ("nnx.update", _UPDATE):
            if place <= 0 and method == "update":
                return True
        elif method == "update" and place == 0 and len(call.args) > 1 and not call.keywords:
            return True  # `optimizer.update(model, grads)`
        elif isinstance(call.func, ast.Name) and depth:
            inner = function.scope.value_of(call.func.id)
            inner = innermost(inner) if inner is not None else None
            names = [one.arg for one in all_parameters(inner.node)] if isinstance(inner, Function) else []
            if isinstance(inner, Function) and place < len(names) and inner.node is not function.node:
                if updates(inner, names[place], depth - 1):
                    return True
    return False


@cache
def _given(function: FunctionNode) -> dict[str, list[tuple[ast.Call, int]]]:
    """The calls that get a name by position, or (-1) of which it is the object: `name.update(grads)`."""
    found: dict[str, list[tuple[ast.Call, int]]] = {}
    for call in nodes_of(function, ast.Call):
        if isinstance(call.func, ast.Attribute) and last_name(call.func) == "update":
            found.setdefault(dotted(call.func.value), []).append((call, -1))
        for place, argument in enumerate(call.args):
            found.setdefault(dotted(argument), []).append((call, place))
    return found
