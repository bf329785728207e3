"""Classes whose instances refuse attribute assignments, and the places that still allow them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jaxlint.jaxapi.names import canonical
from jaxlint.staging.values import (
    ClassValue,
    External,
    ExternalObject,
    Function,
    Instance,
    Partial,
    Value,
    constant,
)
from jaxlint.staging.values.class_models import decorator_of, is_frozen_base
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import FunctionNode, dotted, nodes_of
from jaxlint.syntax.memo import cache

_RECORD = "typing.NamedTuple"


def frozen_by(decorators: list[tuple[ast.expr, Value]]) -> str:
    """The class decorator that freezes instances, or ""."""
    for _, value in decorators:
        made = value.function if isinstance(value, Partial) else value
        name = canonical(getattr(made, "name", ""))
        told = value.kwargs.get("frozen") if isinstance(value, (Partial, ExternalObject)) else None
        known = decorator_of(name)
        if known is None or not known.freezes:
            continue
        if known.freezes == "always" if told is None else constant(told) is True:
            return name
    return ""


def refusing(
    base: Value, name: str, frame: Frame, heirs: Mapping[ast.AST, list[ClassValue]]
) -> tuple[ClassValue, str] | None:
    """The class that refuses `base.name = value` in this frame, and the reason."""
    cls = getattr(base, "cls", None)
    if not isinstance(cls, ClassValue) or cls.lookup("__setattr__") is not None:
        return None
    if frame.function is not None and frame.function.cls is cls and name not in cls.all_fields():
        if any(not heir.frozen for heir in heirs.get(cls.node, ())):
            # a method of the class that also runs for subclasses: a plain subclass accepts new names
            return None
    reason = _reason(cls, name)
    if not reason or _is_of_class(frame) or (isinstance(base, Instance) and _is_being_made(cls, frame)):
        return None
    member = cls.lookup(name)
    if isinstance(member, Function) and member.kind == "property":
        return None
    return cls, reason


def _reason(cls: ClassValue, name: str) -> str:
    if any(_unlocks_itself(owner) for owner in cls.mro()):
        return ""
    for owner in cls.mro():
        # A plain subclass of a frozen dataclass accepts new names.
        if owner.frozen and (owner is cls or name in owner.all_fields()):
            return owner.frozen
    for base in cls.external_bases():
        if is_frozen_base(canonical(base)) and (base != _RECORD or _is_fixed_record(cls, name)):
            return canonical(base)
    return ""


def _unlocks_itself(owner: ClassValue) -> bool:
    known = decorator_of(owner.frozen)
    return (
        known is not None
        and bool(known.unlocked_by)
        and not known.unlocked_by.isdisjoint(_mentioned(owner.node))
    )


@cache
def _mentioned(node: ast.ClassDef) -> frozenset[str]:
    """The names, attributes and strings in a class."""
    names = {part.id for part in nodes_of(node, ast.Name)} | {
        part.attr for part in nodes_of(node, ast.Attribute)
    }
    texts = {part.value for part in nodes_of(node, ast.Constant) if isinstance(part.value, str)}
    return frozenset(names | texts)


def _is_fixed_record(cls: ClassValue, name: str) -> bool:
    """Whether a named tuple refuses a name: its own class has no `__dict__`, a subclass has one beside the fields."""
    if any(isinstance(base, External) and canonical(base.name) == _RECORD for base in cls.bases):
        return True
    return "__slots__" in cls.namespace or name in cls.all_fields()


def _is_of_class(frame: Frame) -> bool:
    """Whether the function works on the class, or creates an instance itself."""
    function = frame.function
    return function is not None and (
        function.kind == "classmethod"
        or function.name in ("__init_subclass__", "__class_getitem__", "__new__")
    )


def _is_being_made(cls: ClassValue, frame: Frame) -> bool:
    makers = cls.model.makers
    if not makers:
        return False
    current: Frame | None = frame
    while current is not None:
        function = current.function
        if function is not None and (
            function.name in makers or function.name in _called_by_makers(cls, makers)
        ):
            return True
        current = current.caller
    return False


def _called_by_makers(cls: ClassValue, makers: frozenset[str]) -> frozenset[str]:
    """The methods that constructors reach, which are also evaluated separately."""
    return frozenset().union(*(_reached(owner.node, makers) for owner in cls.mro()))


@cache
def _reached(node: ast.ClassDef, makers: frozenset[str]) -> frozenset[str]:
    methods: dict[str, FunctionNode] = {
        part.name: part for part in node.body if isinstance(part, ast.FunctionDef)
    }
    found: set[str] = set()
    waiting = [methods[name] for name in makers if name in methods]
    while waiting:
        for call in nodes_of(waiting.pop(), ast.Attribute):
            owner, _, name = dotted(call).rpartition(".")
            if name not in found and owner:
                found.add(name)
                if name in methods:
                    waiting.append(methods[name])
    return frozenset(found)
