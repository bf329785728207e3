"""Python values that are not arrays and hold none, and the identities of values."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from jaxlint.staging.values.sizes import Size

_counter = itertools.count()


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
ANY_NAME: Final = "*"  # a field: the attributes of an object under unknown names
CONTENT: Final = "[]"  # likewise: the contents of an object whose class derives from a container


class Sentinel:
    """The result of `object()`: a constant that equals only itself."""


class Origin:
    """The identity of a value: a parameter, a fresh key, or a named part of another origin."""

    __slots__ = ("batch", "children", "name", "parent", "serial", "several", "size", "split_of")

    def __init__(self, name: str, parent: Origin | None = None, batch: bool = False) -> None:
        self.name = name
        self.parent = parent
        self.batch = batch  # the result of jax.random.split: each part is a separate key
        self.split_of: Origin | None = None  # the key that was split
        self.several = False  # it stands for several values: the rest of an unpacked sequence
        self.children: dict[object, Origin] = {}
        self.size: Size | None = None  # its size as a dimension, once it has been one
        self.serial = next(_counter)

    def child(self, part: object) -> Origin:
        """The origin of a part. The same part always has the same origin."""
        found = self.children.get(part)
        if found is None:
            label = f"[{part!r}]" if not isinstance(part, str) or self.batch else f".{part}"
            found = self.children[part] = type(self)(self.name + label, self)
        return found

    def without(self, parts: Iterable[object]) -> Origin | None:
        """The identity of a copy whose fields `parts` are new and whose other fields are unchanged; None if no field
        is named.

        The field of a position is unknown.
        """
        kept: dict[object, Origin] = {
            part: child
            for part, child in self.children.items()
            if isinstance(part, str) and part not in parts
        }
        if not kept:
            return None
        copy = Origin(self.name)
        copy.children = kept
        return copy

    def rebind(self, part: object) -> None:
        """Records that something else is stored as `part`; MISSING stands for an unknown part."""
        if part is MISSING:
            self.children.clear()
        else:
            self.children.pop(part, None)

    def root(self) -> Origin:
        node = self
        while node.parent is not None:
            node = node.parent
        return node


class Document(Origin):
    """The identity of what a JSON, YAML or TOML document holds: lists, dicts, text and numbers, and no tuples."""

    __slots__ = ()


class OptionalName(str):
    """The name of a keyword argument that is passed on some paths only."""

    __slots__ = ()


class Value:
    """Base class of all abstract values."""

    __slots__ = ()


class Activation:
    """A call under evaluation, as far as values know it. `Frame` implements it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """How an array depends on a differentiated value: through the loop `node`, if there is one."""

    node: ast.AST | None = None
    frame: Activation | None = None
    api: str = ""


TANGENT: Final = Flow()


MAX_STEPS: Final = 1000  # of a `Measured`: a sum of itself, sixty times, would take 2**60


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """How a number, or a tuple of numbers, was derived from dimensions. Its value is computed on demand.

    `how`: "axis", "size", "rank" or "shape" (from `start` to `stop`) of an array; "+", "*" ... of two numbers;
    "joined" for two concatenated tuples; "named" for a number with the name of an unknown value.
    """

    how: str
    of: tuple[Value, ...]
    start: int | None = None  # for "shape"; for "axis", the axis
    stop: int | None = None
    steps: int = field(init=False)  # to compute it, as a tree; a number used twice counts twice

    def __post_init__(self) -> None:
        steps = 1 + sum(one.steps for one in map(_measured, self.of) if one is not None)
        object.__setattr__(self, "steps", min(steps, MAX_STEPS + 1))

    @property
    def endless(self) -> bool:
        """Whether it takes too many steps to compute: then it is unknown."""
        return self.steps > MAX_STEPS


def _measured(value: Value) -> Measured | None:
    found = getattr(value, "measured", None)
    return found if isinstance(found, Measured) else None


