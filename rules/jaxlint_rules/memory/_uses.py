"""What a file shows of the uses of a step and of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Collection

from jaxlint.api import Module, TransformEvent
from jaxlint.api.syntax import dotted, is_script, nodes_of, walk


def is_aliased(name: str, owner: ast.AST) -> bool:
    """Whether the function also stores the value under another name or in a container."""
    for child in walk(owner):
        if isinstance(child, ast.Assign) and dotted(child.value) == name:
            return True
        if isinstance(child, (ast.List, ast.Dict, ast.Set)):
            parts = child.values if isinstance(child, ast.Dict) else child.elts
            if any(part is not None and dotted(part) == name for part in parts):
                return True
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
            if child.func.attr in ("append", "add", "insert", "setdefault", "put") and any(
                dotted(a) == name for a in child.args
            ):
                return True
    return False


def begins_as_another(name: str, owner: ast.AST) -> bool:
    """Whether a value begins as that of another name, which is read later: `local = shared`, and `local - shared` after the loop."""
    for child in walk(owner):
        if not isinstance(child, ast.Assign) or not any(dotted(target) == name for target in child.targets):
            continue
        other = dotted(child.value)
        if other and any(
            isinstance(one, (ast.Name, ast.Attribute))
            and isinstance(one.ctx, ast.Load)
            and dotted(one) == other
            and one.lineno > child.lineno
            for one in walk(owner)
        ):
            return True
    return False


def is_public(event: TransformEvent) -> bool:
    """Whether other code may call the function: it is a top-level name of a module that is not a script."""
    if event.frame.function is not None:
        return False
    name = event.node.name if isinstance(event.node, ast.FunctionDef) else event.transformed.label
    if name.startswith("_"):
        return False
    return not is_script(event.frame.module.tree)


def are_all_uses(node: ast.AST, module: Module, seen: Collection[ast.AST]) -> bool:
    """Whether every use of the name of a jitted function in its file is one of the `seen` calls."""
    names = {node.name} if isinstance(node, ast.FunctionDef) else set()
    parent = module.parents.get(node)
    if isinstance(parent, ast.Assign):
        names = {dotted(target) for target in parent.targets}
    elif not names:
        return False
    mentions: list[ast.Name | ast.Attribute] = [
        *nodes_of(module.tree, ast.Name),
        *nodes_of(module.tree, ast.Attribute),
    ]
    for child in mentions:
        if isinstance(child.ctx, ast.Load) and dotted(child) in names:
            user = module.parents.get(child)
            if not (isinstance(user, ast.Call) and user.func is child and user in seen):
                return False
    return True
