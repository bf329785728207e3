"""State that a jitted function receives in one dtype and returns in another, so that the next call recompiles."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

from jaxlint.api import CallEvent
from jaxlint.api.values import (
    SOME_FLOAT,
    SOME_NUMBER,
    Array,
    DictValue,
    Instance,
    ListValue,
    NumpyArray,
    Static,
    Transformed,
    TupleValue,
    Value,
    certain_dtype,
    changes_dtype,
    constant,
    identity,
)

_DEEP = 4
_WORDS = {
    "int*": "weak int32",
    "float*": "weak float32",
    SOME_FLOAT: "strongly typed",
    SOME_NUMBER: "strongly typed",
}


@dataclass(frozen=True, slots=True)
class Flip:
    """A part of the state: its path, and its dtypes in the first call and in later calls."""

    place: str
    first: Value
    before: str
    after: str

    @property
    def label(self) -> str:
        return parameter_label(self.place)

    @property
    def start(self) -> str:
        """Its initial form, in words."""
        if isinstance(self.first, Static):
            return {"int*": "a Python int", "float*": "a Python float"}.get(self.before, self.before)
        return words(self.before)

    @property
    def advice(self) -> str:
        """How to start with the returned form."""
        if self.after in (SOME_FLOAT, SOME_NUMBER):
            dtype = "float32" if self.after == SOME_FLOAT or self.before == "float*" else "int32"
        else:
            dtype = self.after
        if isinstance(self.first, Static):
            number = constant(self.first)
            finite = type(number) is int or (type(number) is float and math.isfinite(number))
            return f"start at `jnp.{dtype}({number})`" if finite else f"start at a `jnp.{dtype}`"
        return f"pass `dtype=jnp.{dtype}`"


def parameter_label(place: str) -> str:
    """A parameter, or a part of one, in words: "`state.step`", or "argument 1" for "#0", which has no known name."""
    if not place.startswith("#"):
        return f"`{place}`"
    number = "".join(takewhile(str.isdigit, place[1:]))
    return f"argument {int(number) + 1}" + (f" (`{rest}`)" if (rest := place[1 + len(number) :]) else "")


def words(dtype: str) -> str:
    return _WORDS.get(dtype, dtype)


class LoopState:
    """The calls of jitted functions in a loop's first iteration, to compare with the next iteration."""

    def __init__(self) -> None:
        self.first: dict[tuple[ast.AST, object], dict[str, Value]] = {}

    def see(self, event: CallEvent, callee: Transformed, given: Mapping[str, Value]) -> Flip | None:
        """The part of the arguments that the previous call at this place has returned in another dtype."""
        key = (event.node, identity(callee))
        before = self.first.get(key)
        self.first[key] = dict(given)
        if before is None:
            return None
        bound = {
            name: dtype
            for name, value in before.items()
            if isinstance(value, (Static, Array)) and (dtype := certain_dtype(value))
        }
        for name, value in given.items():
            if name not in before:
                continue
            for place, start, now in _leaves(name, before[name], value):
                flip = _flip(place, start, now, callee.label, bound)
                if flip is not None:
                    return flip
        return None


def _flip(place: str, start: Value, now: Value, label: str, bound: Mapping[str, str]) -> Flip | None:
    if not isinstance(now, Array) or now.jitted != label or now.tree or not now.certain:
        return None
    if isinstance(start, Array) and (start.tree or start.mixed or not start.certain or start.jitted == label):
        return None
    if not isinstance(start, (Array, NumpyArray, Static)):
        return None
    one, two = certain_dtype(start), certain_dtype(now, bound)
    if not two and one.endswith("*") and now.form is not None and now.form.how == "either":
        # The value before the loop, or what the call has returned in it.
        returned = [part for part in now.form.of if isinstance(part, Array) and part.jitted == label]
        two = certain_dtype(returned[0], bound) if len(returned) == 1 else ""
    return Flip(place, start, one, two) if changes_dtype(one, two) else None


def _leaves(place: str, one: Value, two: Value, depth: int = _DEEP) -> Iterator[tuple[str, Value, Value]]:
    """The corresponding parts of two values with the same structure, each with its path."""
    if one is two or depth == 0:
        return
    if isinstance(one, (TupleValue, ListValue)) and isinstance(two, (TupleValue, ListValue)):
        if one.items is None or two.items is None or len(one.items) != len(two.items):
            return
        names = _field_names(one)
        for position, (left, right) in enumerate(zip(one.items, two.items, strict=True)):
            inner = f"{place}.{names[position]}" if position < len(names) else f"{place}[{position}]"
            yield from _leaves(inner, left, right, depth - 1)
    elif isinstance(one, DictValue) and isinstance(two, DictValue):
        for key, left in one.items.items():
            if key in two.items:
                yield from _leaves(f"{place}[{key!r}]", left, two.items[key], depth - 1)
    elif isinstance(one, Instance) and isinstance(two, Instance):
        for name, left in one.fields.items():
            if name in two.fields:
                yield from _leaves(f"{place}.{name}", left, two.fields[name], depth - 1)
    else:
        yield place, one, two


def _field_names(value: Value) -> list[str]:
    """The fields of a NamedTuple."""
    cls = value.cls if isinstance(value, TupleValue) else None
    return list(cls.all_fields()) if cls is not None else []
