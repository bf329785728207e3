"""Calls that leave the project, and library objects: looks up and runs the models of libraries."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from jaxlint.jaxapi.names import canonical
from jaxlint.staging.evaluator.classes import Classes, decorated, redecorates
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.external_models import (
    NOTHING_MADE,
    LibraryCall,
    Model,
    attributes,
    calls,
    calls_of_made,
    methods,
)
from jaxlint.staging.evaluator.instances import WRITTEN_INIT
from jaxlint.staging.evaluator.introspection import Introspection
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    UNKNOWN,
    ClassValue,
    External,
    ExternalMethod,
    ExternalObject,
    Static,
    Value,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame


class Externals(Part):
    """Evaluates calls that leave the project."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.classes = machine.part(Classes)
        self.introspection = machine.part(Introspection)
        self.conversions = machine.part(Conversions)

    def call_external(self, callee: External, call: Call) -> Value:
        name = canonical(callee.name)
        staging = self.machine.staging.call_staging(name, call, callee.own)
        if staging is not None:
            return staging
        if name.startswith("builtins."):
            return self.machine.language.call_builtin(name[9:], call)
        model = calls.get(name)
        if model is None:
            return self.machine.arrays.unmodelled(name, call)
        if callee.own is None:
            return self.ask(model, name, call, self.unmodelled_call)
        own = self.machine.staging.run_library_code(callee.own, call)
        result = self.ask(model, name, call, self.unmodelled_call)
        return replace(result, own=own) if isinstance(result, ExternalObject) else result

    def ask(
        self,
        model: Model,
        name: str,
        call: Call,
        rest: Callable[[LibraryCall], Value],
        made: ExternalObject = NOTHING_MADE,
    ) -> Value:
        """The result of a call according to its model. `rest`: the result without the model."""
        return model(
            LibraryCall(call.args, call.kwargs, call.node, call.frame, name, self.machine, rest, made)
        )

    def unmodelled_call(self, call: LibraryCall) -> Value:
        return self.machine.arrays.unmodelled(call.name, call)

    # -- external objects

    def external_object_attribute(
        self, base: ExternalObject, name: str, node: ast.AST, frame: Frame
    ) -> Value:
        if base.name == "builtins.super":
            return self.introspection.super_attribute(base, name)
        full = f"{base.name}.{name}"
        model = attributes.get(full)
        if model is None:
            return ExternalMethod(base, name)
        return self.ask(model, full, Call([], {}, node, frame), self.unmodelled_attribute, base)

    def unmodelled_attribute(self, call: LibraryCall) -> Value:
        return ExternalMethod(call.made, call.name.rpartition(".")[2])

    def external_object_method(self, receiver: ExternalObject, name: str, call: Call) -> Value:
        if receiver.name.startswith("builtins.super"):
            if name == "__new__":
                return self.machine.language.call_builtin("object.__new__", call)
            return Static(None) if name == "__init__" else UNKNOWN
        full = f"{receiver.name}.{name}"
        model = methods.get(full)
        if model is None:
            return self.machine.language.opaque_call(call.inputs, call.node, call.frame)
        return self.ask(model, full, call, unknown_result, receiver)

    def call_external_object(self, callee: ExternalObject, call: Call) -> Value:
        if callee.own is None:
            return self.result_of_object(callee, call)
        own = self.machine.staging.run_library_code(callee.own, call, odd=True)
        result = self.result_of_object(callee, call)
        # The result may be called in turn, like a decorator with options.
        return (
            replace(result, own=own) if isinstance(result, ExternalObject) and result.own is None else result
        )

    def result_of_object(self, callee: ExternalObject, call: Call) -> Value:
        """The result of calling a library object, as far as it is known."""
        args = call.args
        if args and isinstance(args[0], ClassValue) and redecorates(callee.name, args[0]):
            return decorated(args[0], callee)
        if callee.name == WRITTEN_INIT and isinstance(callee.args[0], ClassValue):
            return self.classes.run_dataclass_init(callee.args[0], call)
        model = calls_of_made.get(callee.name)
        if model is None:
            return self.machine.language.opaque_call(call.inputs, call.node, call.frame)
        return self.ask(model, callee.name, call, unknown_result, callee)


def unknown_result(call: LibraryCall) -> Value:
    """The result of calling an object with no model."""
    return call.opaque()
