"""Functions of a program that may compute outside jit, judging by its source: these are counted in the run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_PACKAGES = frozenset({"jax", "optax", "flax", "equinox", "haiku", "chex", "distrax", "diffrax", "rlax"})


def eager_functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of a module without decorators that mention JAX, or such a function."""
    known = set(_imported(tree))
    waiting = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    while True:
        found = [one for one in waiting if not known.isdisjoint(_names(one))]
        if not found:
            return
        waiting = [one for one in waiting if one not in found]
        known |= {one.name for one in found}
        yield from (one for one in found if not one.decorator_list)


def eager_methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Methods without decorators of classes that mention JAX: steps that call attributes of `self`, and
    forward passes with loops, which a trace unrolls.
    """
    known = set(_imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not known.isdisjoint(_names(node)):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.decorator_list:
                    if method.name == "__call__" or not method.name.startswith("__"):
                        yield method


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in _PACKAGES:
                    yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _PACKAGES:
            yield from (alias.asname or alias.name for alias in node.names)


def _names(function: ast.FunctionDef | ast.ClassDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
