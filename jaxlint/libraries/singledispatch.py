"""functools.singledispatch: generic functions, and the implementation that a call selects."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.expressions import Expressions
from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made, methods
from jaxlint.staging.evaluator.scopes import Guessing, Staged
from jaxlint.staging.reach.unknown_receivers import Receivers
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    Choice,
    ClassValue,
    External,
    ExternalObject,
    Function,
    Instance,
    Static,
    TupleValue,
    Value,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import HOST
from jaxlint.syntax.facts import parameter_annotations, positional_parameters

_GENERIC = "functools.singledispatch"
_REGISTER = "functools.singledispatch.register"  # `f.register(C)`, about to be called with a function
_MAX_CALLED = 4  # possible implementations whose results are joined; beyond that only their events count


@calls(_GENERIC)
def generic(call: LibraryCall) -> Value:
    """`@functools.singledispatch`: the default implementation, followed by those for one class each, as pairs."""
    return ExternalObject(_GENERIC, list(call.args[:1]), {}, call.node)


@methods(f"{_GENERIC}.register")
def register(call: LibraryCall) -> Value:
    """`f.register(C)`, `f.register(C, g)`, or `f.register(g)` with an annotation."""
    if not call.args:
        return UNKNOWN
    first = call.args[0]
    if len(call.args) > 1:
        return _registered(call.made, first, call.args[1])
    if isinstance(first, Function):
        return _registered(call.made, _annotated(call, first), first)
    return ExternalObject(_REGISTER, [call.made, first])


@calls_of_made(_REGISTER)
def register_for_class(call: LibraryCall) -> Value:
    """`@f.register(C)` over a function."""
    target, cls = call.made.args
    return _registered(target, cls, call.args[0]) if call.args else call.opaque()


def _registered(target: Value, cls: Value, function: Value) -> Value:
    if isinstance(target, ExternalObject):
        target.args.append(TupleValue([cls, function]))
    return function


def _annotated(call: LibraryCall, function: Function) -> Value:
    first = positional_parameters(function.node)[:1]
    annotation = parameter_annotations(function.node).get(first[0].arg) if first else None
    if annotation is None:
        return UNKNOWN
    return call.machine.part(Expressions).eval(annotation, Frame(None, function.module, function.scope, HOST))


@calls_of_made(_GENERIC)
def call_generic(call: LibraryCall) -> Value:
    """Calls the implementation for the class of the first argument, or each possible one."""
    found = _implementations(call.made, call.args[0] if call.args else UNKNOWN)
    if len(found) > _MAX_CALLED:
        with Staged(call.frame, replace(call.frame.stage, certain=False)), Guessing(call.machine):
            for cls, function in found:
                if isinstance(cls, ClassValue):
                    call.machine.part(Receivers).call_implicitly_inside(cls, function, call)
                else:
                    call.machine.part(DataModel).call_implicitly(function, call)
        return call.opaque()
    functions = [function for _, function in found]
    meant = functions[0] if len(found) == 1 else Choice(functions)
    return call.run_all(meant, call.args, call.kwargs)


def _implementations(target: ExternalObject, first: Value) -> list[tuple[Value, Value]]:
    """The possible implementations for this first argument, with the class of each."""
    pairs: list[tuple[Value, Value]] = []
    for part in target.args[1:]:
        if isinstance(part, TupleValue) and part.items is not None:
            pairs.append((part.items[0], part.items[1]))
    default = (UNKNOWN, target.args[0] if target.args else UNKNOWN)
    if isinstance(first, Instance):
        for owner in first.cls.mro():
            for cls, function in reversed(pairs):
                if isinstance(cls, ClassValue) and cls.node is owner.node:
                    return [(cls, function)]
        return [default]
    if isinstance(first, Array) and not first.tree:
        return [pair for pair in pairs if _is_array_type(pair[0])][-1:] or [default]
    if isinstance(first, Static):
        return [pair for pair in pairs if isinstance(pair[0], External)] or [default]
    return pairs if isinstance(first, Array) and pairs else [default, *pairs]


def _is_array_type(cls: Value) -> bool:
    return isinstance(cls, External) and cls.name.rpartition(".")[2] in ("Array", "ndarray")
