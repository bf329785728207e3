"""Classes that say themselves how they flatten: which of their attributes are leaves."""

from __future__ import annotations

import ast

from jaxlint.staging.values import ClassValue, Function


def flattening(cls: ClassValue) -> Function | None:
    """The function that flattens an instance: a method, or what `register_pytree_node` was given."""
    for name in ("tree_flatten", "tree_flatten_with_keys"):
        method = cls.lookup(name)
        if isinstance(method, Function):
            return method
    return None


def leaf_attributes(flatten: Function) -> list[str] | None:
    """The attributes that `flatten` returns as children, in order; None where its source does not say."""
    node = flatten.node
    parameters = [*node.args.posonlyargs, *node.args.args]
    if not parameters:
        return None
    me = parameters[0].arg
    if isinstance(node, ast.Lambda):
        return _children(node.body, me, {})
    assigned: dict[str, ast.expr | None] = {}
    grown: set[str] = set()
    results: list[ast.expr | None] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                if isinstance(target, ast.Name):
                    assigned[target.id] = None if target.id in assigned else part.value
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            grown.add(part.target.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            grown.add(part.value.id)  # the method of a list, as `children.append`
        elif isinstance(part, ast.Return):
            results.append(part.value)
    if len(results) != 1 or results[0] is None:
        return None
    return _children(results[0], me, assigned | dict.fromkeys(grown))


def _children(result: ast.expr, me: str, assigned: dict[str, ast.expr | None]) -> list[str] | None:
    if not isinstance(result, ast.Tuple) or len(result.elts) != 2:
        return None
    return _names(result.elts[0], me, assigned)


def _names(node: ast.expr | None, me: str, assigned: dict[str, ast.expr | None]) -> list[str] | None:
    if isinstance(node, ast.Name) and assigned.get(node.id) is not None:
        return _names(assigned[node.id], me, {})
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    found: list[str] = []
    for element in node.elts:
        if isinstance(element, ast.Tuple) and len(element.elts) == 2 and _is_key(element.elts[0]):
            element = element.elts[1]  # a pair of key and child
        if (
            not isinstance(element, ast.Attribute)
            or not isinstance(element.value, ast.Name)
            or element.value.id != me
        ):
            return None
        found.append(element.attr)
    return found


def _is_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
