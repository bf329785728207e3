"""The transform that an expression applies to a function: `jax.jit`, `jax.jit(...)`, `functools.partial(jax.jit,
...)`."""

from __future__ import annotations

import ast

from jaxlint.codemods.source.site import Site

PARTIAL = "functools.partial"
JITS = frozenset({"jax.jit", "flax.nnx.jit"})


def applied(site: Site, node: ast.AST) -> str | None:
    """The full name of the transform, or of another called or named function; None if it has none."""
    if isinstance(node, ast.Call):
        return site.names.qualified(node.args[0] if is_partial(site, node) and node.args else node.func)
    return site.names.qualified(node) if isinstance(node, ast.expr) else None


def is_partial(site: Site, node: ast.AST) -> bool:
    """Whether it is a call of `functools.partial`."""
    return isinstance(node, ast.Call) and site.names.qualified(node.func) == PARTIAL
