"""Abstract values: what the analysis knows of a Python value without running the program.

Three answers matter to rules: an array that is a tracer here (`Array.staged`), a value that is an ordinary Python
object (`Static` and the containers, functions and instances below), and `Unknown`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from jaxlint.staging.project import Module
    from jaxlint.staging.values.frame import Frame
    from jaxlint.staging.values.scope import Scope
    from jaxlint.staging.values.stage import Why

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

    __slots__ = ("batch", "children", "name", "parent", "serial", "split_of")

    def __init__(self, name: str, parent: Origin | None = None, batch: bool = False) -> None:
        self.name = name
        self.parent = parent
        self.batch = batch  # the result of jax.random.split: each part is a key of its own
        self.split_of: Origin | None = None  # the key that was split
        self.children: dict[object, Origin] = {}
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


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """How an array depends on what is being differentiated: through the loop `node`, if there is one."""

    node: ast.AST | None = None
    frame: Frame | None = None
    api: str = ""


TANGENT: Final = Flow()


@dataclass(slots=True, eq=False)
class Unknown(Value):
    origin: Origin | None = None
    flow: Flow | None = None  # as of an array
    true: bool = False  # a test said so
    made_of: tuple[Value, ...] = ()  # functions that something unknown was given, which gave this
    answer: bool = False  # as of an array


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
class Reading(Static):
    """The time of a clock, and where the ledger of dispatches (`staging/tracking/timing.py`) stood when it was read."""

    clock: str = ""
    node: ast.AST | None = None
    frame: Frame | None = None
    serial: int = 0
    settled: int = 0
    loops: int = 0  # how many loops of its frame it was read in


@dataclass(slots=True, eq=False)
class Operation:
    """How an array came about. `name`: as of `jax.numpy` ("exp", "add"; methods and operators too), or a full name.

    `args` is empty beyond a depth that bounds what an array keeps alive.
    """

    name: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    node: ast.AST
    depth: int = 0

    def operand(self, position: int, keyword: str = "") -> Value | None:
        """An argument by position or keyword; None when it was not given."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(keyword)


@dataclass(slots=True, eq=False)
class Array(Value):
    """A JAX array, or (with `tree`) a pytree of them whose structure is not known.

    `staged`: it is an abstract tracer here. `certain`: it is one on every run that reaches this place.
    `like`: the parameter whose shape and dtype it certainly shares. `mixed`: it is a setting (None, a bool, text) on
    other paths. `partly`: it is an array that is no tracer on other paths.
    """

    staged: bool
    why: Why | None = None
    tree: bool = False
    certain: bool = True
    origin: Origin | None = None
    like: Origin | None = None
    role: str = ""  # "key", "grad", "bool", "ref", "variables" (of a flax module), "declared" (by annotation) ... where known
    jitted: str = ""  # the jitted function whose result this is, when concrete
    dtype: str = ""  # where known; "float*" and "int*" are weak (see jaxlint.jaxapi.dtypes)
    made: Operation | None = None  # the operation that it is the result of, where one is known
    flow: Flow | None = None  # it depends on what is being differentiated
    mixed: bool = False
    partly: bool = False
    rowless: bool = False  # its first axis has no elements, so that a loop over it never runs
    answer: bool = False  # what was not read says it of tracers: perhaps whether they are some

    def known_as(self, origin: Origin) -> Array:
        """The same array under another identity. (As `dataclasses.replace`, in a fifth of the time.)"""
        return Array(
            self.staged,
            self.why,
            self.tree,
            self.certain,
            origin,
            self.like,
            self.role,
            self.jitted,
            self.dtype,
            self.made,
            self.flow,
            self.mixed,
            self.partly,
            self.rowless,
            self.answer,
        )


@dataclass(slots=True, eq=False)
class NumpyArray(Value):
    """A NumPy array or scalar on the host."""

    fresh: bool = False  # made in this function by np.zeros and the like, hence writable
    dtype: str = ""  # where known: "float64", "int64" ...
    fetched: Fetch | None = None  # it was computed by NumPy of an array of JAX
    shares: bool = False  # the memory of an array of JAX, hence it is read-only
    rowless: bool = False  # as of an array of JAX


@dataclass(frozen=True, slots=True, eq=False)
class Fetch:
    """A call of a NumPy function on an array of JAX; `jitted` as of that array."""

    node: ast.AST
    function: str
    jitted: str


