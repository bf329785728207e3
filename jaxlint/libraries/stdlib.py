"""The standard library: functions that create functions, copies, containers and constants."""

from __future__ import annotations

import ast
import math

from jaxlint.staging.evaluator.container_methods import ContainerMethods
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.environment import by_environment
from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made, methods
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Field,
    Function,
    ListValue,
    Partial,
    StarArgument,
    Static,
    TupleValue,
    Value,
    constant,
    join,
)
from jaxlint.staging.values.class_models import NAMED_TUPLE
from jaxlint.staging.values.constants import constant_names
from jaxlint.staging.values.copies import copied, shallow

# -- functools


@calls("functools.partial")
def partial(call: LibraryCall) -> Value:
    if not call.args:
        return UNKNOWN
    return Partial(call.args[0], call.args[1:], call.kwargs)


@calls("functools.wraps")
def wraps(call: LibraryCall) -> Value:
    return ExternalObject("functools.wraps", call.args, call.kwargs, call.node)


@calls_of_made("functools.wraps")
def wrapped(call: LibraryCall) -> Value:
    given = call.first()
    if isinstance(given, Function) and call.made.args:
        given.wraps = call.made.args[0]
    return call.args[0] if call.args else UNKNOWN


@calls("functools.reduce")
def reduce(call: LibraryCall) -> Value:
    """`functools.reduce` over a short sequence with known items."""
    items = (
        call.args[1].items
        if len(call.args) > 1 and isinstance(call.args[1], (ListValue, TupleValue))
        else None
    )
    if items is None or len(items) > 8:
        return call.opaque(call.args)
    items = [*call.args[2:], *items]
    result = items[0] if items else UNKNOWN
    for item in items[1:]:
        result = call.run(call.args[0], result, item)
    return result


# -- itertools


@calls("itertools.product")
def product(call: LibraryCall) -> Value:
    """`itertools.product`: a tuple of any element of each, or the tuples themselves if they are few."""
    if "repeat" in call.kwargs:
        return ListValue(
            None, TupleValue(None, call.element_of(call.args[0]) if call.args else UNKNOWN), "iterator"
        )
    parts: list[Value] = []
    for value in call.args:
        if isinstance(value, StarArgument):
            return ListValue(None, TupleValue(None, call.element_of(value.element)), "iterator")
        parts.append(call.element_of(value))
    return ListValue(None, TupleValue(parts), "iterator")


# -- dataclasses, copy, typing, inspect


@calls("dataclasses.replace")
def replace(call: LibraryCall) -> Value:
    return call.replaced(call.args[0] if call.args else UNKNOWN, call.kwargs)


@calls_of_made("dataclasses.replace")
def replace_in(call: LibraryCall) -> Value:
    """`x.replace(...)` of a flax dataclass."""
    return call.replaced(call.made.args[0] if call.made.args else UNKNOWN, call.kwargs)


@calls("copy.copy")
def copy(call: LibraryCall) -> Value:
    return shallow(call.args[0]) if call.args else UNKNOWN


@calls("copy.deepcopy")
def deepcopy(call: LibraryCall) -> Value:
    return copied(call.args[0]) if call.args else UNKNOWN


@calls("typing.cast")
def cast(call: LibraryCall) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


@calls("inspect.ismethod")
def is_method(call: LibraryCall) -> Value:
    """`inspect.ismethod` for a value that is known to be a function or a method."""
    given = call.args[0] if call.args else UNKNOWN
    if isinstance(given, (Function, BoundMethod, Partial)):
        return Static(isinstance(given, BoundMethod))
    return Static(kind="bool")


# -- collections


@calls("collections.namedtuple", "typing.NamedTuple")
def namedtuple(call: LibraryCall) -> Value:
    """`namedtuple("Name", fields)` is the class that `typing.NamedTuple` would declare."""
    names = call.kwargs.get("field_names", call.args[1] if len(call.args) > 1 else UNKNOWN)
    if isinstance(names, (ListValue, TupleValue)) and names.items and isinstance(names.items[0], TupleValue):
        # `typing`'s pairs of name and type.
        names = TupleValue(
            [part.items[0] if part.items else UNKNOWN for part in names.items if isinstance(part, TupleValue)]
        )
    text = constant(names)
    fields = text.replace(",", " ").split() if isinstance(text, str) else constant_names(names)
    name = constant(call.args[0]) if call.args else MISSING
    if not fields or not isinstance(name, str) or not all(n.isidentifier() for n in (name, *fields)):
        return External("collections.namedtuple")
    body = [ast.AnnAssign(ast.Name(n, ast.Store()), ast.Constant(...), None, 1) for n in fields]
    definition = ast.ClassDef(name, [], [], list(body), [])
    for part in ast.walk(definition):
        ast.copy_location(part, call.node)
    cls = ClassValue(definition, call.frame.module, call.frame.scope, name, [External("typing.NamedTuple")])
    cls.model = NAMED_TUPLE
    defaults = call.kwargs.get("defaults")
    values = defaults.items or [] if isinstance(defaults, (TupleValue, ListValue)) else []
    for n, statement in zip(fields, body, strict=True):
        cls.fields[n] = Field(n, False, statement.annotation, None, statement)
    for n, value in zip(reversed(fields), reversed(values), strict=False):
        cls.namespace[n] = value
        cls.fields[n].default = ast.copy_location(ast.Name(n, ast.Load()), call.node)
    return cls


