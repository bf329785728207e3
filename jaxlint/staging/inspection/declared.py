"""Annotations that say of a parameter that no array is, or is held by, what is passed for it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.staging.project import Module
from jaxlint.staging.values import ClassValue, External, Function, Scope, Value
from jaxlint.staging.values.pytrees import is_pytree
from jaxlint.syntax.facts import (
    all_parameters,
    arrayless_annotations,
    element_type,
    is_static_type,
    named_type,
)

# What an annotation is in the file where it stands.
Evaluate = Callable[[ast.expr, Module, Scope], Value]

# Objects of other classes JAX takes for leaves, and it does not take a leaf that is no array.
_LEAVES = frozenset({"plain", "dataclass", "enum", "linen", "haiku", "static"})
_SAY_NOTHING = ("typing.", "abc.", "builtins.object", "enum.")  # bases that make no class a pytree
_DEPTH = 3  # of records in records


def is_declared_static(name: str, function: Function, evaluate: Evaluate) -> bool:
    """Whether the annotation of a parameter says so, or that of the same parameter of a method that this one overrides."""
    overridden = [owner.namespace.get(function.name) for owner in function.cls.mro()] if function.cls else []
    for method in (function, *overridden):
        if not isinstance(method, Function):
            continue
        declared = next((p.annotation for p in all_parameters(method.node) if p.arg == name), None)
        if declared is not None:
            return name in arrayless_annotations(method.node) or _names_no_array(
                declared, method.module, method.scope, evaluate
            )
    return False


def _names_no_array(
    annotation: ast.expr | None, module: Module, scope: Scope, evaluate: Evaluate, depth: int = _DEPTH
) -> bool:
    """Whether an annotation names such a class of the project, records of such, or another name for a type of Python."""
    named = element_type(annotation) or named_type(annotation)
    if named is None or depth == 0:
        return False
    value = evaluate(named, module, scope)
    if isinstance(value, External):
        return is_static_type(ast.Name(value.name.rpartition(".")[2]))
    if not isinstance(value, ClassValue) or value.derived:
        return False
    if value.kind == "namedtuple":
        fields = value.all_fields().values()
        return bool(fields) and all(
            is_static_type(field.annotation)
            or _names_no_array(field.annotation, value.module, value.scope, evaluate, depth - 1)
            for field in fields
        )
    return value.kind in _LEAVES and not is_pytree(value) and _is_known(value)


def _is_known(cls: ClassValue) -> bool:
    """Whether all bases of a class are seen, but for those that give it no leaves."""
    if not cls.is_ordinary:
        return True
    return all(
        isinstance(base, ClassValue) or (isinstance(base, External) and base.name.startswith(_SAY_NOTHING))
        for owner in cls.mro()
        for base in owner.bases
    )