MAX_WEIGHT = (
    50_000  # values in a container, each counted wherever it lies; of what is heavier the items are not known
)


def weight_of(value: Value) -> int:
    """How many values lie in it. What goes through containers part by part visits as many."""
    kind = type(value)
    return value.weight if kind is TupleValue or kind is ListValue or kind is DictValue else 1  # type: ignore[attr-defined]


@dataclass(slots=True, eq=False)
class ListValue(Value):
    """A list, or another mutable sequence or set; `items` is None once its length is not known."""

    items: list[Value] | None
    element: Value = UNKNOWN
    kind: str = "list"  # "steps": a generator that runs a compiled function for each item
    depth: int = 0  # call depth of the frame that made it; writes from deeper stages are leaks
    stage: object = None
    either: tuple[ListValue, ...] = ()  # it is one of these: what is put into it is perhaps put into that
    serial: int = field(init=False, default_factory=_counter.__next__)  # as of origins: when it was made
    weight: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        if self.items:
            self.weight += sum(map(weight_of, self.items))
            if self.weight > MAX_WEIGHT:
                self.items, self.element, self.weight = None, UNKNOWN, 1
        elif type(self.element) in CONTAINERS:
            self.weight += weight_of(self.element)

    def elements(self) -> list[Value]:
        return self.items if self.items is not None else [self.element]

    def spread(self, added: Value) -> None:
        """`added` was put into it."""
        for option in self.either:
            known = option.elements()
            option.element = join(option.element, added) if known else added
            option.items = None


@dataclass(slots=True, eq=False)
class TupleValue(Value):
    items: list[Value] | None
    element: Value = UNKNOWN
    cls: ClassValue | None = None  # a NamedTuple
    exact: bool = True  # False: `cls` stands for any of several classes with the same fields
    # Of `items` that are not known, the first that are, and what the others hold: as `(self, *args)`.
    head: tuple[Value, ...] = ()
    tail: Value | None = None
    weight: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        if self.items:
            self.weight += sum(map(weight_of, self.items))
            if self.weight > MAX_WEIGHT:
                self.items, self.element, self.weight = None, UNKNOWN, 1
        elif type(self.element) in CONTAINERS:
            self.weight += weight_of(self.element)

    def elements(self) -> list[Value]:
        return self.items if self.items is not None else [self.element]


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
            self.weight += sum(map(weight_of, self.items.values()))
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
    """A class of the project. `kind` says which framework's rules its instances follow."""

    node: ast.ClassDef
    module: Module
    scope: Scope
    qualname: str
    bases: list[Value]
    kind: str = "plain"
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
    module: Module


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


def bound_to(member: Value, receiver: Value, cls: Value) -> Value:
    """A method of `cls` as `receiver` has it: static methods as they are, class methods bound to the class."""
    kind = member_kind(member)
    if kind == "staticmethod":
        return member
    return BoundMethod(member, cls if kind == "classmethod" else receiver)


MAX_CHOICES = 10
MAX_FUNCTIONS = 16  # as many branches of a test bind one name to functions
MAX_NAMED = 24  # keys of a dict that two paths make, before what is under them is joined
MAX_IN_TURN = 48  # cases of a table, each of which is run
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


def constant(value: Value | None, depth: int = 8) -> Any:
    """The Python object behind `value` where it is fully known (tuples and lists included), else MISSING."""
    if isinstance(value, Static):
        return value.const
    if isinstance(value, (TupleValue, ListValue)) and value.items is not None and depth > 0:
        parts = [constant(item, depth - 1) for item in value.items]
        return MISSING if any(part is MISSING for part in parts) else tuple(parts)
    return MISSING


def parts_of(value: Value) -> Iterable[Value]:
    """The direct parts of a container-like value."""
    if type(value) is Instance:
        return list(value.fields.values())
    return value.elements() if type(value) in _WITH_PARTS else ()  # type: ignore[attr-defined]


def is_single(value: Value | None) -> bool:
    """Whether it is certainly one array of JAX, and a concrete one."""
    return (
        isinstance(value, Array)
        and value.certain
        and not (value.staged or value.tree or value.mixed)
        and value.role not in ("ref", "variables", "declared")
    )


def unknown_of(inputs: Iterable[Value]) -> Unknown:
    """What something unknown gives that was given `inputs`: it may be made of the functions among them."""
    options = (option for part in inputs for option in (part.options if isinstance(part, Choice) else [part]))
    functions = tuple(
        part for part in options if isinstance(part, (Function, BoundMethod, Partial, Transformed))
    )
    return Unknown(made_of=functions) if functions else UNKNOWN