@calls("collections.deque")
def deque(call: LibraryCall) -> Value:
    result = call.builtin("list", call.args[:1], {})
    if isinstance(result, ListValue):
        result.kind = "deque"
    return result


@calls("collections.OrderedDict", "collections.Counter")
def ordered(call: LibraryCall) -> Value:
    return call.builtin("dict", call.args, call.kwargs)


@calls("collections.defaultdict")
def defaultdict(call: LibraryCall) -> Value:
    result = call.builtin("dict", call.args[1:], call.kwargs)
    # The value of a missing key stands for the value of any key.
    if (
        isinstance(result, DictValue)
        and call.args
        and not (isinstance(call.args[0], Static) and call.args[0].const is None)
    ):
        made = call.run(call.args[0])
        result.element = made if result.element is None else join(result.element, made)
    return result


# -- os


@calls("os.getenv", "os.environ.get")
def getenv(call: LibraryCall) -> Value:
    """`os.getenv(name, default)`: a string, or the program's default if the environment does not set it."""
    usual = call.args[1] if len(call.args) > 1 else call.kwargs.get("default", Static(None))
    return by_environment(usual)


# -- numbers, queues


# What functions of `math` return, by kind. Those of the first two are computed for constants.
_FLOATS = frozenset(
    """sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh pow hypot fabs
    degrees radians erf erfc copysign fmod cbrt exp2 dist fsum""".split()  # noqa: SIM905
)
_INTEGERS = frozenset({"ceil", "floor", "trunc", "isqrt", "gcd", "lcm"})
_LARGE_INTEGERS = frozenset({"factorial", "comb", "perm"})
_TRUTHS = frozenset({"isnan", "isinf", "isfinite", "isclose"})
_LARGEST = 2**40


@calls("math.*", "operator.index", "time.sleep")
def take_number(call: LibraryCall) -> Value:
    for value in call.args:
        call.machine.part(Conversions).convert(value, call.node, call.name, call.frame)
    library, _, name = call.name.rpartition(".")
    if library != "math":
        return Static()
    if name in _FLOATS | _INTEGERS and call.args and not call.kwargs:
        numbers = [constant(value) for value in call.args]
        if all(type(number) in (int, float) and abs(number) < _LARGEST for number in numbers):  # type: ignore[arg-type]
            try:
                return Static(getattr(math, name)(*numbers))
            except (AttributeError, ArithmeticError, ValueError, TypeError):
                return Static()
    if name in _FLOATS:
        return Static(kind="float")
    if name in _INTEGERS | _LARGE_INTEGERS:
        return Static(kind="int")
    return Static(kind="bool") if name in _TRUTHS else Static()


_QUEUES = ("queue.Queue", "queue.SimpleQueue", "queue.LifoQueue", "multiprocessing.Queue")


@methods(*(f"{queue}.{name}" for queue in _QUEUES for name in ("put", "put_nowait")))
def put(call: LibraryCall) -> Value:
    if not call.args:
        return call.otherwise()
    call.machine.part(ContainerMethods).check_outer_object(call.made, call.args[0], call.node, call.frame)
    return Static(None)


@calls("multiprocessing.get_context", "torch.multiprocessing.get_context")
def get_context(call: LibraryCall) -> Value:
    return call.made_object()


# -- random numbers


@calls("random.sample", "random.choices")
def sample(call: LibraryCall) -> Value:
    """A list of `k` of the items."""
    if not call.args:
        return UNKNOWN
    second = call.argument(1, "k") if call.name == "random.sample" else call.kwargs.get("k", Static(1))
    size = constant(second)
    return ListValue(None, call.element_of(call.args[0]), length=size if type(size) is int else None)


@calls("random.choice")
def choice(call: LibraryCall) -> Value:
    return call.element_of(call.args[0]) if call.args else UNKNOWN
