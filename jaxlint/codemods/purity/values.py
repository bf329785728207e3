"""The possible values of expressions over all paths of a program: functions, objects, arrays, numbers and containers
of these."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from jaxlint.codemods.purity.program import File, FunctionNode
from jaxlint.codemods.source.name_scopes import Scope


@dataclass(frozen=True, slots=True)
class Plain:
    """A value of one kind: "array" (of JAX), "numpy", "number" (a Python number or truth value), "text", "none",
    "type", "key"."""

    kind: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything. `why` says where it comes from, for a reader."""

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
    """An external function, class or module, by its canonical name."""

    name: str


@dataclass(frozen=True, slots=True)
class Made:
    """The result of calling the external `name`, if it is neither an array nor a function. `given`: the program's
    objects that it may call."""

    name: str
    given: Values = frozenset()


@dataclass(frozen=True, slots=True)
class Method:
    """A method of something that is not an object of a program class."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A file of the program, bound by an import."""

    file: File


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The result of a transformation: it is called like `inner`."""

    how: str
    inner: Values
    given: int = 0  # positional arguments bound by `functools.partial`


@dataclass(frozen=True, slots=True)
class Box:
    """A Python container: "list", "tuple", "dict", "set", "iterator", "generator". `items` in order, if they are
    written out; keys in `keys`."""

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
FILLED = frozenset({"list", "dict", "set"})  # containers that can be extended
_DEPTH = 4
_MOST = 24


def one(value: Value) -> Values:
    return frozenset((value,))


def unknown(why: str = "") -> Values:
    return frozenset((Unknown(why),))


def depth_of(values: Values) -> int:
    """The nesting depth of containers."""
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
    """The same values, or unknown if they grow without end."""
    if len(values) > _MOST or depth_of(values) > _DEPTH:
        return unknown()
    return values


def holding(values: Values, more: Values, path: tuple[object, ...] = ()) -> Values:
    """Containers with more elements than at their creation. `path`: the keys, or None for any key, that lead to those that get them."""
    return frozenset(
        _inside(value, more, path)
        if isinstance(value, Box) and path
        else Box(value.kind, value.items, value.rest | more, value.keys)
        if isinstance(value, Box) and value.kind in FILLED
        else value
        for value in values
    )


def _inside(box: Box, more: Values, path: tuple[object, ...]) -> Box:
    """A container with more elements in those that it holds."""
    first, *rest = path
    named = box.keys if box.kind == "dict" else range(len(box.items or ()))
    known = first is not None and first in named and not (isinstance(first, int) and first < 0)
    items = box.items
    if items is not None:
        items = tuple(
            holding(item, more, tuple(rest)) if not known or key == first else item
            for key, item in zip(named, items, strict=True)
        )
    return Box(box.kind, items, holding(box.rest, more, tuple(rest)), box.keys)


def leaves_of(values: Values) -> Values:
    """The contents of containers, at any depth."""
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Box):
            found |= leaves_of(value.parts())
        else:
            found.add(value)
    return frozenset(found)


def is_certain(values: Values) -> bool:
    """Whether all of the values are known."""
    return bool(values) and not any(isinstance(value, Unknown) for value in leaves_of(values))


def kinds_of(values: Values) -> set[str]:
    """Words for plain values: "array", "numpy", "number" ...; "unknown" and "object" for others."""
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