def is_answer(value: Value) -> bool:
    """Whether something that was not read says it of tracers: perhaps that they are some, as on the host they are not."""
    return isinstance(value, (Unknown, Array, ExternalObject)) and value.answer


def as_answer(value: Value) -> Value:
    """What follows from an answer: `value`, where nothing else is known of it."""
    undecided = type(value) is Unknown or (
        type(value) is Static and value.const is MISSING and value.truth is None
    )
    return ANSWER if undecided else value


def find_array(value: Value, staged: bool | None = None, depth: int = 4) -> Array | None:
    """The first array inside `value`; with `staged`, the first that is (not) staged. Certain ones win."""
    if type(value) is Array:
        return value if staged is None or value.staged == staged else None
    if type(value) not in _WITH_PARTS:
        if type(value) is AtIndexer:
            return find_array(value.array, staged, depth)
        if type(value) is ExternalObject:
            return value.staged if staged is not False else None
        return None
    best: Array | None = None
    if depth > 0:
        for part in parts_of(value):
            found = find_array(part, staged, depth - 1)
            if found is not None:
                if found.certain:
                    return found
                best = best or found
    return best


def map_parts(value: TupleValue | ListValue | DictValue, change: Callable[[Value], Value]) -> Value:
    """The same container with `change` applied to all that it holds, known or not."""
    if isinstance(value, DictValue):
        element = change(value.element) if value.element is not None else None
        known = {key: change(part) for key, part in value.items.items()}
        return DictValue(known, element, optional=value.optional)
    items = [change(part) for part in value.items] if value.items is not None else None
    if isinstance(value, ListValue):
        return ListValue(items, change(value.element), value.kind)
    head = tuple(change(part) for part in value.head)
    tail = change(value.tail) if value.tail is not None else None
    return TupleValue(items, change(value.element), value.cls, value.exact, head, tail)


def _truth(left: Static, right: Static) -> bool | None:
    both = [value.truth if value.const is MISSING else bool(value.const) for value in (left, right)]
    return both[0] if both[0] is both[1] else None


_MANY_INSIDE = MAX_WEIGHT  # containers in a container that are looked at


def lies_in(target: Value, value: Value) -> bool:
    """Whether `value` is `target` or holds it, at any depth, or is too much to tell."""
    if type(value) not in CONTAINERS:
        return False
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one is target or len(seen) > _MANY_INSIDE:
            return True
        if id(one) not in seen:
            seen.add(id(one))
            waiting += [part for part in _held_by(one) if type(part) in CONTAINERS]
    return False


def _held_by(value: Value) -> list[Value]:
    """What a container holds, known or not."""
    if isinstance(value, DictValue):
        return [*value.items.values(), *([value.element] if value.element is not None else [])]
    if isinstance(value, (ListValue, TupleValue)):
        around = (
            [*value.head, *([value.tail] if value.tail is not None else [])]
            if isinstance(value, TupleValue)
            else []
        )
        return [*(value.items or ()), value.element, *around]
    return []


def uncircular(target: Value, value: Value) -> Value:
    """`value`, which is about to be put into `target`; unknown where `target` would then hold itself.

    What walks through containers may so rely on an end.
    """
    return UNKNOWN if type(value) in CONTAINERS and lies_in(target, value) else value


def bearable(target: ListValue | DictValue, value: Value) -> Value:
    """`value`, which is about to be put into `target`; unknown once that gets too heavy."""
    if type(value) in CONTAINERS:
        added = weight_of(value)
        if target.weight + added > MAX_WEIGHT:
            return UNKNOWN
        target.weight += added
    return value


def store_key(target: DictValue, key: Any, value: Value, conditional: bool) -> None:
    """`target[key] = value`; `conditional`: on one of several paths."""
    known = target.items.get(key)
    value = bearable(target, uncircular(target, value))
    target.items[key] = join(known, value) if known is not None and conditional else value
    if conditional and known is None:
        target.optional = target.optional.union((key,))
    elif not conditional and key in target.optional:
        target.optional = target.optional.difference((key,))


def store_somewhere(target: DictValue, key: Value, value: Value) -> None:
    """`target[key] = value` with a key that is not known, or one of a few."""
    names = key.one_of if isinstance(key, Static) else ()
    for name in names:
        store_key(target, name, value, conditional=True)
    if not names:
        overwrite_any(target, value)


