"""Calls that leave the project, and objects of libraries: asks the models of the libraries what they give."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.names import canonical
from jaxlint.staging.evaluator.classes import Classes, decorated, redecorates
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.external_models import LibraryCall, attributes, calls, calls_of_made, methods
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
from jaxlint.staging.values.frame import Frame


class Externals(Part):
    """Calls that leave the project."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.classes = machine.part(Classes)
        self.introspection = machine.part(Introspection)
        self.conversions = machine.part(Conversions)

    def call_external(
        self,
        callee: External,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        name = canonical(callee.name)
        staging = self.machine.staging.call_staging(name, args, kwargs, node, frame, callee.own)
        if staging is not None:
            return staging
        if name.startswith("builtins."):
            return self.machine.language.call_builtin(name[9:], args, kwargs, node, frame)
        model = calls.get(name)
        if model is None:
            return self.machine.arrays.unmodelled(name, args, kwargs, node, frame)
        if callee.own is None:
            return model(LibraryCall(name, args, kwargs, node, frame, self.machine, self.unmodelled_call))
        own = self.machine.staging.aside(callee.own, args, kwargs, node, frame)
        result = model(LibraryCall(name, args, kwargs, node, frame, self.machine, self.unmodelled_call))
        return replace(result, own=own) if isinstance(result, ExternalObject) else result

    def unmodelled_call(self, call: LibraryCall) -> Value:
        return self.machine.arrays.unmodelled(call.name, call.args, call.kwargs, call.node, call.frame)

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
        return model(LibraryCall(full, [], {}, node, frame, self.machine, self.unmodelled_attribute, base))

    def unmodelled_attribute(self, call: LibraryCall) -> Value:
        return ExternalMethod(call.made, call.name.rpartition(".")[2])

    def external_object_method(
        self,
        receiver: ExternalObject,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        if receiver.name.startswith("builtins.super"):
            if name == "__new__":
                return self.machine.language.call_builtin("object.__new__", args, kwargs, node, frame)
            return Static(None) if name == "__init__" else UNKNOWN
        full = f"{receiver.name}.{name}"
        model = methods.get(full)
        if model is None:
            return self.machine.language.opaque_call([*args, *kwargs.values()], node, frame)
        return model(LibraryCall(full, args, kwargs, node, frame, self.machine, unknown_result, receiver))

    def call_external_object(
        self,
        callee: ExternalObject,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        if callee.own is None:
            return self.result_of_object(callee, args, kwargs, node, frame)
        own = self.machine.staging.aside(callee.own, args, kwargs, node, frame, odd=True)
        result = self.result_of_object(callee, args, kwargs, node, frame)
        # What it gives may be called in turn, as a decorator that takes options is.
        return (
            replace(result, own=own) if isinstance(result, ExternalObject) and result.own is None else result
        )

    def result_of_object(
        self,
        callee: ExternalObject,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """What calling an object of a library gives, as far as it is known."""
        if args and isinstance(args[0], ClassValue) and redecorates(callee.name, args[0]):
            return decorated(args[0], callee)
        if callee.name == WRITTEN_INIT and isinstance(callee.args[0], ClassValue):
            return self.classes.fill(callee.args[0], args, kwargs, node, frame)
        model = calls_of_made.get(callee.name)
        if model is None:
            return self.machine.language.opaque_call([*args, *kwargs.values()], node, frame)
        return model(
            LibraryCall(callee.name, args, kwargs, node, frame, self.machine, unknown_result, callee)
        )


def unknown_result(call: LibraryCall) -> Value:
    """Of an object that nothing else is known of."""
    return call.opaque()
