"""Binding: which parameter of a project function gets which value of a call."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from jaxlint.staging.evaluator.machine import Machine
from jaxlint.staging.transforms.trees import is_pytree
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    Function,
    Instance,
    OptionalName,
    Origin,
    Partial,
    StarArgument,
    Static,
    TupleValue,
    Unknown,
    Value,
    join,
    join_all,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import FunctionNode, positional_parameters, switches
from jaxlint.syntax.memo import cache


@dataclass(frozen=True, slots=True)
class _Parameters:
    """The names of a function's parameters."""

    positional: tuple[str, ...]
    named: tuple[str, ...]  # all but `*args` and `**kwargs`, in order
    keyword_only: frozenset[str]
    required: tuple[str, ...]  # the positional ones without a default
    variadic: str | None
    keywords: str | None


@cache
def _parameters_of(node: FunctionNode) -> _Parameters:
    arguments = node.args
    positional = tuple(parameter.arg for parameter in positional_parameters(node))
    keyword_only = [parameter.arg for parameter in arguments.kwonlyargs]
    return _Parameters(
        positional,
        (*positional, *keyword_only),
        frozenset(keyword_only),
        positional[: len(positional) - len(arguments.defaults)],
        arguments.vararg.arg if arguments.vararg is not None else None,
        arguments.kwarg.arg if arguments.kwarg is not None else None,
    )


class Binding(Machine):
    """The part of a call that comes before the body runs."""

    def bind(
        self,
        function: Function,
        args: list[Value],
        kwargs: dict[str, Value],
        frame: Frame | None,
    ) -> dict[str, Value] | None:
        """Parameter values for a call, in the order of the parameters; None when the call cannot be right."""
        parameters = _parameters_of(function.node)
        starred: Value | None = None  # what `*args` of unknown length holds
        given = args
        if StarArgument in map(type, args):
            position = next(i for i, value in enumerate(args) if type(value) is StarArgument)
            given, starred = args[:position], args[position].element  # type: ignore[attr-defined]
        known = dict(zip(parameters.positional, given, strict=False))
        extra = given[len(parameters.positional) :]
        rest: dict[object, Value] = {}
        named: Value | None = None  # what `**kwargs` of unknown keys holds
        perhaps: dict[str, Value] = {}  # by the names that are given on some paths alone
        for name, value in kwargs.items():
            if name in parameters.named:
                (perhaps if type(name) is OptionalName else known)[name] = value
            elif name == "**":
                named = value
            elif type(name) is not OptionalName or parameters.keywords is not None:
                rest[name] = value
        open_ended = starred if starred is not None else named
        if (extra and parameters.variadic is None and not open_ended) or (
            rest and parameters.keywords is None
        ):
            return None
        bound: dict[str, Value] = {}
        for name in parameters.named:
            found = known.get(name)
            if found is None and open_ended is None:
                found = self.left_out(function, name, None, perhaps.get(name))
            elif found is None:
                spread = named if name in parameters.keyword_only else open_ended
                found = self.owner(function, name, spread, frame) if starred is not None else None
                if found is None:
                    found = self.left_out(function, name, spread, perhaps.get(name))
            bound[name] = found
        if parameters.variadic is not None:
            bound[parameters.variadic] = (
                TupleValue(None, join_all([*extra, starred]), head=tuple(extra), tail=starred)
                if starred is not None
                else TupleValue(extra)
            )
        if parameters.keywords is not None:
            optional = frozenset([str(name) for name in rest if type(name) is OptionalName])
            if optional:
                rest = {str(name): value for name, value in rest.items()}
            bound[parameters.keywords] = DictValue(rest, named, optional=optional)
        return bound

    def left_out(
        self, function: Function, name: str, spread: Value | None, perhaps: Value | None = None
    ) -> Value:
        """The value of a parameter that no argument names on every path.

        `spread`: what `*` or `**` may give to it; `perhaps`: what is given by its name on some paths, and where it has
        no other value, on all of them.
        """
        default = function.defaults.get(name)
        if perhaps is not None:
            others = default is not None or spread is not None
            return join(self.left_out(function, name, spread), perhaps) if others else perhaps
        if spread is None:
            return default if default is not None else Unknown(Origin(name))
        if default is not None:
            return join(default, self.fresh(spread))
        # No two parameters are the same element: one may be a key, another a second key.
        return self.fresh(spread) if not isinstance(spread, Static) else UNKNOWN

    def owner(self, function: Function, name: str, spread: Value | None, frame: Frame | None) -> Value | None:
        """The object whose method is called as `method(*args)` by a wrapper that took `*args`, itself among them."""
        cls = function.cls
        if cls is None or frame is None or function.kind in ("staticmethod", "classmethod"):
            return None
        if not isinstance(spread, Array) or _parameters_of(function.node).positional[:1] != (name,):
            return None
        if not spread.staged or spread.why is None or is_pytree(cls):
            return None
        return self.prototype(cls, frame)


def lacks_arguments(function: Function, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a call gives fewer arguments than the function needs, so that it raises before anything runs."""
    left = _parameters_of(function.node).required[len(args) :]
    if not left or "**" in kwargs or all(name in kwargs for name in left):
        return False
    return not any(type(value) is StarArgument for value in args)


def binds(callee: Value) -> bool:
    """Whether it is bound to parameters of the project what a call of `callee` gives."""
    if isinstance(callee, (BoundMethod, Partial)):
        return binds(callee.function)
    if isinstance(callee, Choice):
        return all(map(binds, callee.options))
    return isinstance(callee, (Function, ClassValue, Instance))


def join_open(known: Value | None, more: Value) -> Value:
    """What `f(**a, **b)` gives to a parameter: it may be of either."""
    return more if known is None else join(known, more)


def doubt_switches(function: Function, bound: dict[str, Value], args: list[Value], node: ast.Call) -> None:
    """On one of several paths, an array at the position of a switch: the path may be for callees that have an array there."""
    for name in switches(function.node):
        value = bound.get(name)
        if not isinstance(value, Array) or not value.staged or not any(value is given for given in args):
            continue
        if not any(isinstance(given, ast.Name) and given.id == name for given in node.args):
            bound[name] = replace(value, certain=False)
