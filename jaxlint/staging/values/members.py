"""Functions and methods of objects: how they are decorated, bound and wrapped."""

from __future__ import annotations

from jaxlint.staging.values.objects import (
    BoundMethod,
    ClassValue,
    Function,
    Instance,
    Partial,
    Transformed,
)
from jaxlint.staging.values.plain import Value


def member_kind(member: Value) -> str:
    """The decorator of a method, transformed or not: "staticmethod", "classmethod" or "property"; otherwise ""."""
    while isinstance(member, (Transformed, Partial)):
        if isinstance(member, Transformed):
            for kind in ("staticmethod", "classmethod", "property"):
                if kind in member.attributes:
                    return kind
        member = member.target if isinstance(member, Transformed) else member.function
    return member.kind if isinstance(member, Function) else ""


def innermost(target: Value) -> tuple[Function | None, int, set[str]]:
    """The innermost function of a target, the number of leading parameters that are bound, and the bound names."""
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
    """A method of `cls` as an attribute of `receiver`: a static method unchanged, a class method bound to the class."""
    kind = member_kind(member)
    if kind == "staticmethod":
        return member
    return BoundMethod(member, cls if kind == "classmethod" else receiver)


def is_plain_object(value: Value) -> bool:
    """Whether it is an instance of a project class that does not define its truth: such an instance is true."""
    if not isinstance(value, Instance):
        return False
    bases = [base for cls in value.cls.mro() for base in cls.bases]
    if not all(isinstance(base, ClassValue) for base in bases):
        return False
    return value.cls.lookup("__bool__") is None and value.cls.lookup("__len__") is None
