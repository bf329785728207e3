"""Containers, functions, classes, objects, library names, and the scopes that hold them."""

from __future__ import annotations

import ast
import itertools
from collections import Counter, deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from jaxlint.staging.module import Module
from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.class_models import DATACLASS, PLAIN, ClassModel
from jaxlint.staging.values.plain import UNKNOWN, Flow, Measured, Origin, Static, Value, _counter
from jaxlint.staging.values.stage import Stage, Why

_serials = itertools.count(1)


class Scope:
    """The variables of one function, class body or module. Closures hold it by reference.

    `variables` is replaced at branches, never mutated in place, so a join sees both versions. `stage`: for a
    function's scope, the stage of the call that opened it.
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
        self.serial = next(_serials)  # unlike an `id`, never reused
        self.parent = parent
        self.stage = stage
        self.variables: dict[str, Value] = {}
        self.is_class = is_class
        self.is_module = is_module
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.stars: list[External] = []  # packages outside the project that `from ... import *` names

    def lookup(self, name: str) -> tuple[Value, Scope] | None:
        """The value of `name` and the scope that holds it. Only the class body itself sees a class scope."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if (first or not scope.is_class) and name in scope.variables:
                return scope.variables[name], scope
            first = False
            scope = scope.parent
        return None

    def value_of(self, name: str) -> Value | None:
        """The value of `name` in the scope that holds it; None if no scope is known to hold it."""
        found = self.lookup(name)
        return found[0] if found is not None else None

    def from_star(self, name: str) -> External | None:
        """What `name` may be if a star import from outside the project brought it into this module."""
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
    50_000  # values in a container, counted at each place; the items of heavier containers are unknown
)


def weight_of(value: Value) -> int:
    """The number of values in it. A walk over all parts visits that many."""
    kind = type(value)
    return value.weight if kind is TupleValue or kind is ListValue or kind is DictValue else 1  # type: ignore[attr-defined]


def weight_of_all(values: Collection[Value]) -> int:
    """The sum of their weights. Most values hold nothing and count as one."""
    weight = len(values)
    for value in values:
        if type(value) in CONTAINERS:
            weight += value.weight - 1  # type: ignore[attr-defined]
    return weight


@dataclass(slots=True, eq=False)
class _Sequence(Value):
    """The common part of lists and tuples."""

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
        """Its elements: item by item if known, otherwise one value for all."""
        return self.items if self.items is not None else [self.element]


@dataclass(slots=True, eq=False)
class ListValue(_Sequence):
    """A list, or another mutable sequence or set. `items` is None once its length is unknown."""

    kind: str = "list"  # "steps": a generator that runs a compiled function for each item
    depth: int = 0  # the call depth of the frame that created it; a write from a deeper stage is a leak
    stage: object = None
    either: tuple[ListValue, ...] = ()  # it is one of these lists: an append perhaps reaches each of them
    length: int | None = None  # that of a comprehension whose `items` are unknown, until something changes it
    head: tuple[
        Value, ...
    ] = ()  # if `items` is unknown: the known first items, as in `[start, *rest]`, until then
    # like that of an origin: when it was created
    serial: int = field(init=False, default_factory=_counter.__next__)


@dataclass(slots=True, eq=False)
class TupleValue(_Sequence):
    """A tuple, a named tuple, or the tuple of `*args`. `items` is None if its length is unknown."""

    cls: ClassValue | None = None  # a NamedTuple
    exact: bool = True  # False: `cls` stands for any of several classes with the same fields
    # If `items` is unknown: the known first items, and the value of the others, as in `(self, *args)`.
    head: tuple[Value, ...] = ()
    tail: Value | None = None
    measured: Measured | None = None  # it is a shape or part of one


