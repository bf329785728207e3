"""Classes that define how they flatten: which attributes are leaves, and which are auxiliary data."""

from __future__ import annotations

import ast

from jaxlint.staging.values.arrays import Array
from jaxlint.staging.values.objects import (
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    Registration,
    TupleValue,
)
from jaxlint.staging.values.parts import find_array, parts_of
from jaxlint.staging.values.plain import Unknown, Value
from jaxlint.syntax.facts import dotted, nodes_of, walk

_TO_NUMPY = ("np.asarray", "np.array", "numpy.asarray", "numpy.array")


def flattening(cls: ClassValue) -> Function | None:
    """The function that flattens an instance: a method, or the one registered by `register_pytree_node`."""
    for name in ("tree_flatten", "tree_flatten_with_keys"):
        method = cls.lookup(name)
        if isinstance(method, Function):
            return method
    return None


def leaf_attributes(flatten: Function) -> list[str] | None:
    """The attributes that `flatten` returns as children, in order; None if its source does not show them."""
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
    for part in walk(node):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                if isinstance(target, ast.Name):
                    assigned[target.id] = None if target.id in assigned else part.value
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            grown.add(part.target.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            grown.add(part.value.id)  # the list method, as in `children.append`
        elif isinstance(part, ast.Return):
            results.append(part.value)
    if len(results) != 1 or results[0] is None:
        return None
    return _children(results[0], me, assigned | dict.fromkeys(grown))


def kept_attributes(flatten: Function) -> dict[str, ast.AST]:
    """The attributes that `flatten` returns unchanged as auxiliary data, alone or in a tuple or dict."""
    parameters = [*flatten.node.args.posonlyargs, *flatten.node.args.args]
    results = [part.value for part in walk(flatten.node) if isinstance(part, ast.Return)]
    if (
        not parameters
        or len(results) != 1
        or not isinstance(results[0], ast.Tuple)
        or len(results[0].elts) != 2
    ):
        return {}
    kept: ast.expr | None = results[0].elts[1]
    if isinstance(kept, ast.Name):
        bound = [
            part.value for part in nodes_of(flatten.node, ast.Assign) if dotted(part.targets[0]) == kept.id
        ]
        kept = bound[0] if len(bound) == 1 else None
    parts = (
        kept.elts
        if isinstance(kept, (ast.Tuple, ast.List))
        else kept.values
        if isinstance(kept, ast.Dict)
        else [kept]
    )
    found: dict[str, ast.AST] = {}
    for part in parts:
        if isinstance(part, ast.Call) and dotted(part.func) in _TO_NUMPY and part.args:
            part = part.args[0]
        if isinstance(part, ast.Attribute) and dotted(part.value) == parameters[0].arg:
            found[part.attr] = part
    return found


def has_no_aux_data(flatten: Function) -> bool:
    """Whether `flatten` returns None or nothing as auxiliary data, so that an instance consists of its leaves."""
    results = [part.value for part in walk(flatten.node) if isinstance(part, ast.Return)]
    kept = [
        result.elts[1] if isinstance(result, ast.Tuple) and len(result.elts) == 2 else None
        for result in results
    ]
    return bool(kept) and all(
        (isinstance(part, ast.Constant) and part.value is None)
        or (isinstance(part, ast.Tuple) and not part.elts)
        for part in kept
    )


def is_kept(cls: ClassValue, name: str) -> bool:
    """Whether the attribute is auxiliary data, so that it is not a tracer in a traced function."""
    declared = cls.all_fields().get(name)
    if declared is not None:
        return declared.static
    flatten = flattening(cls)
    leaves = leaf_attributes(flatten) if flatten is not None else None
    return (
        flatten is not None and leaves is not None and name in kept_attributes(flatten).keys() - set(leaves)
    )


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
            element = element.elts[1]  # a key and a child
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


def registration(cls: ClassValue) -> Registration | None:
    """The registration of `cls` by `register_pytree_node`."""
    return next((owner.registered for owner in cls.mro() if owner.registered is not None), None)


def is_pytree(cls: ClassValue) -> bool:
    """Whether JAX flattens instances of `cls`, instead of treating each as a leaf."""
    return cls.model.pytree or flattening(cls) is not None or registration(cls) is not None


def tracer_in(value: Value, depth: int = 4) -> Array | None:
    """The first tracer among the leaves of `value` in the sense of JAX: a plain object has none."""
    if isinstance(value, Instance) and value.staged is None and not is_pytree(value.cls):
        return None
    if depth == 0 or not isinstance(value, (Instance, TupleValue, ListValue, DictValue)):
        return find_array(value, True, 0)
    found = [
        tracer for tracer in (tracer_in(part, depth - 1) for part in parts_of(value)) if tracer is not None
    ]
    if not found and _is_bare(value):
        assert isinstance(value, Instance)
        return value.staged
    return next(
        (tracer for tracer in found if tracer.certain),
        next((tracer for tracer in found if not tracer.mixed), found[0] if found else None),
    )


def _is_bare(value: Value) -> bool:
    """Whether it is an object inside a stage with no known attributes."""
    return isinstance(value, Instance) and all(isinstance(part, Unknown) for part in value.fields.values())
