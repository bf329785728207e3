"""Parameter annotations that exclude arrays: the argument neither is nor contains one."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.staging.module import Module
from jaxlint.staging.values import ClassValue, External, Function, Scope, Value
from jaxlint.staging.values.pytrees import is_pytree
from jaxlint.syntax.facts import (
    all_parameters,
    arrayless_annotations,
    element_type,
    is_static_type,
    named_type,
)

# The value of an annotation in its file.
Evaluate = Callable[[ast.expr, Module, Scope], Value]

# JAX treats objects of other classes as leaves, and rejects leaves that are not arrays.
_LEAVES = frozenset({"plain", "dataclass", "enum", "linen", "haiku", "static"})
_SAY_NOTHING = ("typing.", "abc.", "builtins.object", "enum.")  # bases that do not make a class a pytree
_DEPTH = 3  # nested records


def is_declared_static(name: str, function: Function, evaluate: Evaluate) -> bool:
    """Whether the annotation of a parameter excludes arrays, or that of the overridden method's parameter."""
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
    """Whether an annotation names such a project class, records of such, or an alias of a Python type."""
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
    """Whether all bases of a class are visible, apart from those that add no leaves."""
    if not cls.is_ordinary:
        return True
    return all(
        isinstance(base, ClassValue) or (isinstance(base, External) and base.name.startswith(_SAY_NOTHING))
        for owner in cls.mro()
        for base in owner.bases
    )
