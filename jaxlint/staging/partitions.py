"""Modules that are taken apart and put together again: `eqx.partition` and `combine`, `nnx.split` and `merge`, and their like.

What is put together is an object of the same class, so that its methods are known; its arrays are those of the parts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jaxlint.staging.frame import Frame
from jaxlint.staging.stage import Why
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Partial,
    StarArgument,
    Static,
    TupleValue,
    Unknown,
    Value,
    doubtful,
    find_array,
    is_none,
    map_parts,
)

GRAPHDEF = "flax.nnx.GraphDef"
Special = Callable[[Any, list[Value], dict[str, Value], ast.AST, Frame], Value]
# Filters of equinox that leave nothing that JAX could trace in the other part.
_ARRAY_FILTERS = frozenset({"is_array", "is_inexact_array", "is_array_like", "is_inexact_array_like"})


# -- equinox: the same tree twice, with None for what is in the other part


def _partition(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args or isinstance(args[0], StarArgument):
        return UNKNOWN
    spec = args[1] if len(args) > 1 else kwargs.get("filter_spec")
    _ask(self, spec, args[0], kwargs, node, frame)
    sure = spec is None or _filters_arrays(spec)
    return TupleValue([_part(args[0], True, sure), _part(args[0], False, sure)])


def _filter(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args or isinstance(args[0], StarArgument):
        return UNKNOWN
    _ask(self, args[1] if len(args) > 1 else kwargs.get("filter_spec"), args[0], kwargs, node, frame)
    return _part(args[0], True, False)


def _ask(
    self: Any, spec: Value | None, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> None:
    """A filter is called with each leaf, and `is_leaf` with each node."""
    self.ask_leaf(tree, kwargs, node, frame)
    if isinstance(spec, (Function, Instance, Partial)):
        self.call_value(spec, [self.leaf_of(tree)], {}, node, frame)


def _filters_arrays(spec: Value) -> bool:
    name = spec.name.rpartition(".")[2] if isinstance(spec, (External, Function)) else ""
    return name in _ARRAY_FILTERS


def _part(value: Value, arrays: bool, sure: bool, depth: int = 6) -> Value:
    """What one side of a partition has of `value`: its arrays, or the rest. `sure`: all arrays are on the one side."""
    if depth == 0:
        return UNKNOWN
    if isinstance(value, Array):
        if arrays:
            return value if sure else replace(value, certain=False)
        return Static(None) if sure else replace(value, certain=False, tree=True, mixed=True)
    if isinstance(value, NumpyArray):
        return value if arrays else Static(None) if sure else UNKNOWN
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return map_parts(value, lambda part: _part(part, arrays, sure, depth - 1))
    if isinstance(value, Instance):
        fields = {name: _part(part, arrays, sure, depth - 1) for name, part in value.fields.items()}
        staged = value.staged if arrays or not sure else None
        return Instance(value.cls, fields, True, value.origin, value.ready, staged)
    if isinstance(value, ExternalObject):
        return value if arrays or not sure else replace(value, staged=None)
    if isinstance(value, Unknown):
        return Unknown(value.origin, value.flow) if arrays or not sure else UNKNOWN
    return Static(None) if arrays and sure and isinstance(value, Static) else value


def _combine(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args or any(isinstance(arg, StarArgument) for arg in args):
        return self.opaque_call([*args, *kwargs.values()], node, frame)
    self.ask_leaf(args[0], kwargs, node, frame)
    result = args[0]
    for other in args[1:]:
        result = _either(result, other)
    return result


def _either(left: Value, right: Value, depth: int = 6) -> Value:
    """Leaf by leaf, what is not None."""
    if is_none(left) or is_none(right) or depth == 0:
        return right if is_none(left) else left
    if isinstance(left, Instance) and isinstance(right, Instance) and left.cls is right.cls:
        fields = dict(right.fields)
        for name, value in left.fields.items():
            fields[name] = _either(value, fields[name], depth - 1) if name in fields else value
        staged = left.staged or right.staged
        return Instance(left.cls, fields, True, left.origin, left.ready or right.ready, staged)
    if isinstance(left, (TupleValue, ListValue)) and isinstance(right, type(left)):
        if left.items is not None and right.items is not None and len(left.items) == len(right.items):
            items = [_either(a, b, depth - 1) for a, b in zip(left.items, right.items, strict=True)]
            return replace(left, items=items)
        return left
    if isinstance(left, DictValue) and isinstance(right, DictValue):
        known = dict(right.items)
        for key, value in left.items.items():
            known[key] = _either(value, known[key], depth - 1) if key in known else value
        return DictValue(known, left.element or right.element)
    for holder, other in ((left, right), (right, left)):
        if isinstance(holder, (Instance, ExternalObject)) and isinstance(other, (Array, Unknown)):
            return _filled(holder, find_array(other))
        if isinstance(holder, (Function, Partial, BoundMethod, External)):
            return holder  # a leaf that is no array
        if isinstance(holder, Array):
            return holder
    return left


def _filled(value: Value, arrays: Array | None) -> Value:
    """`value` with arrays like these where it has none: what was left out, or what is not known."""
    if arrays is None or not arrays.staged:
        return value
    leaf = Array(True, arrays.why, tree=True, certain=False)
    if isinstance(value, Instance):
        fields = {
            name: leaf if is_none(part) or isinstance(part, (Array, Unknown)) else _filled(part, arrays)
            for name, part in value.fields.items()
        }
        return Instance(value.cls, fields, True, value.origin, value.ready, leaf)
    if isinstance(value, ExternalObject):
        return replace(value, staged=leaf)
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return map_parts(value, lambda part: _filled(part, arrays))
    return value


# -- flax.nnx: the structure, and the arrays


def _split(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args or isinstance(args[0], StarArgument):
        return UNKNOWN
    definition, state = _graphdef(self, args, kwargs, node, frame), _arrays(args[0], frame)
    _ask_filters(self, args[1:], state, node, frame)
    if any(isinstance(arg, StarArgument) for arg in args):
        return TupleValue(None, UNKNOWN)
    return TupleValue([definition, *(self.fresh(state) for _ in args[1:] or (None,))])


def _ask_filters(self: Any, filters: list[Value], state: Value, node: ast.AST, frame: Frame) -> None:
    """A filter that is a function is called with the path and the variable of each leaf."""
    for chosen in filters:
        if isinstance(chosen, (Function, Partial)):
            leaf = replace(state, tree=True, role="ref") if isinstance(state, Array) else UNKNOWN
            self.call_value(chosen, [TupleValue(None, Static(kind="key")), leaf], {}, node, frame)


def _graphdef(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return ExternalObject(GRAPHDEF, args[:1], node=node)


def _state(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args or any(isinstance(arg, StarArgument) for arg in args):
        return UNKNOWN
    state = _arrays(args[0], frame)
    _ask_filters(self, args[1:], state, node, frame)
    return state if len(args) < 3 else TupleValue([self.fresh(state) for _ in args[1:]])


def _arrays(module: Value, frame: Frame) -> Value:
    """The state of a module: a tree of arrays, tracers where the module was made or passed in a stage."""
    found = find_array(module, True) or (module.staged if isinstance(module, Instance) else None)
    if found is not None:
        return Array(True, found.why, tree=True, certain=False)
    if isinstance(module, (Instance, ExternalObject)):
        return Array(False, tree=True, certain=False)
    return module if isinstance(module, Array) else UNKNOWN


def _merge(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    definition = args[0] if args else UNKNOWN
    if isinstance(definition, ExternalObject) and definition.name == GRAPHDEF and definition.args:
        module = definition.args[0]
        staged = next((a for a in (find_array(part, True) for part in args[1:]) if a is not None), None)
        if staged is None:
            return self.replace_fields(module, {}) if isinstance(module, Instance) else module
        why = staged.why or Why("it is merged of tracers", frame.module, node)
        return self.to_staged(module, why, False)
    return UNKNOWN  # a module of which nothing is known


def _same(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return args[0] if args and not isinstance(args[0], StarArgument) else UNKNOWN


def _nothing(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return Static(None)


def _tree_at(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`eqx.tree_at(where, tree, replace)` calls `where` with the tree, and `replace_fn` with what that gives."""
    if len(args) < 2 or isinstance(args[0], StarArgument):
        return UNKNOWN
    chosen = self.call_value(args[0], [args[1]], {}, node, frame)
    self.ask_leaf(args[1], kwargs, node, frame)
    replacing = kwargs.get("replace_fn")
    if replacing is not None:
        self.call_value(replacing, [chosen], {}, node, frame)
    tree = args[1]
    if isinstance(tree, Instance):
        loose = {
            name: replace(part, certain=False, tree=True)
            for name, part in tree.fields.items()
            if isinstance(part, Array)
        }
        return self.replace_fields(tree, loose)
    if isinstance(tree, (TupleValue, ListValue, DictValue)):
        return doubtful(tree)
    return tree if isinstance(tree, (Array, ExternalObject)) else UNKNOWN


PARTITIONS: dict[str, Special] = {
    "equinox.partition": _partition,
    "equinox.filter": _filter,
    "equinox.combine": _combine,
    "equinox.tree_at": _tree_at,
    "equinox.apply_updates": _same,
    "equinox.nn.inference_mode": _same,
    "equinox.tree_inference": _same,
    "equinox.filter_shard": _same,
    "equinox.tree_check": _nothing,
    "flax.nnx.split": _split,
    "flax.nnx.graphdef": _graphdef,
    "flax.nnx.state": _state,
    "flax.nnx.merge": _merge,
    "flax.nnx.clone": _same,
    "flax.nnx.view": _same,
    "flax.nnx.as_pure": _same,
    "flax.nnx.pure": _same,
    "flax.nnx.update": _nothing,
}