def overwrite_any(target: DictValue, value: Value) -> None:
    """`target[key] = value` with a key that is not known: it may be one of those that are."""
    value = uncircular(target, value)
    target.items.update({key: join(known, value) for key, known in target.items.items()})
    target.element = value if target.element is None else join(target.element, value)


def update_dict(target: DictValue, given: DictValue, conditional: bool) -> None:
    """`target.update(given)`."""
    if given.element is not None:
        overwrite_any(target, given.element)
    for key, value in given.items.items():
        store_key(target, key, value, conditional or key in given.optional)


def doubtful(value: Value, depth: int = 3) -> Value:
    """`value`, and none of its arrays certain."""
    if isinstance(value, Array):
        return replace(value, certain=False) if value.certain else value
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: doubtful(part, depth - 1))
    return value


def stand_in(value: Value, depth: int = 2) -> Value:
    """`value`, which a call with similar arguments gave: no array of it is certain, and its functions stand for others."""
    if isinstance(value, Function):
        return value if value.stand_in else replace(value, stand_in=True)
    if isinstance(value, Array):
        return doubtful(value)
    if type(value) is Static and value.const is not MISSING:
        return UNKNOWN if value.const is None else Static(kind=type(value.const).__name__)
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: stand_in(part, depth - 1))
    return value


def rough_stand_in(value: Value) -> Value:
    """The same of a call whose arguments are similar in little: what containers look like inside is not known."""
    if isinstance(value, TupleValue) and value.items is not None:
        return TupleValue([_leaves(part) for part in value.items], cls=value.cls, exact=value.exact)
    return _leaves(value)


def _leaves(value: Value) -> Value:
    """`stand_in`, and a container is a pytree of whatever array is in it; of what type a number is, is not known."""
    if isinstance(value, Function):
        return stand_in(value)
    array = find_array(value) if isinstance(value, (Array, TupleValue, ListValue, DictValue)) else None
    if array is not None:
        tree = array.tree or not isinstance(value, Array)
        return Array(array.staged, array.why, tree, False, jitted=array.jitted, flow=array.flow)
    return UNKNOWN if isinstance(value, (Static, TupleValue, ListValue, DictValue)) else value


def join(left: Value, right: Value, depth: int = 3) -> Value:
    """The value after two paths meet. What differs becomes unknown; an array on one path alone is uncertain."""
    if left is right:
        return left
    one, two = type(left), type(right)
    if (one is Unknown and two is not Array) or (two is Unknown and one is not Array):
        return ANSWER if is_answer(left) or is_answer(right) else UNKNOWN
    if one is Array or two is Array:
        return _join_array(left, right)
    if one in STATICS and two in STATICS:
        return _join_static(left, right)  # type: ignore[arg-type]
    if one is two:
        same = _join_alike(left, right, depth)
        if same is not None:
            return same
    if isinstance(left, Static) and left.const is None and isinstance(right, CALLABLE):
        return right  # `f = None; if ...: f = jit(g)`: it is only ever called when it is the function
    if isinstance(right, Static) and right.const is None and isinstance(left, CALLABLE):
        return left
    if type(right) is ClassValue and right.lifts is left:
        return right
    if (isinstance(left, CALLABLE) or _is_method(left)) and (
        isinstance(right, CALLABLE) or _is_method(right)
    ):
        return choose(left, right)
    return UNKNOWN


def _join_array(left: Value, right: Value) -> Value:
    """`join` of an array with another or with something else."""
    if type(left) is Array and type(right) is Array:
        first = left if left.staged else right
        return Array(
            staged=left.staged or right.staged,
            why=first.why,
            tree=left.tree or right.tree,
            certain=left.certain and right.certain and left.staged == right.staged,
            origin=left.origin if left.origin is right.origin else None,
            like=left.like if left.like is right.like else None,
            role=left.role if left.role == right.role else "",
            jitted=left.jitted or right.jitted,
            dtype=left.dtype if left.dtype == right.dtype else "",
            flow=left.flow if left.flow is right.flow else None,
            mixed=left.mixed or right.mixed,
            partly=left.partly or right.partly or left.staged != right.staged,
            rowless=left.rowless and right.rowless,
            answer=left.answer or right.answer,
        )
    array, other = (left, right) if type(left) is Array else (right, left)
    if type(other) not in _OF_TREES:
        return UNKNOWN
    assert type(array) is Array
    mixed = array.mixed or (isinstance(other, Static) and not is_number(other))
    return Array(
        array.staged,
        array.why,
        tree=True,
        certain=False,
        jitted=array.jitted,
        mixed=mixed,
        partly=array.partly,
        answer=array.answer or is_answer(other),
    )


