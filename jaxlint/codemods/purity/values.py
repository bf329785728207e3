"""What expressions may be, over all paths of a program: functions, objects of classes, arrays, numbers and containers of these."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from jaxlint.codemods.name_scopes import Scope
from jaxlint.codemods.purity.program import File, FunctionNode


@dataclass(frozen=True, slots=True)
class Plain:
    """A value of one kind: "array" (of JAX), "numpy", "number" (of Python, or a truth value), "text", "none", "type", "key"."""

    kind: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything. `why` says what it comes from, for a reader."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Fn:
    """A function of the program. `receiver`: the object that a method is bound to."""

    node: FunctionNode
    file: File
    receiver: Inst | None = None


@dataclass(frozen=True, slots=True)
class Cls:
    node: ast.ClassDef
    file: File


@dataclass(frozen=True, slots=True)
class Inst:
    """An object of a class of the program."""

    cls: Cls


@dataclass(frozen=True, slots=True)
class Ext:
    """A function, class or module outside of the program, by its canonical name."""

    name: str


@dataclass(frozen=True, slots=True)
class Made:
    """What calling the external `name` gave, where that is neither array nor function. `given`: what of the program it may call."""

    name: str
    given: Values = frozenset()


@dataclass(frozen=True, slots=True)
class Method:
    """A method of something that is no object of the program's classes."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A file of the program, as an import binds it."""

    file: File


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What a transformation gave: called like `inner`."""

    how: str
    inner: Values
    given: int = 0  # positional arguments that `functools.partial` gives it


@dataclass(frozen=True, slots=True)
class Box:
    """A container of Python: "list", "tuple", "dict", "set", "iterator", "generator". `items` in order, where it is written out; keys in `keys`."""

    kind: str
    items: tuple[Values, ...] | None
    rest: Values
    keys: tuple[object, ...] = ()

    def parts(self) -> Values:
        found: Values = self.rest
        for one in self.items or ():
            found |= one
        return found


Value = Plain | Unknown | Fn | Cls | Inst | Ext | Made | Method | Whole | Wrapped | Box
Values = frozenset[Value]

ARRAY, NUMPY, NUMBER, TEXT, NONE, TYPE = (
    Plain(kind) for kind in ("array", "numpy", "number", "text", "none", "type")
)
NOTHING: Values = frozenset()
FILLED = frozenset({"list", "dict", "set"})  # containers that more can be put into
_DEPTH = 4
_MOST = 24


def one(value: Value) -> Values:
    return frozenset((value,))


def unknown(why: str = "") -> Values:
    return frozenset((Unknown(why),))


def depth_of(values: Values) -> int:
    """How deeply containers lie in each other."""
    deepest = 0
    for value in values:
        if isinstance(value, Box):
            deepest = max(deepest, 1 + depth_of(value.parts()))
        elif isinstance(value, Wrapped):
            deepest = max(deepest, 1 + depth_of(value.inner))
        elif isinstance(value, Made):
            deepest = max(deepest, 1 + depth_of(value.given))
    return deepest


def bounded(values: Values) -> Values:
    """The same, or unknown where it grows without end."""
    if len(values) > _MOST or depth_of(values) > _DEPTH:
        return unknown()
    return values


def holding(values: Values, more: Values) -> Values:
    """Containers that hold more than they were made with."""
    return frozenset(
        Box(value.kind, value.items, value.rest | more, value.keys)
        if isinstance(value, Box) and value.kind in FILLED
        else value
        for value in values
    )


def leaves_of(values: Values) -> Values:
    """What containers hold, however deep."""
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Box):
            found |= leaves_of(value.parts())
        else:
            found.add(value)
    return frozenset(found)


def is_certain(values: Values) -> bool:
    """Whether it is known what the values are."""
    return bool(values) and not any(isinstance(value, Unknown) for value in leaves_of(values))


def kinds_of(values: Values) -> set[str]:
    """In words, for those that are plain: "array", "numpy", "number" ...; "unknown" and "object" for others."""
    return {
        value.kind if isinstance(value, Plain) else "unknown" if isinstance(value, Unknown) else "object"
        for value in leaves_of(values)
    }


@dataclass(frozen=True, slots=True)
class Place:
    """A variable: a name in a scope of a file."""

    file: File
    scope: Scope
    name: str

    def __hash__(self) -> int:
        return hash((id(self.scope), self.name))