@dataclass(slots=True, eq=False)
class Unknown(Value):
    origin: Origin | None = None
    flow: Flow | None = None  # as in `Array`
    true: bool = False  # a test decided it
    made_of: tuple[Value, ...] = ()  # functions among the arguments of the unknown call that returned this
    answer: bool = False  # as in `Array`
    measured: Measured | None = None  # as in `Static`


class StarArgument(Unknown):
    """`*args` of unknown length at a call. `element` is the value of each of them; `sizes`: they are this shape, or part
    of one."""

    __slots__ = ("element", "sizes")

    def __init__(self, element: Value, sizes: Measured | None = None) -> None:
        super().__init__(None)
        self.element = element
        self.sizes = sizes


UNKNOWN: Final = Unknown()
ANSWER: Final = Unknown(answer=True)


@dataclass(slots=True, eq=False)
class Static(Value):
    """An ordinary Python value. `const` is the value itself if it is known, otherwise MISSING."""

    const: Any = MISSING
    # The type, if only that is known: "range", "str", "int" ...; "key" for a dict key, most likely a string.
    kind: str = ""
    one_of: tuple[str, ...] = ()  # the strings that it may be, if they are few and known and it is not None
    truth: bool | None = None  # what a test said about an unknown value
    measured: Measured | None = None  # it is a dimension, or computed from dimensions


@dataclass(slots=True, eq=False)
class Shim(Static):
    """The result of a version test, or of a test for a name that a version may lack."""


@dataclass(slots=True, eq=False)
class Setting(Static):
    """The value of an environment variable, or what follows from it. `default` applies if the variable is not set."""

    default: Any = MISSING


@dataclass(slots=True, eq=False)
class DType(Static):
    """A dtype object with a known name, such as `x.dtype`."""

    name: str = ""


@dataclass(slots=True, eq=False)
class TreeDef(Static):
    """The structure of a pytree: that of `template`, whatever its leaves."""

    template: Value | None = None


@dataclass(slots=True, eq=False)
class Reading(Static):
    """A clock reading, and the state of the ledger (`staging/tracking/timing.py`) at that moment."""

    clock: str = ""
    node: ast.AST | None = None
    frame: Activation | None = None
    serial: int = 0
    settled: int = 0
    loops: int = 0  # the number of enclosing loops of its frame


STATICS: Final[frozenset[type]] = frozenset({Static, Shim, Setting, DType, Reading, TreeDef})


def some(constant: object) -> Static:
    """What is known about a constant that is also set to something else: its type; nothing if it starts as None."""
    return Static(kind=type(constant).__name__ if constant is not None else "")


def is_number(value: Static) -> bool:
    return kind_of_static(value) in ("int", "float", "complex")


def counts_on(old: Value | None, new: Value) -> bool:
    """Whether a number has become another one, as a counter does."""
    numbers = (int, float)
    if type(old) is not Static or type(new) is not Static:
        return False
    return type(old.const) in numbers and type(new.const) in numbers and old.const != new.const


def without_number(value: Value) -> Value:
    """Any number of the same kind."""
    known = type(value) is Static and type(value.const) in (int, float)
    return Static(kind=type(value.const).__name__) if known and type(value) is Static else value


def kind_of_static(value: Static) -> str:
    if value.kind or value.const is MISSING:
        return value.kind
    return type(value.const).__name__


def of_document(value: Value) -> bool:
    """Whether it is an unknown part of a document."""
    return isinstance(value, Unknown) and isinstance(value.origin, Document)


def hashable(value: object) -> bool:
    """Whether a constant can be a dict key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_text(value: Value) -> bool:
    """Whether it is a string or bytes, known or unknown."""
    return isinstance(value, Static) and (
        isinstance(value.const, (str, bytes)) or value.kind in ("str", "key")
    )


def is_none(value: Value) -> bool:
    """Whether it is the constant None."""
    return isinstance(value, Static) and value.const is None
