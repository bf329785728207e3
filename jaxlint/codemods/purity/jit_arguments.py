"""What the calls of a function hand to it, on all paths: a compiled one takes arrays, numbers and trees of these, and what is static by `hash`.

A run shows the calls that it made. A string in the place of an array, a list in that of a tuple, may come behind a flag.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, parameters
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMPY,
    TEXT,
    TYPE,
    Box,
    Cls,
    Fn,
    Inst,
    Value,
    Values,
    Wrapped,
)

_UNHASHABLE = frozenset({"list", "dict", "set"})
_DATACLASSES = ("dataclasses.dataclass", "flax.struct.dataclass", "chex.dataclass")


class Handed:
    """Whether `jit` takes what every call gives."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible = possible

    def problems(
        self, function: FunctionNode, file: File, static: Set[str], *, filtered: bool = False
    ) -> Iterator[str]:
        """What a call gives and `jit` does not take, in words. `filtered`: what is no array is static, as equinox has it."""
        for parameter in parameters(function):
            values = self.possible.of_parameter(parameter, file)
            name = parameter.arg
            if name in static and not filtered:
                what = self._not_static(values)
                if what is not None:
                    yield f"`{name}` may be {what}"
                if (cls := self._equal_to_others(values)) is not None:
                    yield f"`{name}` may be a `{cls}`, of which two are equal that are not the same: a compiled function takes one for the other"
            elif values - {TEXT, TYPE} and (what := _not_traced(values, filtered)) is not None:
                yield f"`{name}` may be {what}, which a compiled function does not take"

    def _not_static(self, values: Values) -> str | None:
        for value in values:
            if value in (ARRAY, NUMPY):
                return "an array, which has no hash and cannot be static"
            if isinstance(value, Box) and value.kind in _UNHASHABLE:
                return f"a {value.kind}, which has no hash and cannot be static"
            if isinstance(value, Box) and (what := self._not_static(value.parts())) is not None:
                return what
        return None

    def _equal_to_others(self, values: Values) -> str | None:
        """A class whose objects are equal though they differ in something that is read."""
        for value in values:
            if not isinstance(value, Inst):
                continue
            for cls in self.possible.classes.heirs(value.cls):
                if self.possible.classes.member(cls, "__eq__") is not None or self._leaves_out(cls):
                    return cls.node.name
        return None

    def _leaves_out(self, cls: Cls) -> bool:
        """Whether a dataclass does not compare all of its fields."""
        decorators = [one.func if isinstance(one, ast.Call) else one for one in cls.node.decorator_list]
        if not any(self.possible.name_of(one, cls.file).startswith(_DATACLASSES) for one in decorators):
            return False
        return any(
            keyword.arg == "compare" and getattr(keyword.value, "value", None) is False
            for statement in cls.node.body
            for call in ast.walk(statement)
            if isinstance(call, ast.Call)
            for keyword in call.keywords
        )


def _not_traced(values: Values, filtered: bool) -> str | None:
    for value in values:
        if isinstance(value, Box):
            if value.kind in ("generator", "iterator") or (value.kind == "set" and not filtered):
                return f"{'an' if value.kind == 'iterator' else 'a'} {value.kind}"
            if (what := _not_traced(value.parts(), filtered)) is not None:
                return what
        elif not filtered and (what := _of_no_array(value)) is not None:
            return what
    return None


def _of_no_array(value: Value) -> str | None:
    if value == TEXT:
        return "a string, or hold one"
    if value == TYPE:
        return "a class or dtype, or hold one"
    return "a function, or hold one" if isinstance(value, Fn | Cls | Wrapped) else None
