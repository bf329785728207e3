"""Functions that a decorator keeps or stages: those of `functools.singledispatch`, and what other libraries may do."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.staging.frame import Frame
from jaxlint.staging.scopes import Guessing, Staged
from jaxlint.staging.stage import HOST
from jaxlint.staging.syntax_facts import parameter_annotations, positional_parameters
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    Choice,
    ClassValue,
    External,
    ExternalObject,
    Function,
    Instance,
    Partial,
    Static,
    TupleValue,
    Unknown,
    Value,
)

GENERIC = "functools.singledispatch"
REGISTER = "functools.singledispatch.register"  # `f.register(C)`, about to be called with a function
MAX_CALLED = (
    4  # functions that a call may mean whose results are joined; of more, only what they show of themselves
)

# A name that a library's decorator gives to several functions, of which it chooses by what a call passes.
OVERLOADED = Unknown()
_STANDARD = frozenset(
    {"abc", "absl", "builtins", "contextlib", "dataclasses", "functools", "pytest", "typing", "unittest"}
)


def is_foreign(decorator: Value) -> bool:
    """Whether it is of a library of which nothing is known: it may keep the functions that it gets, or stage them."""
    return bool(name := _name_of(decorator)) and name.partition(".")[0] not in _STANDARD.union(JAX_FAMILY)


def stages_elsewhere(decorator: Value) -> bool:
    """Whether it is another library's `jit`: what a function gets there are not the values that calls pass."""
    return _name_of(decorator).rpartition(".")[2] in JIT_KINDS and is_foreign(decorator)


def _name_of(decorator: Value) -> str:
    applied = decorator.function if isinstance(decorator, Partial) else decorator
    return applied.name if isinstance(applied, (External, ExternalObject)) else ""


def generic(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`@functools.singledispatch`: the function for all classes, and (as pairs, after it) those for one class each."""
    return ExternalObject(GENERIC, list(args[:1]), {}, node)


def register(self: Any, target: ExternalObject, args: list[Value]) -> Value:
    """`f.register(C)`, `f.register(C, g)`, or `f.register(g)` with an annotation."""
    if not args:
        return UNKNOWN
    if len(args) > 1:
        return registered(target, args[0], args[1])
    if isinstance(args[0], Function):
        return registered(target, _annotated(self, args[0]), args[0])
    return ExternalObject(REGISTER, [target, args[0]])


def registered(target: Value, cls: Value, function: Value) -> Value:
    if isinstance(target, ExternalObject):
        target.args.append(TupleValue([cls, function]))
    return function


def _annotated(self: Any, function: Function) -> Value:
    first = positional_parameters(function.node)[:1]
    annotation = parameter_annotations(function.node).get(first[0].arg) if first else None
    if annotation is None:
        return UNKNOWN
    result: Value = self.eval(annotation, Frame(None, function.module, function.scope, HOST))
    return result


def call_generic(
    self: Any,
    target: ExternalObject,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Calls the function for the class of the first argument, or each that may be meant."""
    found = implementations(target, args[0] if args else UNKNOWN)
    if len(found) > MAX_CALLED:
        with Staged(frame, replace(frame.stage, certain=False)), Guessing(self):
            for cls, function in found:
                if isinstance(cls, ClassValue):
                    self.once_inside(cls, function, args, kwargs, node, frame)
                else:
                    self.once(function, args, node, frame, kwargs)
        result: Value = self.opaque_call([*args, *kwargs.values()], node, frame)
        return result
    functions = [function for _, function in found]
    meant = functions[0] if len(found) == 1 else Choice(functions)
    called: Value = self.call_value(meant, args, kwargs, node, frame)
    return called


def implementations(target: ExternalObject, first: Value) -> list[tuple[Value, Value]]:
    """The functions that a call with this first argument may mean, and the class that each is for."""
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