def _join_static(left: Static, right: Static) -> Value:
    """`join` of two plain values."""
    if type(left) is Reading and type(right) is Reading:
        return right if right.serial > left.serial else left
    if type(left) is DType and type(right) is DType and left.name == right.name:
        return left
    if left.const is not MISSING and type(left.const) is type(right.const) and left.const == right.const:
        return left
    kinds = {kind_of_static(left), kind_of_static(right)}
    kind = kinds.pop() if len(kinds) == 1 else ""
    if type(left) is Shim or type(right) is Shim:
        return Shim(kind=kind)
    return Static(kind=kind, one_of=_strings(left, right), truth=_truth(left, right))


def _join_alike(left: Value, right: Value, depth: int) -> Value | None:
    """`join` of two values of one type, neither plain nor arrays; None where the type says nothing of the result."""
    if depth > 0:
        if type(left) is TupleValue and type(right) is TupleValue:
            if left.items is not None and right.items is not None and len(left.items) == len(right.items):
                items = [join(a, b, depth - 1) for a, b in zip(left.items, right.items, strict=True)]
                exact = left.cls is right.cls and left.exact and right.exact
                return TupleValue(items, cls=_common_class(left.cls, right.cls), exact=exact)
            return TupleValue(None, join_all([*left.elements(), *right.elements()], depth - 1))
        if type(left) is ListValue and type(right) is ListValue:
            element = join_all([*left.elements(), *right.elements()], depth - 1)
            return ListValue(None, element, left.kind, left.depth, left.stage, _either(left, right))
        if type(left) is DictValue and type(right) is DictValue:
            merged = {
                key: join(left.items[key], right.items[key], depth - 1)
                for key in left.items
                if key in right.items
            }
            more = {k: v for k, v in [*left.items.items(), *right.items.items()] if k not in merged}
            optional = left.optional | right.optional
            if left.element is None and right.element is None and len(merged) + len(more) <= MAX_NAMED:
                return DictValue({**merged, **more}, None, left.stage, optional.union(more))
            rest = [*more.values(), *[v for v in (left.element, right.element) if v is not None]]
            others = join_all(rest, depth - 1) if rest else None
            return DictValue(merged, others, left.stage, optional)
        if type(left) is Instance and type(right) is Instance and left.cls is right.cls:
            names = left.fields.keys() & right.fields.keys()
            fields = {n: join(left.fields[n], right.fields[n], depth - 1) for n in names}
            return Instance(left.cls, fields, True, staged=left.staged or right.staged)
    if type(left) is NumpyArray and type(right) is NumpyArray:
        dtype = left.dtype if left.dtype == right.dtype else ""
        return NumpyArray(
            left.fresh and right.fresh,
            dtype,
            shares=left.shares and right.shares,
            rowless=left.rowless and right.rowless,
        )
    if type(left) is Function and type(right) is Function and left.node is right.node:
        return left
    if type(left) is ClassValue and type(right) is ClassValue and right in (left.lifts, left):
        return left  # `if config.remat: Block = nn.remat(Block)`
    return None


# By their exact types, which is the quickest question, since this is asked millions of times. (None has heirs but
# `Static` and `Unknown`.)
CONTAINERS: Final[frozenset[type]] = frozenset({TupleValue, ListValue, DictValue})
_WITH_PARTS: Final[frozenset[type]] = CONTAINERS | {Instance}
STATICS: Final[frozenset[type]] = frozenset({Static, Shim, Setting, DType, Reading})
_OF_TREES: Final[frozenset[type]] = STATICS.union(  # what is where an array is on another path
    {NumpyArray, Unknown, StarArgument}, _WITH_PARTS
)


def _either(left: ListValue, right: ListValue) -> tuple[ListValue, ...]:
    """The lists that the join of two may be, as far as there are few of them."""
    found = {id(option): option for option in (*left.either, left, *right.either, right)}
    return tuple(found.values()) if len(found) <= MAX_CHOICES else (left, right)


def _is_method(value: Value) -> bool:
    """`module.apply` and its like, of a module of the project."""
    return type(value) is ExternalObject and bool(value.args) and isinstance(value.args[0], Instance)


