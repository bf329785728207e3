"""Introspection: `isinstance`, `hasattr`, `getattr`, `super` and related builtins."""

from __future__ import annotations

import ast
import collections.abc
from collections.abc import Callable, Sequence

from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    ANY_NAME,
    CALLABLE,
    MISSING,
    UNKNOWN,
    Array,
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    ModuleValue,
    NumpyArray,
    Partial,
    Sentinel,
    Shim,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    bound_to,
    constant,
    find_array,
    in_turn,
    join,
)
from jaxlint.staging.values.array_types import ARRAY_TYPES, array_has, array_is_instance
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import positional_parameters

_BUILTIN_TYPES: dict[str, type] = {
    f"builtins.{kind.__name__}": kind
    for kind in (int, float, complex, bool, str, bytes, tuple, list, dict, set, frozenset)
}
# The abilities of a container, as the abstract base classes name them.
_ABILITIES: dict[str, type] = {
    f"{module}.{name}": getattr(collections.abc, name)
    for module in ("collections.abc", "typing")
    for name in (
        *("Iterable", "Sized", "Container", "Collection"),
        *("Mapping", "MutableMapping", "Sequence", "MutableSequence"),
    )
}
_NO_TYPES = ("typing.Generic", "builtins.object")  # bases that say nothing about an object's type
_OF_ARRAYS = frozenset(
    name for name in _ABILITIES if name.endswith(("Iterable", "Sized", "Container", "Collection"))
)
_PYTHONS_OWN = _BUILTIN_TYPES.keys() | {
    "builtins.type"
}  # types of which an object is an instance only if its class derives from them
_HOLDERS = ((TupleValue, tuple), (ListValue, list), (DictValue, dict))
# Library types of which no value that Python itself makes is an instance.
_ALONE = ARRAY_TYPES | {"builtins.type", "functools.partial"}

Builtin = Callable[[str, Call], Value]


