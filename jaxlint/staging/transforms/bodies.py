"""Functions passed to control flow: why they are traced, how they are called, and the events about them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.staging import events
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.values import (
    BoundMethod,
    Choice,
    Function,
    Instance,
    Partial,
    Transformed,
    Value,
    find_array,
    uncertain,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.labels import label_of
from jaxlint.staging.values.stage import Stage, Why
from jaxlint.syntax.facts import name_loads


class Bodies(Part):
    """Calls the bodies of control flow."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.boundary = machine.part(Boundary)

    def body_why(self, api: str, body: Value, node: ast.AST, frame: Frame) -> Why:
        outer = frame.stage.why if frame.stage.staged else None
        label = label_of(body)
        text = f"`{label}` is passed to `{api}`"
        return Why(text, frame.module, node, outer, function=label, api=api)

    def staged_call(
        self,
        api: str,
        body: Value,
        args: list[Value],
        node: ast.AST,
        frame: Frame,
        kind: str,
        why: Why,
    ) -> Value:
        return self.machine.staging.in_stage(
            body, Stage(kind, True, True, why, frame.stage), Call(args, {}, node, frame)
        )

    def tell_body(
        self,
        api: str,
        role: str,
        body: Value,
        count: int,
        result: Value,
        node: ast.AST,
        frame: Frame,
        given: Value | None = None,
        seen: Value | None = None,
    ) -> None:
        """Emits an event for the call of a function that was passed to control flow."""
        if not isinstance(node, ast.Call) or not any(isinstance(a, ast.Starred) for a in node.args):
            self.machine.emit(
                "body", events.BodyEvent(node, frame, api, role, body, count, result, given, seen)
            )

    def flow_result(self, value: Value, frame: Frame, given: Sequence[Value] = ()) -> Value:
        """The result of a traced function at its call: arrays on the host, tracers under a trace.

        `given`: the function and its arguments, if they decide. `vmap` and `grad` only trace what depends on their
        inputs, so a result computed from other arrays is not a tracer there.
        """
        if not frame.stage.staged:
            return self.boundary.to_device(value, "")
        if frame.stage.abstract or not given or any(map(_brings_tracer, given)):
            return value
        return uncertain(value)


def _brings_tracer(value: Value, depth: int = 3) -> bool:
    """Whether `value` contains a tracer, or is a function that reads one from its defining scope."""
    if isinstance(value, Function):
        names = {name.id for name in name_loads(value.node)} if depth > 0 else set()
        read = [found[0] for name in names if (found := value.scope.lookup(name)) and not found[1].is_module]
        return any(_brings_tracer(part, depth - 1) for part in [*read, *value.defaults.values()])
    if isinstance(value, Partial):
        return any(
            _brings_tracer(part, depth) for part in [value.function, *value.args, *value.kwargs.values()]
        )
    if isinstance(value, BoundMethod):
        return _brings_tracer(value.function, depth) or _brings_tracer(value.receiver, depth)
    if isinstance(value, Transformed):
        return _brings_tracer(value.target, depth)
    if isinstance(value, Choice):
        return any(_brings_tracer(option, depth) for option in value.options)
    if isinstance(value, Instance) and value.staged is not None:
        return True
    return find_array(value, True) is not None
