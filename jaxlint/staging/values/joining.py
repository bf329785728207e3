"""The value after two paths meet, or for several similar calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from jaxlint.staging.values.arrays import Array, Form, NumpyArray
from jaxlint.staging.values.objects import (
    _WITH_PARTS,
    CALLABLE,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Partial,
    Transformed,
    TupleValue,
)
from jaxlint.staging.values.parts import find_array, is_answer, map_parts, parts_of
from jaxlint.staging.values.plain import (
    ANSWER,
    MISSING,
    STATICS,
    UNKNOWN,
    DType,
    Reading,
    Shim,
    StarArgument,
    Static,
    Unknown,
    Value,
    is_number,
    kind_of_static,
)

MAX_CHOICES = 10
MAX_FUNCTIONS = 16  # how many branches of a test may bind one name to functions
MAX_NAMED = 24  # dict keys from two paths, before the values are joined
MAX_IN_TURN = 48  # cases of a table, each of which runs


def _truth(left: Static, right: Static) -> bool | None:
    both = [value.truth if value.const is MISSING else bool(value.const) for value in (left, right)]
    return both[0] if both[0] is both[1] else None


def uncertain(value: Value, depth: int = 3) -> Value:
    """`value` with none of its arrays certain."""
    if isinstance(value, Array):
        return replace(value, certain=False) if value.certain else value
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: uncertain(part, depth - 1))
    return value


def stand_in(value: Value, depth: int = 2) -> Value:
    """`value` from a call with similar arguments: none of its arrays is certain, and its functions stand for others."""
    if isinstance(value, Function):
        return value if value.stand_in else replace(value, stand_in=True)
    if isinstance(value, Array):
        return uncertain(value)
    if type(value) is Static and value.const is not MISSING:
        return UNKNOWN if value.const is None else Static(kind=type(value.const).__name__)
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: stand_in(part, depth - 1))
    return value


def rough_stand_in(value: Value) -> Value:
    """`stand_in` for a call with roughly similar arguments: the contents of containers are unknown."""
    if isinstance(value, TupleValue) and value.items is not None:
        return TupleValue([_leaves(part) for part in value.items], cls=value.cls, exact=value.exact)
    return _leaves(value)


def _leaves(value: Value) -> Value:
    """`stand_in` with each container as a pytree of any of its arrays, and numbers of unknown type."""
    if isinstance(value, Function):
        return stand_in(value)
    array = find_array(value) if isinstance(value, (Array, TupleValue, ListValue, DictValue)) else None
    if array is not None:
        tree = array.tree or not isinstance(value, Array)
        return Array(array.staged, array.why, tree, False, jitted=array.jitted, flow=array.flow)
    return UNKNOWN if isinstance(value, (Static, TupleValue, ListValue, DictValue)) else value


def join(left: Value, right: Value, depth: int = 3) -> Value:
    """The value after two paths meet. Differences become unknown; an array on one path only is uncertain."""
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
        return right  # `f = None; if ...: f = jit(g)`: a call of it only happens when it is the function
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
            form=_form_of_either(left, right),
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


def _form_of_either(left: Array | NumpyArray, right: Array | NumpyArray) -> Form | None:
    """What is known about the shape of either of two arrays."""
    if any(type(one) is Array and one.tree for one in (left, right)):
        return None
    if left.form is not None and left.form is right.form and left.made is right.made:
        return left.form
    known = [one.made is not None or one.form is not None for one in (left, right)]
    return Form("either", (left, right)) if all(known) else None


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
    """`join` of two values of one type that are neither plain nor arrays; None if the type does not decide the
    result."""
    if depth > 0:
        if type(left) is TupleValue and type(right) is TupleValue:
            if left.items is not None and right.items is not None and len(left.items) == len(right.items):
                items = [join(a, b, depth - 1) for a, b in zip(left.items, right.items, strict=True)]
                exact = left.cls is right.cls and left.exact and right.exact
                return TupleValue(items, cls=_common_class(left.cls, right.cls), exact=exact)
            measured = left.measured if left.measured is right.measured else None
            return TupleValue(
                None, join_all([*left.elements(), *right.elements()], depth - 1), measured=measured
            )
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
            form=_form_of_either(left, right),
        )
    if type(left) is Function and type(right) is Function and left.node is right.node:
        return left
    if type(left) is ClassValue and type(right) is ClassValue and right in (left.lifts, left):
        return left  # `if config.remat: Block = nn.remat(Block)`
    return None


# the other path's value, for a value that is an array on one path
_OF_TREES: Final[frozenset[type]] = STATICS.union({NumpyArray, Unknown, StarArgument}, _WITH_PARTS)


def _either(left: ListValue, right: ListValue) -> tuple[ListValue, ...]:
    """The lists that a join of two may be, if they are few."""
    found = {id(option): option for option in (*left.either, left, *right.either, right)}
    return tuple(found.values()) if len(found) <= MAX_CHOICES else (left, right)


def _is_method(value: Value) -> bool:
    """Whether it is a method of a project module, such as `module.apply`."""
    return type(value) is ExternalObject and bool(value.args) and isinstance(value.args[0], Instance)


def _common_class(left: ClassValue | None, right: ClassValue | None) -> ClassValue | None:
    """A class whose fields are those of both named tuples."""
    if left is right or left is None or right is None:
        return left if left is right else None
    return left if list(left.all_fields()) == list(right.all_fields()) else None


def choose(left: Value, right: Value) -> Value:
    """Either of two functions or objects; unknown if there are too many."""
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
    """Whether it is a project function, which a call evaluates instead of wrapping it in an object."""
    return isinstance(value, (Function, Partial, Transformed))


def _identity(value: Value) -> object:
    """A key that is equal for values that are the same function, class or library name."""
    if isinstance(value, Function):
        return value.node, value.scope
    if isinstance(value, ClassValue):
        return value.node
    return value.name if isinstance(value, External) else value


def in_turn(values: Iterable[Value]) -> Value:
    """The value that stands for each of `values` in turn, as a table of test cases provides them: calls call every
    function."""
    given = [_each(value) for value in values]
    known = [value for value in given if not isinstance(value, Unknown)]
    joined = join_all(known)
    if len(known) == len(given) or not known:
        return joined
    # If one value is unknown, calls still call the functions of the others.
    return _loosened(joined) if _holds_functions(joined) else join(joined, UNKNOWN)


def _holds_functions(value: Value, depth: int = 2) -> bool:
    if isinstance(value, Choice):
        return True
    return depth > 0 and any(_holds_functions(part, depth - 1) for part in parts_of(value))


def _loosened(value: Value, depth: int = 2) -> Value:
    """`value` with its functions kept and everything else uncertain."""
    if isinstance(value, Choice):
        return value
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: _loosened(part, depth - 1))
    return join(value, UNKNOWN)


def _each(value: Value, depth: int = 3) -> Value:
    """`value` with its functions as choices, each of which is taken."""
    if type(value) is Choice:
        return Choice(value.options, every=True)
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        if depth == 0:
            return value
        changed = map_parts(value, lambda part: _each(part, depth - 1))
        same = all(new is old for new, old in zip(parts_of(changed), parts_of(value), strict=True))
        return value if same else changed  # it stays the same list, which the program writes to
    if type(value) is not Instance and isinstance(value, CALLABLE):
        return Choice([value], every=True)
    return value


def _strings(left: Static, right: Static) -> tuple[str, ...]:
    """The strings that either of two values may be, apart from None; empty if one is unknown or there are many."""
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
    """The join of all `values`; unknown if there are none."""
    result: Value | None = None
    for value in values:
        if result is UNKNOWN and not isinstance(value, Array) and not is_answer(value):
            continue  # the same test as in `join`, without the call: some lists are very long
        result = value if result is None else join(result, value, depth)
    return UNKNOWN if result is None else result
