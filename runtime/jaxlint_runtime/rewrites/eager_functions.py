"""Functions of a program that may compute outside jit, judging by its source: these are counted in the run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_PACKAGES = frozenset({"jax", "optax", "flax", "equinox", "haiku", "chex", "distrax", "diffrax", "rlax"})
_LOOPS = (ast.For, ast.While, ast.ListComp)


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


def looping_methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Methods that mention JAX and contain a loop, such as the forward pass of a recurrent network: a trace unrolls
    it."""
    known = set(_imported(tree))
    for node in ast.walk(tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and not known.isdisjoint(_names(method)):
                if any(isinstance(part, _LOOPS) for part in ast.walk(method)):
                    yield method


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in _PACKAGES:
                    yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _PACKAGES:
            yield from (alias.asname or alias.name for alias in node.names)


def _names(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
