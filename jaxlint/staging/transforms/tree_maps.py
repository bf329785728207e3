"""Maps over pytrees, which call a function with each leaf."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.dtypes import canonical_dtype
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.transforms.bodies import Bodies
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.trees import Trees
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Origin,
    Partial,
    Static,
    TupleValue,
    Unknown,
    Value,
    find_array,
    is_none,
    join,
    join_all,
    kind_of_static,
    map_parts,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.forms import linked, row, same, stacked
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.leaves import IsLeaf, UnclearTreeError, leaves_in, mapped
from jaxlint.staging.values.pytrees import is_pytree, tracer_in
from jaxlint.staging.values.stage import Why
from jaxlint.staging.values.truth import truth
from jaxlint.syntax.facts import positional_parameters

# Operations that change the shape of their operands.
_RESIZING = frozenset(
    """stack concatenate concat expand_dims squeeze sum mean max min prod std var linalg.norm dot vdot vstack hstack
    repeat tile broadcast_to""".split()  # noqa: SIM905
)
_FEW = 8  # leaves of a tree that are mapped one by one
_PLAIN = frozenset({"bool", "complex", "enum", "float", "int", "str"})


class TreeMaps(Part):
    """Evaluates `jax.tree.map` and the like."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.bodies = machine.part(Bodies)
        self.boundary = machine.part(Boundary)
        self.calls = machine.part(Calls)
        self.keys = machine.part(Keys)
        self.trees = machine.part(Trees)

    def flow_map(self, api: str, call: Call) -> Value:
        node, frame = call.node, call.frame
        body = call.argument(0, "f", UNKNOWN)
        if api.startswith("jax.tree"):
            return self.tree_map(
                body,
                [*call.args[1:], *([call.kwargs["tree"]] if "tree" in call.kwargs else [])],
                call.kwargs,
                node,
                frame,
            )
        why = self.bodies.body_why(api, body, node, frame)
        xs = call.argument(1, "xs", UNKNOWN)
        born, before = Origin(api).serial, list(frame.consumed)
        staged = fresh(self.boundary.to_staged(xs, Why("the mapped inputs of", cause=why)))
        linked(staged, xs, row)
        result = self.bodies.staged_call(api, body, [staged], node, frame, "map", why)
        self.bodies.tell_body(api, "the function", body, 1, result, node, frame)
        self.keys.tell_constant_keys(api, body, before, born, [xs, staged], node, frame)
        along = (xs, 0) if isinstance(xs, Array) else None
        return self.bodies.flow_result(stacked(result, along), frame, [body, xs])

    def flow_map_with_path(self, api: str, call: Call) -> Value:
        body = call.args[0] if call.args else UNKNOWN
        return self.tree_map(Partial(body, [UNKNOWN], {}), call.args[1:], call.kwargs, call.node, call.frame)

    def tree_map(
        self,
        body: Value,
        trees: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """The result of mapping `body` over the trees."""
        custom_leaf = "is_leaf" in kwargs
        if self.machine.exact and trees:
            whole = self.map_leaves(body, trees, Call(trees, kwargs, node, frame))
            if whole is not None:
                return whole
        if custom_leaf and len(trees) == 1:
            mapped = self.map_chosen(body, trees[0], kwargs, node, frame)
            if mapped is not None:
                return mapped
        trees = [_with_structure(tree) for tree in trees]
        if trees:
            self.ask_leaf(trees[0], kwargs, node, frame)
        born, before = Origin("leaf").serial, list(frame.consumed)
        if len(trees) == 1 and not (custom_leaf or is_identity(body)):
            mapped = self.map_structure(body, trees[0], kwargs, node, frame)
            if mapped is not None:
                if not _is_leaf(trees[0]):
                    self.keys.tell_constant_keys("jax.tree.map", body, before, born, trees, node, frame)
                return mapped
        if trees and not custom_leaf and not is_identity(body) and _decides(trees):
            whole = self.map_leaves(body, trees, Call(trees, kwargs, node, frame))
            if whole is not None:
                self.keys.tell_constant_keys("jax.tree.map", body, before, born, trees, node, frame)
                return whole
        if len(trees) > 1 and not custom_leaf and _is_leaf(trees[0]):
            return self.calls.call_value(body, Call(trees, {}, node, frame))  # the others are passed whole
        self.trees.rebuilt(trees, node, frame)
        leaves = self.leaves_of(trees, custom_leaf, frame)
        result = self.calls.call_value(body, Call(leaves, {}, node, frame))
        self.keys.tell_constant_keys("jax.tree.map", body, before, born, trees, node, frame)
        if len(trees) == 1 and is_identity(body):
            return _copied(trees[0])
        if frame.stage.abstract and all(type(tree) is Unknown for tree in trees):
            return UNKNOWN  # like the tree
        first = trees[0] if trees else UNKNOWN
        if isinstance(result, Array):
            return _tree_of(result, first)
        if isinstance(result, NumpyArray) and isinstance(first, NumpyArray):
            return result
        if custom_leaf and frame.stage.staged and isinstance(result, Instance) and is_pytree(result.cls):
            held = tracer_in(result)
            if held is not None:  # nothing is known about the tree except that its objects hold tracers
                return Array(True, held.why, tree=True, certain=False, mixed=held.mixed)
        if frame.stage.abstract and isinstance(result, TupleValue):
            return self.calls.opaque_call([result], node, frame)
        return UNKNOWN  # a tree of the function's results

    def map_leaves(self, body: Value, trees: list[Value], call: Call) -> Value | None:
        """The result of mapping `body` over trees with known leaves; None for others."""

        def change(*leaves: Value) -> Value:
            single = [self.leaf_of(leaf) if _is_tree(leaf) else leaf for leaf in leaves]
            return self.calls.call_value(body, call.passing(single, {}))

        try:
            return mapped(change, trees[0], trees[1:], self.leaf_test(call))
        except UnclearTreeError:
            return None

    def leaf_test(self, call: Call) -> IsLeaf | None:
        """The result of `is_leaf` for a part of a tree; None if there is no such function."""
        function = call.kwargs.get("is_leaf")
        if function is None or is_none(function):
            return None
        return lambda part: truth(self.calls.call_value(function, call.passing([part], {})))

    def leaves_of(self, trees: list[Value], custom_leaf: bool, frame: Frame) -> list[Value]:
        """The arguments of the mapped function: a leaf from each tree."""
        leaves = [self.leaf_of(tree, custom_leaf) for tree in trees[:1]]
        # If leaves of the first tree are not arrays, those of the others need not be either: they may be trees.
        loose = custom_leaf or not (leaves and isinstance(leaves[0], Array))
        leaves += [self.leaf_of(tree, loose) for tree in trees[1:]]
        unknown = all(type(tree) is Unknown for tree in trees)
        some = Array(True, frame.stage.why, tree=custom_leaf, certain=False, mixed=True)
        if frame.stage.abstract and unknown:
            # From an unknown tree inside a stage: mostly tracers.
            leaves = [some for _ in trees]
        elif frame.stage.abstract and type(trees[0]) is Unknown and _staged_leaf(leaves):
            # Where the other trees have tracers, it has leaves. Settings come after it.
            leaves[0] = some
        return leaves

    def map_chosen(
        self, body: Value, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value | None:
        """tree.map over objects, or a small container of them, that `is_leaf` treats as leaves; None for other trees."""
        if isinstance(tree, Choice) and all(isinstance(option, Instance) for option in tree.options):
            parts = [self.map_chosen(body, option, kwargs, node, frame) for option in tree.options]
            known = [part for part in parts if part is not None]
            return join_all(known) if len(known) == len(parts) else None
        if isinstance(tree, Instance):
            chosen = truth(self.calls.call_value(kwargs["is_leaf"], Call([tree], {}, node, frame)))
            return self.calls.call_value(body, Call([tree], {}, node, frame)) if chosen else None
        if isinstance(tree, (TupleValue, ListValue)) and tree.items and len(tree.items) <= 6:
            if all(isinstance(part, (Instance, Choice)) for part in tree.items):
                return self.map_structure(body, tree, kwargs, node, frame)
        return None

    def ask_leaf(self, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """Calls `is_leaf` for each node of the tree, its leaves included."""
        if "is_leaf" in kwargs:
            self.calls.call_value(kwargs["is_leaf"], Call([self.leaf_of(tree, custom=True)], {}, node, frame))

    def map_structure(
        self, body: Value, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value | None:
        """tree.map over a small container with known parts, part by part."""
        if isinstance(tree, (TupleValue, ListValue)) and tree.items is not None and len(tree.items) <= 6:
            parts = [self.tree_map_part(body, part, kwargs, node, frame) for part in tree.items]
            return (
                TupleValue(parts, cls=tree.cls)
                if isinstance(tree, TupleValue)
                else ListValue(parts, join_all(parts))
            )
        if isinstance(tree, DictValue) and tree.element is None and len(tree.items) <= 6:
            return DictValue(
                {k: self.tree_map_part(body, v, kwargs, node, frame) for k, v in tree.items.items()}
            )
        if isinstance(tree, (TupleValue, ListValue)) and type(tree.element) is not Unknown:
            part = self.tree_map_part(body, tree.element, kwargs, node, frame)
            return TupleValue(None, part) if isinstance(tree, TupleValue) else ListValue(None, part)
        return self.calls.call_value(body, Call([tree], {}, node, frame)) if _is_leaf(tree) else None

    def tree_map_part(
        self, body: Value, part: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if isinstance(part, (Static, NumpyArray)) and not (isinstance(part, Static) and part.const is None):
            return self.calls.call_value(body, Call([part], {}, node, frame))
        return self.tree_map(body, [part], kwargs, node, frame) if not is_none(part) else part

    def leaf_of(self, tree: Value, custom: bool = False) -> Value:
        found = find_array(tree)
        if found is None:
            return UNKNOWN
        return Array(
            found.staged,
            found.why,
            tree=custom,
            certain=found.certain,
            like=found.like or found.origin,
            jitted=found.jitted,
            flow=found.flow,
        )

    def flow_reduce(self, api: str, call: Call) -> Value:
        args = call.args
        if len(args) < 2:
            return UNKNOWN
        known = leaves_in(args[1], self.leaf_test(call)) if self.machine.exact else None
        if known:
            begin = args[2] if len(args) > 2 else call.kwargs.get("initializer")
            total, *rest = known if begin is None else [begin, *known]
            for part in rest:
                total = self.calls.call_value(args[0], call.passing([total, part], {}))
            return total
        leaf = self.leaf_of(args[1])
        start = args[2] if len(args) > 2 else leaf
        result = self.calls.call_value(args[0], call.passing([start, leaf], {}))
        return join(result, start) if not isinstance(result, Array) else result


def is_identity(body: Value) -> bool:
    """Whether it is `lambda x: x`."""
    node = body.node if isinstance(body, Function) else None
    if not isinstance(node, ast.Lambda) or not isinstance(node.body, ast.Name):
        return False
    names = [parameter.arg for parameter in positional_parameters(node)]
    return names == [node.body.id]


def _is_leaf(value: Value) -> bool:
    """Whether JAX treats a value as a leaf, so that `tree.map` passes it to the function."""
    if isinstance(value, Choice):
        return all(map(_is_leaf, value.options))
    if isinstance(value, Instance):
        return not is_pytree(value.cls)
    if isinstance(value, Static):
        return kind_of_static(value) in _PLAIN
    if isinstance(value, Array):
        known = value.made is not None or bool(value.dtype)  # of a tree neither is known
        return value.certain and not value.tree and not value.mixed and known
    return isinstance(value, (Function, BoundMethod, Partial, External, ClassValue))


def _decides(trees: list[Value]) -> bool:
    """Whether the first of several trees is known, and the others have its structure: JAX demands it."""
    first, *others = trees
    return _has_few_leaves(first) and all(_is_tree(tree) or _has_few_leaves(tree) for tree in others)


def _is_tree(value: Value) -> bool:
    """Whether it is a tree of arrays with unknown structure."""
    return isinstance(value, Array) and value.tree and value.certain and not value.mixed


def _with_structure(tree: Value) -> Value:
    """Updated parameters as a tree like those before: with their structure, and arrays of their shapes and dtypes."""
    made = tree.made if isinstance(tree, Array) and tree.tree else None
    if not isinstance(tree, Array) or made is None or made.name != "optax.apply_updates" or not made.args:
        return tree
    first = _with_structure(made.args[0])
    if isinstance(first, Array) or not _has_few_leaves(first):
        return tree

    def updated(leaf: Value) -> Value:
        return replace(tree, tree=False, made=None, dtype=canonical_dtype(dtype_of(leaf)), form=same(leaf))

    return mapped(updated, first, [])


def _has_few_leaves(tree: Value) -> bool:
    """Whether all leaves of a container are known arrays, few enough for a call of the mapped function for each."""
    leaves = None if isinstance(tree, (Array, Unknown)) else leaves_in(tree)
    return bool(leaves) and len(leaves or ()) <= _FEW and all(map(_is_array, leaves or ()))


def _is_array(leaf: Value) -> bool:
    return isinstance(leaf, NumpyArray) or (isinstance(leaf, Array) and leaf.certain and not leaf.tree)


def _tree_of(leaf: Array, mapped: Value) -> Array:
    """The result of a map over `mapped` whose function returned `leaf`."""
    found = find_array(mapped)
    like = found.like or found.origin if found is not None and isinstance(mapped, Array) else None
    if leaf.made is not None and leaf.made.name in _RESIZING:
        like = None
    return Array(
        leaf.staged,
        leaf.why,
        tree=True,
        certain=leaf.certain and (found is None or found.certain),
        like=like,
        jitted=leaf.jitted,
        flow=leaf.flow,
    )


def _staged_leaf(leaves: list[Value]) -> bool:
    return any(isinstance(leaf, Array) and leaf.staged for leaf in leaves)


def _copied(tree: Value, depth: int = 4) -> Value:
    """The same leaves in new containers."""
    if isinstance(tree, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(tree, lambda part: _copied(part, depth - 1))
    if isinstance(tree, Instance) and is_pytree(tree.cls):
        return replace(tree, fields=dict(tree.fields))
    return tree
