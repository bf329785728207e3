"""What the calls of a function hand to it, on all paths: a compiled one takes arrays, numbers and trees of these, and what is static by `hash`.

A run shows the calls that it made. A string in the place of an array, a list in that of a tuple, may come behind a flag.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from jaxlint.codemods.purity.equal_statics import EqualStatics
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
    Value,
    Values,
    Wrapped,
)

_UNHASHABLE = frozenset({"list", "dict", "set"})


class Handed:
    """Whether `jit` takes what every call gives."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.statics = possible, EqualStatics(possible)

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
                if (what := self.statics.problem(parameter, function, file)) is not None:
                    yield f"`{name}` may be {what}: a compiled function takes one for the other"
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