class Introspection(Part):
    """Evaluates builtins that inspect objects, classes and attributes."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)
        self.instances = machine.part(Instances)
        self.data_model = machine.part(DataModel)
        self.builtins: dict[str, Builtin] = {
            "isinstance": self.isinstance_call,
            "hasattr": self.hasattr_call,
            "issubclass": self.issubclass_call,
            "callable": self.callable_call,
            "getattr": self.getattr_call,
            **dict.fromkeys(("setattr", "object.__setattr__"), self.setattr_call),
            "super": self.super_call,
            "object": self.object_call,
            "object.__new__": self.new_call,
            "type": self.type_call,
            "vars": self.vars_call,
            **dict.fromkeys(("staticmethod", "classmethod", "property"), self.method_call),
            **dict.fromkeys(("id", "ord", "dir", "input", "bytes"), self.opaque_value),
        }

    def isinstance_call(self, name: str, call: Call) -> Value:
        args = call.args
        first = args[0] if args else UNKNOWN
        for kind in args[1].elements() if len(args) > 1 and isinstance(args[1], TupleValue) else args[1:]:
            self.data_model.implied(kind, "__instancecheck__", [first], call.node, call.frame)
        return self.isinstance_result(first, args[1] if len(args) > 1 else UNKNOWN)

    def hasattr_call(self, name: str, call: Call) -> Value:
        args = call.args
        first = args[0] if args else UNKNOWN
        if isinstance(first, Array) and first.certain and len(args) > 1:
            answer = array_has(first, constant(args[1]))
            if answer is not None:
                return Static(answer)
        # The version of the library decides whether a module has it.
        return (Shim if isinstance(first, (External, ModuleValue)) else Static)(kind="bool")

    def issubclass_call(self, name: str, call: Call) -> Value:
        return Static(kind="bool")

    def callable_call(self, name: str, call: Call) -> Value:
        return _truth(_is_callable(call.args[0] if call.args else UNKNOWN))

    def getattr_call(self, name: str, call: Call) -> Value:
        args = call.args
        first = args[0] if args else UNKNOWN
        attr = constant(args[1]) if len(args) > 1 else MISSING
        if len(args) > 1 and isinstance(args[1], Static) and args[1].one_of:
            found = [
                self.access.attribute(first, n, call.node, call.frame, quiet=True) for n in args[1].one_of
            ]
            return in_turn(value for value in found if not isinstance(value, Unknown))
        if isinstance(attr, str):
            value = self.access.attribute(first, attr, call.node, call.frame, quiet=True)
            return join(value, args[2]) if len(args) > 2 else value
        return first.fields.get(ANY_NAME, UNKNOWN) if isinstance(first, Instance) else UNKNOWN

    def setattr_call(self, name: str, call: Call) -> Value:
        args, node = call.args, call.node
        if len(args) == 3:
            first, attr = args[0], constant(args[1])
            if isinstance(attr, str) and isinstance(node, ast.Call):
                self.instances.set_attribute(first, attr, args[2], node, call.frame)
            elif isinstance(first, Instance) and first.staged is None:
                self.set_any_attribute(first, args[2], node, call.frame)
        return Static(None)

    def set_any_attribute(self, target: Instance, value: Value, node: ast.AST, frame: Frame) -> None:
        """`setattr` with an unknown name."""
        self.data_model.implied(target, "__setattr__", [UNKNOWN, value], node, frame)
        if self.instances.leaks_into(target, value, frame):
            self.machine.emit("leak", events.LeakEvent(node, frame, value, "an attribute of the object"))
        target.staged = find_array(value, True)
        for field, stored in list(target.fields.items()):
            if not isinstance(stored, CALLABLE):
                target.fields[field] = join(stored, value)
        target.fields[ANY_NAME] = in_turn([*filter(None, [target.fields.get(ANY_NAME)]), value])

    def super_call(self, name: str, call: Call) -> Value:
        return self.super_object(call.args, call.frame)

    def type_call(self, name: str, call: Call) -> Value:
        first = call.args[0] if call.args else UNKNOWN
        return first.cls if isinstance(first, Instance) else Static(kind="type")

    def object_call(self, name: str, call: Call) -> Value:
        """`object()`: a sentinel, which programs compare with `is`."""
        return Static(Sentinel())

    def new_call(self, name: str, call: Call) -> Value:
        """`object.__new__(cls)`: an object without a run of `__init__`; its creator sets the attributes."""
        cls = call.args[0] if call.args else UNKNOWN
        if not isinstance(cls, ClassValue) or cls.kind in ("enum", "namedtuple"):
            return UNKNOWN
        self.machine.reach.made(cls, call.frame)
        return Instance(cls)

    def vars_call(self, name: str, call: Call) -> Value:
        return DictValue({}, UNKNOWN, call.frame.stage)

    def method_call(self, name: str, call: Call) -> Value:
        """The value of `staticmethod`, `classmethod` and `property`."""
        return self.method_kind(name, call.args[0] if call.args else UNKNOWN)

    def method_kind(self, name: str, value: Value) -> Value:
        if isinstance(value, Function):
            value.kind = name
        elif isinstance(value, Transformed):
            value.attributes[name] = Static(True)
        return value

    def opaque_value(self, name: str, call: Call) -> Value:
        """A value that only Python itself knows."""
        return Static()

    def isinstance_result(self, value: Value, kinds: Value) -> Value:
        """The result of `isinstance` for a tracer or a concrete array, if it is certain."""
        options = kinds.elements() if isinstance(kinds, TupleValue) else [kinds]
        if not isinstance(value, Array):
            if self.machine.exact and _has_members_of(value, options):
                return Static(True)
            return _truth(_is_instance(value, options))
        return array_is_instance(value, options, _OF_ARRAYS)

    def super_object(self, args: list[Value], frame: Frame) -> Value:
        if len(args) == 2 and isinstance(args[0], ClassValue):
            return ExternalObject("builtins.super", args)  # `super(cls, instance)` names both
        current: Frame | None = frame
        while current is not None and (current.function is None or current.function.cls is None):
            current = current.caller
        if current is None or current.function is None or current.function.cls is None:
            return UNKNOWN
        parameters = positional_parameters(current.function.node)
        found = frame.scope.lookup(parameters[0].arg) if parameters else None
        receiver = found[0] if found else UNKNOWN
        return ExternalObject("builtins.super", [current.function.cls, receiver])

    def super_attribute(self, base: ExternalObject, name: str) -> Value:
        cls, receiver = base.args[0], base.args[1]
        assert isinstance(cls, ClassValue)
        order = receiver.cls.mro() if isinstance(receiver, Instance) else []
        parents = order[order.index(cls) + 1 :] if cls in order else cls.mro()[1:]
        for parent in parents:
            member = parent.namespace.get(name)
            if isinstance(member, (Function, Transformed)):
                return bound_to(
                    member, receiver, receiver.cls if isinstance(receiver, Instance) else receiver
                )
            if member is not None:
                return member
        return ExternalMethod(base, name)


def _truth(known: bool | None) -> Static:
    return Static(kind="bool") if known is None else Static(known)


def _is_callable(value: Value) -> bool | None:
    if isinstance(value, (Function, BoundMethod, Partial, Transformed, ClassValue)):
        return True
    if isinstance(value, Instance) and value.cls.lookup("__call__") is not None:
        return True
    if isinstance(value, Static):
        return False if value.const is not MISSING or value.kind in ("int", "float", "bool", "str") else None
    if isinstance(value, (TupleValue, ListValue, DictValue, NumpyArray)):
        return False
    return False if isinstance(value, Array) and not value.tree else None


def _is_instance(value: Value, options: Sequence[Value]) -> bool | None:
    """`isinstance` of a value that is not an array, if it is certain."""
    if type(value) is ClassValue:
        return _class_is_instance(options)
    cls = value.cls if isinstance(value, (Instance, TupleValue)) else None
    if type(value) is TupleValue and not value.exact:
        return None
    if cls is not None:
        mine = {id(parent.node) for parent in cls.mro()}
        if any(type(option) is ClassValue and id(option.node) in mine for option in options):
            return True
        # A parameter may hold an instance of a subclass, if there is one; for named tuples that is rare.
        if type(value) is TupleValue:
            return False if all(type(option) is ClassValue for option in options) else None
        answers = [_object_is(cls, option) for option in options]
        if True in answers:
            return True
        return None if None in answers or cls.derived else False
    kinds = [_python_type(option) for option in options]
    # Python's own values are never instances of these types.
    others = [option for option, kind in zip(options, kinds, strict=True) if kind is None]
    partial = any(type(option) is External and option.name == "functools.partial" for option in others)
    known = all(_stands_alone(option) for option in others)
    if isinstance(value, Static) and (value.const is not MISSING or value.kind in _NUMBERS_AND_TEXT):
        kind_of = type(value.const) if value.const is not MISSING else _NUMBERS_AND_TEXT[value.kind]
        if issubclass(kind_of, tuple(kind for kind in kinds if kind is not None)):
            return True
        return False if known else None
    if isinstance(value, Static) and value.kind == "enum" and not any(kinds):
        enums = any(type(option) is ClassValue and option.kind == "enum" for option in others)
        return False if known and not enums else None
    if isinstance(value, (Function, BoundMethod, Partial)):
        if type(value) is Partial and partial:
            return True
        return False if known else None
    for holder, own in _HOLDERS:
        if isinstance(value, holder) and (type(value) is not ListValue or value.kind == "list"):
            if any(kind is not None and issubclass(own, kind) for kind in kinds):
                return True
            return False if known else None
    return None


def _has_members_of(value: Value, options: Sequence[Value]) -> bool:
    """Whether the class of a value has all members of a protocol among `options`."""
    cls = value.cls if isinstance(value, (Instance, TupleValue)) else None
    return cls is not None and any(type(one) is ClassValue and _satisfies(cls, one) for one in options)


def _satisfies(cls: ClassValue, option: ClassValue) -> bool:
    if _PROTOCOLS.isdisjoint(option.external_bases()):
        return False
    wanted = {name for name in (*option.namespace, *option.fields) if not name.startswith("_")}
    fields = cls.all_fields()
    return bool(wanted) and all(name in fields or cls.lookup(name) is not None for name in wanted)


_PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})


def _object_is(cls: ClassValue, option: Value) -> bool | None:
    """Whether an object of a project class is an instance of a type that is not among its classes."""
    if isinstance(option, ClassValue):
        return False if _stands_alone(option) else None
    name = option.name if isinstance(option, External) else ""
    bases = cls.external_bases()
    if name in _PYTHONS_OWN:
        return None if bases else False
    if name not in _ABILITIES:
        return None
    known = [_ABILITIES[base] for base in bases if base in _ABILITIES]
    if any(issubclass(base, _ABILITIES[name]) for base in known):
        return True
    named = name not in _OF_ARRAYS  # by its bases alone, not by its methods
    return False if named and all(base in _ABILITIES or base in _NO_TYPES for base in bases) else None


def _python_type(option: Value) -> type | None:
    """The Python type that `isinstance` tests for."""
    name = option.name if isinstance(option, External) else ""
    return _BUILTIN_TYPES.get(name) or _ABILITIES.get(name)


_NUMBERS_AND_TEXT = {"int": int, "float": float, "str": str}  # only the type may be known


def _class_is_instance(options: Sequence[Value]) -> bool | None:
    """Whether a class, as an object, is an instance of these: it is a type, never a number, text or container."""
    names = [option.name if isinstance(option, External) else "" for option in options]
    if "builtins.type" in names:
        return True
    return False if all(name in _BUILTIN_TYPES for name in names) else None


def _stands_alone(option: Value) -> bool:
    """Whether only objects of this class or its subclasses are instances of it."""
    if isinstance(option, External):
        return option.name in _ALONE
    if not isinstance(option, ClassValue) or option.meta is not None:
        return False
    return all(base in _NO_TYPES for base in option.external_bases())