@dataclass(slots=True, eq=False)
class DictValue(Value):
    """A dict. `items` holds the values of known constant keys, `element` joins the others.

    `optional`: keys of `items` that exist on some paths only.
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
    stand_in: bool = False  # created for other arguments than the real ones: nothing in it is reported
    cached: bool = False  # decorated with `functools.cache`, so its arguments are hashed
    setter: Function | None = None  # the setter of a property
    tables: list[ExternalObject] = field(default_factory=list)  # the tables of cases that parametrise a test

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
    made: ExternalObject | None = None  # the result of `field(...)`, if that declared it


class Registration(NamedTuple):
    """The functions that `register_pytree_node` and similar functions received for a class: flatten, flatten with keys, and
    unflatten."""

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
    )  # fields that subclasses must provide and that this class has no slot for
    prototype: Instance | None = None
    meta: Value | None = None  # its metaclass
    derived: bool = False  # a class of the project has it as a base
    lifts: ClassValue | None = None  # what `nn.remat` and its like made from it
    # how instances flatten and unflatten, if the program registers that
    registered: Registration | None = None
    frozen: str = ""  # the decorator that makes its instances refuse assignments
    filled: bool = False  # a decorator generates its `__init__`
    order: list[ClassValue] = field(default_factory=list, init=False)  # the cached `mro`

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def kind(self) -> str:
        """The framework whose rules its instances follow; "plain" for none."""
        return self.model.kind

    @property
    def is_module(self) -> bool:
        """Whether it is a module of a framework: it has parameters and is called."""
        return self.model.module

    @property
    def is_ordinary(self) -> bool:
        """Whether its instances are plain Python objects that no framework handles."""
        return self.model is PLAIN or self.model is DATACLASS

    def mro(self) -> list[ClassValue]:
        """This class and its project bases, in method resolution order."""
        if not self.order:
            bases = [base for base in self.bases if isinstance(base, ClassValue)]
            self.order = [self]  # guards against cycles among the bases
            self.order += _merged([[*base.mro()] for base in bases] + [bases])
        return self.order

    def lookup(self, name: str) -> Value | None:
        for cls in self.mro():
            if name in cls.namespace:
                return cls.namespace[name]
        return None

    def constructor(self) -> Value | None:
        """Its `__init__`, unless a dataclass decorator generates a nearer one."""
        for cls in self.mro():
            if "__init__" in cls.namespace:
                return cls.namespace["__init__"]
            if cls.filled:
                return None
        return None

    def external_bases(self) -> list[str]:
        return [base.name for cls in self.mro() for base in cls.bases if isinstance(base, External)]

    def own_members(self) -> Iterator[tuple[str, Value]]:
        """What the body of the class binds, without the defaults of fields: a function among these is no method, since the constructor
        stores it in the object."""
        return ((name, member) for name, member in self.namespace.items() if name not in self.fields)

    def all_fields(self) -> dict[str, Field]:
        merged: dict[str, Field] = {}
        promised: set[str] = set()
        for cls in reversed(self.mro()):
            for name in promised.intersection(cls.fields):
                del merged[name]  # it stands where a subclass declares it
            merged.update(cls.fields)
            promised = (promised - cls.fields.keys()) | cls.promises
        return merged


def _merged(orders: list[list[ClassValue]]) -> list[ClassValue]:
    """C3 linearisation. Where Python would refuse the class, the first candidate is taken."""
    merged: list[ClassValue] = []
    waiting = [deque(order) for order in orders if order]
    later = Counter(id(cls) for order in orders for cls in order[1:])
    gone: set[int] = set()
    while waiting:
        cls = next((order[0] for order in waiting if not later[id(order[0])]), waiting[0][0])
        merged.append(cls)
        gone.add(id(cls))
        for order in waiting:
            while order and id(order[0]) in gone:
                order.popleft()
                if order:
                    later[id(order[0])] -= 1
        waiting = [order for order in waiting if order]
    return merged


@dataclass(slots=True, eq=False)
class Instance(Value):
    """An instance of a project class. `open`: it may have attributes beyond `fields`."""

    cls: ClassValue
    fields: dict[str, Value] = field(default_factory=dict)
    open: bool = True
    origin: Origin | None = None
    ready: bool = False  # `setup` has run
    staged: Array | None = None  # it entered a traced function: its unknown fields are tracers like this one
    published: bool = (
        False  # a function appended it to a list of its module, through which other calls change it
    )
    serial: int = field(init=False, default_factory=_counter.__next__)


@dataclass(slots=True, eq=False)
class ModuleValue(Value):
    """A module of the project, and its variables."""

    module: Module
    scope: Scope


@dataclass(slots=True, eq=False)
class External(Value):
    """The canonical dotted name of something in a library outside the project.

    `own`: the project's own definition of this name, if the project is that library.
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
    staged: Array | None = None  # its arrays are tracers: a layer that entered a traced function
    own: Value | None = None  # as in `External`
    flow: Flow | None = None  # for the arrays of a layer
    answer: bool = False  # as in `Array`: a function returned it
    changed_by: str = ""  # the compiled function that last set its arrays in place


@dataclass(slots=True, eq=False)
class ExternalMethod(Value):
    """An attribute of an external object or an array that is about to be called."""

    receiver: Value
    name: str


@dataclass(slots=True, eq=False)
class AtIndexer(Value):
    """`x.at` (and `x.at[i]` with `indexed`)."""

    array: Array
    indexed: bool = False
    index: Value | None = None


@dataclass(slots=True, eq=False)
class Choice(Value):
    """One of several functions or objects: two branches bound one each, or (with `every`) a sequence provides each in
    turn."""

    options: list[Value]
    every: bool = False


@dataclass(slots=True, eq=False)
class Transformed(Value):
    """A function under a transformation: the result of `jax.jit(f)`, `jax.vmap(f)`, `jax.grad(f)` ..."""

    kind: str  # key of jaxlint.jaxapi.transforms.TRANSFORMS
    api: str  # the name of the transformation in the source, for messages: "jax.jit"
    target: Value
    options: dict[str, Value]
    node: ast.AST
    module: Module
    why: Why
    label: str = ""  # the user's name for the function
    attributes: dict[str, Value] = field(default_factory=dict)
    nesting: int = field(init=False, default=0)  # how many transformations are nested in it

    def __post_init__(self) -> None:
        if isinstance(self.target, Transformed):
            self.nesting = self.target.nesting + 1


# Values that may be called or asked for a method: a join of two is a choice.
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
# Values that are ordinary Python values for a trace.
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
# Compare exact types: this is the fastest test, and it runs millions of times. (Only `Static` and `Unknown` have
# subclasses.)
CONTAINERS: Final[frozenset[type]] = frozenset({TupleValue, ListValue, DictValue})
_WITH_PARTS: Final[frozenset[type]] = CONTAINERS | {Instance}
