"""Calls that `inspect` assumes without seeing them: of functions, and methods of objects, that entered a stage."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from jaxlint.jaxapi.array_members import ARRAY_ATTRIBUTES, ARRAY_METHODS, AT_UPDATES, STATIC_ATTRIBUTES
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.scopes import Guessing
from jaxlint.staging.reach.unknown_receivers import COMMON, Receivers
from jaxlint.staging.values import (
    Array,
    BoundMethod,
    ClassValue,
    DictValue,
    Function,
    Instance,
    Origin,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
)
from jaxlint.staging.values.pytrees import is_pytree, registration
from jaxlint.staging.values.stage import Stage, Why
from jaxlint.syntax.facts import (
    all_parameters,
    is_static_type,
    name_loads,
    positional_parameters,
    takes_receiver,
)

# Operations that code applies to arrays, and so to objects that stand for one.
_OF_ARRAYS = sorted(ARRAY_ATTRIBUTES | ARRAY_METHODS | STATIC_ATTRIBUTES | {"__getitem__"})


class AssumedCalls(Part):
    """Continues beyond the visible calls. Rules receive no events from it.

    A function that entered a stage, and a method of an object in one, are probably called with tracers. A visible
    call, on the host or in a stage, is better evidence.
    """

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)
        self.function_calls = machine.part(FunctionCalls)
        self.instances = machine.part(Instances)
        self.receivers = machine.part(Receivers)
        # Functions that entered a stage.
        self.carried: dict[ast.AST, tuple[Function, Why]] = {}
        self.given_tracers: dict[str, Why] = {}  # unknown libraries

    def gives_tracers(self, library: str, why: Why) -> None:
        """An unknown library receives tracers in the stage of `why`, if the analysis saw that stage."""
        if not why.is_by_convention:
            self.given_tracers.setdefault(library, why)

    def carries(self, value: Value, why: Why | None) -> None:
        """Records the function in `value`, if there is one, as one that entered a stage.

        An unknown wrapper of a function, such as a library's decorator, probably calls it.
        """
        if isinstance(value, Unknown):
            for part in value.made_of:
                self.carries(part, why)
            return
        function = _function_in(value)
        if function is not None and why is not None and not why.is_by_convention:
            self.carried.setdefault(function.node, (function, why))

    def supposed_calls(self) -> Iterator[tuple[Function, ClassValue | None, Why]]:
        """Functions that are probably called in a stage without a visible call, with the class of their object."""
        for function, why in self.carried.values():
            yield function, function.cls, why
        for cls, entered in list(self.receivers.inside.values()):
            if entered is None or entered.is_by_convention or not is_pytree(cls):
                continue
            for handler in _tree_functions(cls):
                yield handler, cls, entered
            for name in _OF_ARRAYS if _stands_for_an_array(cls) else ():
                member = cls.namespace.get(name)
                if isinstance(member, Function):
                    yield member, cls, entered
            for name, member in cls.own_members():
                # Calls with an unknown receiver or of an abstract method may mean this class.
                if isinstance(member, Function) and self.asked_for(name, member):
                    yield member, cls, entered
                    yield from self.overriding(name, cls, entered)
        yield from self.given_to_libraries()

    def given_to_libraries(self) -> Iterator[tuple[Function, ClassValue, Why]]:
        """Methods of classes that derive from a library's, if that library receives tracers: it calls them in the
        stage."""
        for library, called in list(self.given_tracers.items()):
            for cls in self.receivers.extending.get(library, ()):
                for name, member in cls.own_members():
                    public = name == "__call__" or not name.startswith("_")
                    if public and isinstance(member, Function) and not member.kind:
                        yield member, cls, called

    def overriding(self, name: str, cls: ClassValue, why: Why) -> Iterator[tuple[Function, ClassValue, Why]]:
        """The overriding methods `name` in subclasses. Classes of tests do not count, since no program uses them."""
        for heir in self.instances.heirs.get(cls.node, ()):
            own = heir.namespace.get(name)
            if isinstance(own, Function) and not heir.module.is_test:
                yield own, heir, why

    def asked_for(self, name: str, member: Function) -> bool:
        """Whether traced code calls a method of this name on an unknown object, or reads the property of this name."""
        if member.kind == "property":
            return name in self.access.read and name not in COMMON
        return name in self.function_calls.unresolved and not member.kind

    def assume_calls(self, function: Function, cls: ClassValue | None, why: Why) -> None:
        """Evaluates a function without a visible call as if it were called in the stage of `why`."""
        written = _written(function)
        record = self.function_calls.records.get(written.node)
        if record is not None and any(seen.stage.staged for seen in record.observations):
            return
        if record is not None and record.hosted and (cls is None or function not in _tree_functions(cls)):
            return  # JAX flattens objects in a stage, even if other code also does so on the host
        tracer = Array(True, why, tree=True, certain=False)
        bound = self.supposed_arguments(function, tracer)
        names = [parameter.arg for parameter in positional_parameters(function.node)]
        if cls is not None and function in _unflattening(cls):
            # The class, for a class method; then the auxiliary data; then the leaves.
            bound.update((name, Unknown(Origin(name))) for name in names[:-1])
        elif cls is not None and names and takes_receiver(written.node, cls.node, function.kind):
            bound[names[0]] = _some_object(cls, tracer)
        elif cls is not None and written is not function and function.node.args.vararg is not None:
            # The wrapper above the method passes its arguments on.
            rest = [tracer for _ in positional_parameters(written.node)[1:]]
            bound[function.node.args.vararg.arg] = TupleValue([_some_object(cls, tracer), *rest])
        stage = Stage("supposed", True, False, why)
        with Guessing(self.machine):
            result = self.function_calls.run_function(function, bound, None, None, stage, "supposed")
            if function.name == "at" and isinstance(result, Instance):
                self.suppose_updates(result, tracer, stage)
            self.machine.language.drain()

    def suppose_updates(self, at: Instance, tracer: Array, stage: Stage) -> None:
        """Evaluates `at[i].set(x)` and the like for an object that stands for an array."""
        item = at.cls.lookup("__getitem__")
        place = self.suppose_method(item, at, tracer, stage) if isinstance(item, Function) else None
        if isinstance(place, Instance):
            for name in AT_UPDATES:
                method = place.cls.lookup(name)
                if isinstance(method, Function):
                    self.suppose_method(method, place, tracer, stage)

    def suppose_method(self, method: Function, receiver: Instance, tracer: Array, stage: Stage) -> Value:
        bound = self.supposed_arguments(method, tracer)
        bound.update((parameter.arg, receiver) for parameter in positional_parameters(method.node)[:1])
        return self.function_calls.run_function(method, bound, None, None, stage, "supposed")

    def supposed_arguments(self, function: Function, tracer: Array) -> dict[str, Value]:
        """Tracers, except for trailing parameters that the function does not use as arrays: a caller passes anything
        there, such as None for `args`."""
        parameters = all_parameters(function.node)
        names = [parameter.arg for parameter in parameters]
        read = {part.id for part in name_loads(function.node)}
        needed = max((place for place, name in enumerate(names) if name in read), default=len(names))
        unused = names[needed + 1 :]
        arguments = function.node.args
        bound: dict[str, Value] = {}
        for parameter in parameters:
            name = parameter.arg
            default = function.defaults.get(name)
            switch = isinstance(default, Static) and isinstance(default.const, (bool, str))
            if switch or is_static_type(parameter.annotation) or name in unused:
                bound[name] = Unknown(Origin(name))
            elif parameter is arguments.vararg:
                bound[name] = TupleValue(None, tracer)
            elif parameter is arguments.kwarg:
                bound[name] = DictValue({}, tracer)
            else:
                bound[name] = replace(tracer, origin=Origin(name), mixed=default is not None)
        return bound


def _some_object(cls: ClassValue, tracer: Array) -> Instance:
    """An object of which only the class is known."""
    return Instance(cls, {}, True, None, ready=True, staged=tracer if is_pytree(cls) else None)


def _stands_for_an_array(cls: ClassValue) -> bool:
    """Whether code written for arrays accepts its objects as arrays."""
    return all(isinstance(cls.namespace.get(name), Function) for name in ("shape", "dtype"))


def _written(function: Function) -> Function:
    """The function as written, from the result of its decorators."""
    while (inner := _function_in(function.wraps)) is not None and inner is not function:
        function = inner
    return function


def _function_in(value: Value | None) -> Function | None:
    """The function in a value: the value itself, or what it wraps."""
    while not isinstance(value, Function):
        if isinstance(value, (BoundMethod, Partial)):
            value = value.function
        elif isinstance(value, Transformed):
            value = value.target
        else:
            return None
    return value


def _unflattening(cls: ClassValue) -> list[Function]:
    """The function by which JAX builds an instance from its leaves."""
    registered = registration(cls)
    known = [cls.lookup("tree_unflatten"), registered.unflatten if registered is not None else None]
    return [function for function in map(_function_in, known) if function is not None]


def _tree_functions(cls: ClassValue) -> list[Function]:
    """All functions by which JAX flattens an instance and builds it again."""
    registered = registration(cls)
    flatten = [cls.lookup("tree_flatten"), cls.lookup("tree_flatten_with_keys")]
    flatten += registered.flatten if registered is not None else ()
    return [function for function in map(_function_in, flatten) if function is not None] + _unflattening(cls)
