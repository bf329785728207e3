"""Binding: assigns the arguments of a call to the parameters of a project function."""

from __future__ import annotations

from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.parameters import _parameters_of
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    DictValue,
    Function,
    OptionalName,
    Origin,
    StarArgument,
    Static,
    TupleValue,
    Unknown,
    Value,
    join,
    join_all,
)
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.pytrees import is_pytree


class Binding(Part):
    """Binds arguments before the body runs."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.classes = machine.part(Classes)

    def bind(
        self,
        function: Function,
        args: list[Value],
        kwargs: dict[str, Value],
        frame: Frame | None,
    ) -> dict[str, Value] | None:
        """Parameter values for a call, in the order of the parameters; None if the call cannot be right."""
        parameters = _parameters_of(function.node)
        if len(args) == len(parameters.named) and not kwargs and parameters.takes_these_alone:
            if StarArgument not in map(type, args):  # the usual call: one argument for each parameter
                return dict(zip(parameters.named, args, strict=True))
        starred: Value | None = None  # the elements of `*args` of unknown length
        given = args
        if StarArgument in map(type, args):
            position = next(i for i, value in enumerate(args) if type(value) is StarArgument)
            given, starred = args[:position], args[position].element  # type: ignore[attr-defined]
        known = dict(zip(parameters.positional, given, strict=False))
        extra = given[len(parameters.positional) :]
        rest: dict[object, Value] = {}
        named: Value | None = None  # the values of `**kwargs` with unknown keys
        perhaps: dict[str, Value] = {}  # arguments that are passed by name on some paths only
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

        `spread`: what `*` or `**` may pass to it. `perhaps`: what some paths pass by name; if there is no other
        value, all paths pass it.
        """
        default = function.defaults.get(name)
        if perhaps is not None:
            others = default is not None or spread is not None
            return join(self.left_out(function, name, spread), perhaps) if others else perhaps
        if spread is None:
            return default if default is not None else Unknown(Origin(name))
        if default is not None:
            return join(default, fresh(spread))
        # Two parameters never receive the same element: one may be a key, another a second key.
        return fresh(spread) if not isinstance(spread, Static) else UNKNOWN

    def owner(self, function: Function, name: str, spread: Value | None, frame: Frame | None) -> Value | None:
        """The object whose method a wrapper calls as `method(*args)`, with the object among its own `*args`."""
        cls = function.cls
        if cls is None or frame is None or function.kind in ("staticmethod", "classmethod"):
            return None
        if not isinstance(spread, Array) or _parameters_of(function.node).positional[:1] != (name,):
            return None
        if not spread.staged or spread.why is None or is_pytree(cls):
            return None
        return self.classes.prototype(cls, frame)
