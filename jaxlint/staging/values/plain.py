"""Values of Python that are no arrays and hold none, and the identities of values."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from jaxlint.staging.values.sizes import Size

_counter = itertools.count()


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
ANY_NAME: Final = "*"  # of a field: what an object has under names that are not known
CONTENT: Final = "[]"  # the same: what an object holds whose class derives from a container


class Sentinel:
    """What `object()` makes: a constant that is itself and nothing else."""


class Origin:
    """The identity of a value: a parameter, a fresh key, or a named part of another origin."""

    __slots__ = ("batch", "children", "name", "parent", "serial", "size", "split_of")

    def __init__(self, name: str, parent: Origin | None = None, batch: bool = False) -> None:
        self.name = name
        self.parent = parent
        self.batch = batch  # the result of jax.random.split: each part is a key of its own
        self.split_of: Origin | None = None  # the key that was split
        self.children: dict[object, Origin] = {}
        self.size: Size | None = None  # as a dimension, once it was one
        self.serial = next(_counter)

    def child(self, part: object) -> Origin:
        """The origin of a part; the same part gives the same origin."""
        found = self.children.get(part)
        if found is None:
            label = f"[{part!r}]" if not isinstance(part, str) or self.batch else f".{part}"
            found = self.children[part] = Origin(self.name + label, self)
        return found

    def without(self, parts: Iterable[object]) -> Origin | None:
        """The identity of a copy in which the fields `parts` are new: the others are the same; None where none is known.

        Which field a position is, is not known.
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
        """Something else is stored as `part`; MISSING for a part that is not known."""
        if part is MISSING:
            self.children.clear()
        else:
            self.children.pop(part, None)

    def root(self) -> Origin:
        node = self
        while node.parent is not None:
            node = node.parent
        return node


class OptionalName(str):
    """The name of a keyword argument that is given on some paths alone."""

    __slots__ = ()


class Value:
    """Base class of all abstract values."""

    __slots__ = ()


class Activation:
    """A call that is being evaluated, as far as values know it: `Frame` is one."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """How an array depends on what is being differentiated: through the loop `node`, if there is one."""

    node: ast.AST | None = None
    frame: Activation | None = None
    api: str = ""


TANGENT: Final = Flow()


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """How a number came about that has to do with dimensions, or a tuple of such; it is worked out when it is asked for.

    `how`: "axis", "size", "rank" or "shape" (from `start` to `stop`) of an array; "+", "*" ... of two numbers; "joined"
    of two tuples.
    """

    how: str
    of: tuple[Value, ...]
    start: int | None = None  # of a shape; which one, of an axis
    stop: int | None = None


@dataclass(slots=True, eq=False)
class Unknown(Value):
    origin: Origin | None = None
    flow: Flow | None = None  # as of an array
    true: bool = False  # a test said so
    made_of: tuple[Value, ...] = ()  # functions that something unknown was given, which gave this
    answer: bool = False  # as of an array
    measured: Measured | None = None  # as of a plain value


class StarArgument(Unknown):
    """`*args` of unknown length at a call; `element` is what it holds."""

    __slots__ = ("element",)

    def __init__(self, element: Value) -> None:
        super().__init__(None)
        self.element = element


UNKNOWN: Final = Unknown()
ANSWER: Final = Unknown(answer=True)


@dataclass(slots=True, eq=False)
class Static(Value):
    """An ordinary Python value. `const` is the value itself where it is known, else MISSING."""

    const: Any = MISSING
    # The type where it alone is known: "range", "str", "int" ...; "key" of a dict, most likely a string.
    kind: str = ""
    one_of: tuple[
        str, ...
    ] = ()  # the strings that it may be, where they are few and known, and it is not None
    truth: bool | None = None  # what a test said of a value that is not known
    measured: Measured | None = None  # it is a dimension, or computed of some


@dataclass(slots=True, eq=False)
class Shim(Static):
    """The answer to a question for the version of a library, or for a name that it may lack."""


@dataclass(slots=True, eq=False)
class Setting(Static):
    """What a variable of the environment says, or what follows from it; `default` where that is not set."""

    default: Any = MISSING


@dataclass(slots=True, eq=False)
class DType(Static):
    """A dtype object whose name is known, as of `x.dtype`."""

    name: str = ""


@dataclass(slots=True, eq=False)
class TreeDef(Static):
    """The structure of a pytree: that of `template`, whatever its leaves."""

    template: Value | None = None


@dataclass(slots=True, eq=False)
class Reading(Static):
    """The time of a clock, and where the ledger of dispatches (`staging/tracking/timing.py`) stood when it was read."""

    clock: str = ""
    node: ast.AST | None = None
    frame: Activation | None = None
    serial: int = 0
    settled: int = 0
    loops: int = 0  # how many loops of its frame it was read in


STATICS: Final[frozenset[type]] = frozenset({Static, Shim, Setting, DType, Reading, TreeDef})


def some(constant: object) -> Static:
    """What is known of a constant that is set to something else, too: its type; nothing when it is None at first."""
    return Static(kind=type(constant).__name__ if constant is not None else "")


def is_number(value: Static) -> bool:
    return kind_of_static(value) in ("int", "float", "complex")


def kind_of_static(value: Static) -> str:
    if value.kind or value.const is MISSING:
        return value.kind
    return type(value.const).__name__


def hashable(value: object) -> bool:
    """Whether a constant may be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_text(value: Value) -> bool:
    """A string, or bytes, known or not."""
    return isinstance(value, Static) and (
        isinstance(value.const, (str, bytes)) or value.kind in ("str", "key")
    )


def is_none(value: Value) -> bool:
    """The constant None."""
    return isinstance(value, Static) and value.const is None