def _common_class(left: ClassValue | None, right: ClassValue | None) -> ClassValue | None:
    """A class whose fields are those of both named tuples."""
    if left is right or left is None or right is None:
        return left if left is right else None
    return left if list(left.all_fields()) == list(right.all_fields()) else None


def choose(left: Value, right: Value) -> Value:
    """Either of two functions or objects; unknown once there are too many."""
    found: dict[object, Value] = {}
    every = False
    for value in (left, right):
        every = every or (isinstance(value, Choice) and value.every)
        for option in value.options if isinstance(value, Choice) else [value]:
            found.setdefault(_identity(option), option)
    options = list(found.values())
    if len(options) == 1 and not every:
        return options[0]
    most = MAX_IN_TURN if every else MAX_FUNCTIONS if all(map(_is_function, options)) else MAX_CHOICES
    return Choice(options, every) if len(options) <= most else UNKNOWN


def _is_function(value: Value) -> bool:
    """Whether it is a function of the project, which a call evaluates and does not make into an object."""
    return isinstance(value, (Function, Partial, Transformed))


def _identity(value: Value) -> object:
    """What is the same for two values that are the same function, class or name of a library."""
    if isinstance(value, Function):
        return value.node, value.scope
    if isinstance(value, ClassValue):
        return value.node
    return value.name if isinstance(value, External) else value


def in_turn(values: Iterable[Value]) -> Value:
    """What holds for each of `values` in turn, as a table of test cases gives them: functions are all called."""
    given = [_each(value) for value in values]
    known = [value for value in given if not isinstance(value, Unknown)]
    joined = join_all(known)
    if len(known) == len(given) or not known:
        return joined
    # Where one is not known, the functions of the others are called all the same.
    return _loosened(joined) if _holds_functions(joined) else join(joined, UNKNOWN)


def some(constant: object) -> Static:
    """What is known of a constant that is set to something else, too: its type; nothing when it is None at first."""
    return Static(kind=type(constant).__name__ if constant is not None else "")


def is_number(value: Static) -> bool:
    return kind_of_static(value) in ("int", "float", "complex")


def _holds_functions(value: Value, depth: int = 2) -> bool:
    if isinstance(value, Choice):
        return True
    return depth > 0 and any(_holds_functions(part, depth - 1) for part in parts_of(value))


def _loosened(value: Value, depth: int = 2) -> Value:
    """`value` with its functions kept, and nothing certain of the rest."""
    if isinstance(value, Choice):
        return value
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: _loosened(part, depth - 1))
    return join(value, UNKNOWN)


def _each(value: Value, depth: int = 3) -> Value:
    """`value` with the functions in it as choices of which every one is taken."""
    if type(value) is Choice:
        return Choice(value.options, every=True)
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        if depth == 0:
            return value
        changed = map_parts(value, lambda part: _each(part, depth - 1))
        same = all(new is old for new, old in zip(parts_of(changed), parts_of(value), strict=True))
        return value if same else changed  # a list stays the one that the program writes to
    if type(value) is not Instance and isinstance(value, CALLABLE):
        return Choice([value], every=True)
    return value


def _strings(left: Static, right: Static) -> tuple[str, ...]:
    """The strings that either of two may be, besides None; none when one is not known, or there are many."""
    found: dict[str, None] = {}
    for value in (left, right):
        if value.const is None:
            continue
        known = (value.const,) if isinstance(value.const, str) else value.one_of
        if not known:
            return ()
        found.update(dict.fromkeys(known))
    return tuple(found) if len(found) <= MAX_IN_TURN else ()


def join_all(values: Iterable[Value], depth: int = 3) -> Value:
    """The join of all `values`; unknown when there are none."""
    result: Value | None = None
    for value in values:
        if result is UNKNOWN and not isinstance(value, Array) and not is_answer(value):
            continue  # as `join` has it, without the call: many a list holds very much
        result = value if result is None else join(result, value, depth)
    return UNKNOWN if result is None else result


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


def is_plain_object(value: Value) -> bool:
    """An instance of a class of the project that does not say what its truth is: it is true."""
    if not isinstance(value, Instance):
        return False
    bases = [base for cls in value.cls.mro() for base in cls.bases]
    if not all(isinstance(base, ClassValue) for base in bases):
        return False
    return value.cls.lookup("__bool__") is None and value.cls.lookup("__len__") is None
