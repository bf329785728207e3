"""Methods of arrays and containers."""

from __future__ import annotations

import contextlib
import string
from collections.abc import Callable
from typing import Any

from jaxlint.staging.evaluator.comparisons import Comparisons
from jaxlint.staging.evaluator.container_methods import SEARCHES, ContainerMethods
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.environment import converted
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    DictValue,
    ExternalMethod,
    ExternalObject,
    ListValue,
    NumpyArray,
    Setting,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
)
from jaxlint.staging.values.call import Call

# String methods that fold to a constant for constant arguments.
_OF_TEXT = frozenset(
    """
    capitalize casefold endswith lower lstrip removeprefix removesuffix replace rstrip startswith strip title upper
    """.split()  # noqa: SIM905
)


# Methods with which programs read a flag in any letter case.
_SPELLINGS: dict[str, Callable[[Any], object]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "casefold": str.casefold,
}


def _number_fields(text: object) -> frozenset[int]:
    """Positions of arguments that `text.format(...)` formats as numbers, as in "{:.2f}"."""
    found: set[int] = set()
    if isinstance(text, str):
        with contextlib.suppress(ValueError):
            fields = [f for f in string.Formatter().parse(text) if f[1] is not None]
            for position, (_, name, spec, conversion) in enumerate(fields):
                if spec and not conversion and (not name or name.isdigit()):
                    found.add(int(name) if name else position)
    return frozenset(found)


class Methods(Part):
    """Evaluates calls of methods."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.container_methods = machine.part(ContainerMethods)
        self.instances = machine.part(Instances)
        self.externals = machine.part(Externals)
        self.conversions = machine.part(Conversions)
        self.comparisons = machine.part(Comparisons)
        self.operators = machine.part(Operators)

    def call_method(self, callee: ExternalMethod, call: Call) -> Value:
        """The result of a method call, by the type of the receiver."""
        args, node, frame = call.args, call.node, call.frame
        receiver, name = callee.receiver, callee.name
        if isinstance(receiver, Transformed):
            return self.machine.staging.call_transformed_method(receiver, name, call)
        if isinstance(receiver, (Array, AtIndexer, NumpyArray)):
            return self.machine.arrays.array_method(receiver, name, call)
        if isinstance(receiver, ListValue):
            return self.container_methods.list_method(receiver, name, args, node, frame)
        if isinstance(receiver, DictValue):
            return self.container_methods.dict_method(receiver, name, call)
        if isinstance(receiver, TupleValue):
            if name in SEARCHES and args:
                self.comparisons.look_for(args[0], receiver, name, node, frame)
            return Static(kind="int") if name in ("index", "count") else UNKNOWN
        if isinstance(receiver, ExternalObject):
            return self.externals.external_object_method(receiver, name, call)
        if isinstance(receiver, Setting) and name in _SPELLINGS and not args:
            return converted(receiver, _SPELLINGS[name])
        if isinstance(receiver, Static):
            numeric = _number_fields(receiver.const) if name == "format" else frozenset()
            for position, value in enumerate(args):
                how = "format" if position in numeric else "format_method" if name == "format" else "str"
                self.conversions.convert(value, node, how, frame)
            if name == "split":
                return ListValue(None, Static(kind="str"))
            folded = _text_method(receiver, name, args)
            if folded is not None:
                return folded
            textual = ("join", "format", "lower", "upper", "strip", "replace", "rstrip", "lstrip", "title")
            return Static(kind="str" if name in textual else "")
        return UNKNOWN


def _text_method(text: Static, name: str, args: list[Value]) -> Static | None:
    """The result of a method of a known string, if its arguments are known."""
    given = [constant(value) for value in args]
    if name not in _OF_TEXT or not isinstance(text.const, str) or MISSING in given:
        return None
    try:
        return Static(getattr(text.const, name)(*given))
    except TypeError:
        return None
