"""Type parameters of functions, classes and aliases: names that shadow others in their definition and have no value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from jaxlint.staging.evaluator.scopes import NOTHING
from jaxlint.staging.values import UNKNOWN, Value
from jaxlint.staging.values.frame import Frame


def type_parameters(node: ast.AST) -> dict[str, Value]:
    """The type parameters of a definition."""
    return {parameter.name: UNKNOWN for parameter in getattr(node, "type_params", ())}


def seen_in_signature(node: ast.AST, frame: Frame) -> AbstractContextManager[None]:
    """Annotations, bases and the value of an alias see the type parameters of the definition; later code does not."""
    own = type_parameters(node)
    return _seen(own, frame) if own else NOTHING


@contextmanager
def _seen(own: dict[str, Value], frame: Frame) -> Iterator[None]:
    hidden = {name: frame.scope.variables[name] for name in own if name in frame.scope.variables}
    frame.scope.variables.update(own)
    try:
        yield
    finally:
        for name in own:
            frame.scope.variables.pop(name, None)
        frame.scope.variables.update(hidden)
