"""Containers, functions, classes, objects and names of libraries, and the scopes that hold them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from jaxlint.staging.project import Module
from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.class_models import DATACLASS, PLAIN, ClassModel
from jaxlint.staging.values.plain import UNKNOWN, Flow, Measured, Origin, Static, Value, _counter
from jaxlint.staging.values.stage import Stage, Why

_serials = itertools.count(1)


class Scope:
    """The variables of one function, class body or module; closures hold on to it by reference.

    `variables` is replaced (never mutated in place) at branches, so a join sees both versions. `stage`: where the call
    runs that opened it, of the scope of a function.
    """

    __slots__ = (
        "globals",
        "is_class",
        "is_module",
        "nonlocals",
        "parent",
        "serial",
        "stage",
        "stars",
        "variables",
    )

    def __init__(
        self,
        parent: Scope | None,
        *,
        is_class: bool = False,
        is_module: bool = False,
        stage: Stage | None = None,
    ) -> None:
        self.serial = next(_serials)  # unlike `id`, never used again
        self.parent = parent
        self.stage = stage
        self.variables: dict[str, Value] = {}
        self.is_class = is_class
        self.is_module = is_module
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.stars: list[External] = []  # what `from ... import *` took from outside of the project

    def lookup(self, name: str) -> tuple[Value, Scope] | None:
        """The value of `name` and the scope that holds it; class scopes are seen from their own body alone."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if (first or not scope.is_class) and name in scope.variables:
                return scope.variables[name], scope
            first = False
            scope = scope.parent
        return None

    def value_of(self, name: str) -> Value | None:
        """The value of `name`, wherever it is held; None where nothing is known to hold it."""
        found = self.lookup(name)
        return found[0] if found is not None else None

    def from_star(self, name: str) -> External | None:
        """What `name` may be that a star import from outside of the project has brought into this module."""
        return External(f"{self.stars[0].name}.{name}") if self.stars else None

    def module_scope(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def target_scope(self, name: str) -> Scope:
        """The scope that an assignment to `name` writes to."""
        if name in self.globals:
            return self.module_scope()
        if name in self.nonlocals and self.parent is not None:
            found = self.parent.lookup(name)
            return found[1] if found else self.parent
        return self


MAX_WEIGHT = (
    50_000  # values in a container, each counted wherever it lies; of what is heavier the items are not known
)


def weight_of(value: Value) -> int:
    """How many values lie in it. What goes through containers part by part visits as many."""
    kind = type(value)
    return value.weight if kind is TupleValue or kind is ListValue or kind is DictValue else 1  # type: ignore[attr-defined]


def weight_of_all(values: Collection[Value]) -> int:
    """The sum of their weights. Most hold nothing, and count as one."""
    weight = len(values)
    for value in values:
        if type(value) in CONTAINERS:
            weight += value.weight - 1  # type: ignore[attr-defined]
    return weight


@dataclass(slots=True, eq=False)
class _Sequence(Value):
    """What lists and tuples have in common."""

    items: list[Value] | None
    element: Value = UNKNOWN
    weight: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        if self.items:
            self.weight += weight_of_all(self.items)
            if self.weight > MAX_WEIGHT:
                self.items, self.element, self.weight = None, UNKNOWN, 1
        elif type(self.element) in CONTAINERS:
            self.weight += weight_of(self.element)

    def elements(self) -> list[Value]:
        """What it holds: item by item where that is known, else one value for all."""
        return self.items if self.items is not None else [self.element]


@dataclass(slots=True, eq=False)
class ListValue(_Sequence):
    """A list, or another mutable sequence or set; `items` is None once its length is not known."""

    kind: str = "list"  # "steps": a generator that runs a compiled function for each item
    depth: int = 0  # call depth of the frame that made it; writes from deeper stages are leaks
    stage: object = None
    either: tuple[ListValue, ...] = ()  # it is one of these: what is put into it is perhaps put into that
    serial: int = field(init=False, default_factory=_counter.__next__)  # as of origins: when it was made


@dataclass(slots=True, eq=False)
class TupleValue(_Sequence):
    """A tuple, a named one, or what `*args` stands for; `items` is None where its length is not known."""

    cls: ClassValue | None = None  # a NamedTuple
    exact: bool = True  # False: `cls` stands for any of several classes with the same fields
    # Of `items` that are not known, the first that are, and what the others hold: as `(self, *args)`.
    head: tuple[Value, ...] = ()
    tail: Value | None = None
    measured: Measured | None = None  # it is a shape, or a part of one


@dataclass(slots=True, eq=False)
class DictValue(Value):
    """A dict; `items` holds what is known by constant key, `element` joins the rest.

    `optional`: the keys of `items` that are there on some paths alone.
    """

    items: dict[Any, Value]
    element: Value | None = None
    stage: object = None
    optional: frozenset[Any] = frozenset()
    serial: int = field(init=False, default_factory=_counter.__next__)
    weight: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        if self.items:
            self.weight += weight_of_all(self.items.values())
            if self.weight > MAX_WEIGHT:
                self.items, self.element, self.weight = {}, UNKNOWN, 1

    def elements(self) -> list[Value]:
        return [*self.items.values(), *([self.element] if self.element is not None else [])]


@dataclass(slots=True, eq=False)
class Function(Value):
    """A `def` or lambda with its captured scope."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: Module
    scope: Scope
    qualname: str
    cls: ClassValue | None = None
    defaults: dict[str, Value] = field(default_factory=dict)
    kind: str = ""  # "staticmethod", "classmethod", "property", "fixture"
    wraps: Value | None = None
    stand_in: bool = (
        False  # made for other arguments than it is taken for: nothing is reported of what it does
    )
    cached: bool = False  # by `functools.cache`, so that its arguments are hashed
    setter: Function | None = None  # of a property: what an assignment calls
    tables: list[ExternalObject] = field(default_factory=list)  # the tables of cases that a test is run over

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")


@dataclass(slots=True, eq=False)
class BoundMethod(Value):
    function: Value
    receiver: Value


@dataclass(slots=True, eq=False)
class Partial(Value):
    function: Value
    args: list[Value]
    kwargs: dict[str, Value]


@dataclass(slots=True, eq=False)
class Field:
    """A declared field of a dataclass-like class."""

    name: str
    static: bool
    annotation: ast.expr | None
    default: ast.expr | None
    node: ast.AST
    made: ExternalObject | None = None  # what `field(...)` gave, if it was declared with that


class Registration(NamedTuple):
    """What `register_pytree_node` and its kin were given for a class: to flatten, with keys and without, and to unflatten."""

    flatten: tuple[Value, ...]
    unflatten: Value


@dataclass(slots=True, eq=False)
class ClassValue(Value):
    """A class of the project. `model` says what its instances are to JAX and to Python."""

    node: ast.ClassDef
    module: Module
    scope: Scope
    qualname: str
    bases: list[Value]
    model: ClassModel = PLAIN
    namespace: dict[str, Value] = field(default_factory=dict)
    fields: dict[str, Field] = field(default_factory=dict)
    promises: set[str] = field(
        default_factory=set
    )  # the fields that it asks of its heirs, and has no place for
    prototype: Instance | None = None
    meta: Value | None = None  # its metaclass
    derived: bool = False  # a class of the project has it as a base
    lifts: ClassValue | None = None  # what `nn.remat` and its like made it of
    registered: Registration | None = None  # how instances are flattened and unflattened, if JAX was told
    frozen: str = ""  # the decorator that makes its instances refuse assignments
    filled: bool = False  # a decorator writes its `__init__`
    order: list[ClassValue] = field(default_factory=list, init=False)  # `mro`, once it was asked for

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def kind(self) -> str:
        """Which framework's rules its instances follow; "plain" for none."""
        return self.model.kind

    @property
    def is_module(self) -> bool:
        """Whether it is a module of a framework: it has parameters, and is called."""
        return self.model.module

    @property
    def is_ordinary(self) -> bool:
        """Whether its instances are objects of Python that no framework knows."""
        return self.model is PLAIN or self.model is DATACLASS

    def mro(self) -> list[ClassValue]:
        """This class and its project bases, in the order in which Python looks for attributes."""
        if not self.order:
            bases = [base for base in self.bases if isinstance(base, ClassValue)]
            self.order = [self]  # while the bases are asked
            self.order += _merged([[*base.mro()] for base in bases] + [bases])
        return self.order

    def lookup(self, name: str) -> Value | None:
        for cls in self.mro():
            if name in cls.namespace:
                return cls.namespace[name]
        return None

    def constructor(self) -> Value | None:
        """Its `__init__`, unless a decorator that makes it a dataclass writes one nearer than that."""
        for cls in self.mro():
            if "__init__" in cls.namespace:
                return cls.namespace["__init__"]
            if cls.filled:
                return None
        return None

    def external_bases(self) -> list[str]:
        return [base.name for cls in self.mro() for base in cls.bases if isinstance(base, External)]

    def all_fields(self) -> dict[str, Field]:
        merged: dict[str, Field] = {}
        promised: set[str] = set()
        for cls in reversed(self.mro()):
            for name in promised.intersection(cls.fields):
                del merged[name]  # it stands where an heir declares it
            merged.update(cls.fields)
            promised = (promised - cls.fields.keys()) | cls.promises
        return merged


def _merged(orders: list[list[ClassValue]]) -> list[ClassValue]:
    """C3: the first that comes after none of the others; the first at all where Python would refuse the class."""
    merged: list[ClassValue] = []
    while orders := [order for order in orders if order]:
        later = {id(cls) for order in orders for cls in order[1:]}
        cls = next((order[0] for order in orders if id(order[0]) not in later), orders[0][0])
        merged.append(cls)
        orders = [[other for other in order if other is not cls] for order in orders]
    return merged


@dataclass(slots=True, eq=False)
class Instance(Value):
    """An instance of a project class. `open`: attributes beyond `fields` may exist."""

    cls: ClassValue
    fields: dict[str, Value] = field(default_factory=dict)
    open: bool = True
    origin: Origin | None = None
    ready: bool = False  # `setup` has been run
    staged: Array | None = None  # crossed a staging boundary: unknown fields are tracers like this one
    serial: int = field(init=False, default_factory=_counter.__next__)


@dataclass(slots=True, eq=False)
class ModuleValue(Value):
    """A module of the project, and its variables."""

    module: Module
    scope: Scope


@dataclass(slots=True, eq=False)
class External(Value):
    """A name of a library outside the project, by its canonical dotted path.

    `own`: what the project itself defines under this name, when it is that library.
    """

    name: str
    own: Value | None = None


@dataclass(slots=True, eq=False)
class ExternalObject(Value):
    """The result of calling something external that is not an array: a flax layer, an optimiser, a logger."""

    name: str
    args: list[Value] = field(default_factory=list)
    kwargs: dict[str, Value] = field(default_factory=dict)
    node: ast.AST | None = None
    staged: Array | None = None  # its arrays are tracers: a layer that crossed a staging boundary
    own: Value | None = None  # as of `External`
    flow: Flow | None = None  # of the arrays of a layer
    answer: bool = False  # as of an array: a function gave it


@dataclass(slots=True, eq=False)
class ExternalMethod(Value):
    """An attribute of an external object or of an array, about to be called."""

    receiver: Value
    name: str


@dataclass(slots=True, eq=False)
class AtIndexer(Value):
    """`x.at` (and `x.at[i]` with `indexed`)."""

    array: Array
    indexed: bool = False


@dataclass(slots=True, eq=False)
class Choice(Value):
    """One of several functions or objects: what two branches bound, or (with `every`) each of a sequence in turn."""

    options: list[Value]
    every: bool = False


@dataclass(slots=True, eq=False)
class Transformed(Value):
    """A function under a transformation: the result of `jax.jit(f)`, `jax.vmap(f)`, `jax.grad(f)` ..."""

    kind: str  # key of jaxlint.jaxapi.transforms.TRANSFORMS
    api: str  # the name that was called, for messages: "jax.jit"
    target: Value
    options: dict[str, Value]
    node: ast.AST
    module: Module
    why: Why
    label: str = ""  # how the user would name the function
    attributes: dict[str, Value] = field(default_factory=dict)
    nesting: int = field(init=False, default=0)  # how many transformations lie in it

    def __post_init__(self) -> None:
        if isinstance(self.target, Transformed):
            self.nesting = self.target.nesting + 1


def member_kind(member: Value) -> str:
    """ "staticmethod", "classmethod" or "property" where one stands above a method, transformed or not, else ""."""
    while isinstance(member, (Transformed, Partial)):
        if isinstance(member, Transformed):
            for kind in ("staticmethod", "classmethod", "property"):
                if kind in member.attributes:
                    return kind
        member = member.target if isinstance(member, Transformed) else member.function
    return member.kind if isinstance(member, Function) else ""


def innermost(target: Value) -> tuple[Function | None, int, set[str]]:
    """The function at the core of a target, how many leading parameters are filled, and which names are bound."""
    skipped = 0
    names: set[str] = set()
    while not isinstance(target, Function):
        if isinstance(target, BoundMethod):
            skipped += 1
            target = target.function
        elif isinstance(target, Partial):
            skipped += len(target.args)
            names.update(target.kwargs)
            target = target.function
        elif isinstance(target, Transformed):
            target = target.target
        elif isinstance(target, Instance):
            call = target.cls.lookup("__call__")
            if not isinstance(call, (Function, Transformed)):
                return None, 0, names
            skipped += 1
            target = call
        else:
            return None, 0, names
    return target, skipped, names


def bound_to(member: Value, receiver: Value, cls: Value) -> Value:
    """A method of `cls` as `receiver` has it: static methods as they are, class methods bound to the class."""
    kind = member_kind(member)
    if kind == "staticmethod":
        return member
    return BoundMethod(member, cls if kind == "classmethod" else receiver)


# What may be called, or asked for a method: two of these join to a choice.
CALLABLE = (
    Function,
    BoundMethod,
    Partial,
    Transformed,
    ClassValue,
    Instance,
    External,
    ExternalMethod,
    Choice,
)
# What is an ordinary Python value, as far as a trace is concerned.
StaticLike = (
    Static,
    NumpyArray,
    Function,
    BoundMethod,
    Partial,
    ClassValue,
    Instance,
    ModuleValue,
    External,
    ExternalObject,
    ExternalMethod,
    Transformed,
    Choice,
)
# By their exact types, which is the quickest question, since this is asked millions of times. (None has heirs but
# `Static` and `Unknown`.)
CONTAINERS: Final[frozenset[type]] = frozenset({TupleValue, ListValue, DictValue})
_WITH_PARTS: Final[frozenset[type]] = CONTAINERS | {Instance}


def is_plain_object(value: Value) -> bool:
    """An instance of a class of the project that does not say what its truth is: it is true."""
    if not isinstance(value, Instance):
        return False
    bases = [base for cls in value.cls.mro() for base in cls.bases]
    if not all(isinstance(base, ClassValue) for base in bases):
        return False
    return value.cls.lookup("__bool__") is None and value.cls.lookup("__len__") is None
