"""What names in the source stand for."""

from __future__ import annotations

import ast

from jaxlint.jaxapi.names import canonical
from jaxlint.staging.values import External
from jaxlint.staging.values.scope import Scope
from jaxlint.syntax.facts import dotted


def external_name(node: ast.AST, scope: Scope) -> str:
    """The full name of what an expression takes from a library, as `jax.numpy.zeros`; "" of anything else."""
    root, _, path = dotted(node).partition(".")
    held = scope.lookup(root) if root else None
    if held is None or not isinstance(held[0], External):
        return ""
    return canonical(f"{held[0].name}.{path}" if path else held[0].name)
