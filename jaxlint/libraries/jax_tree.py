"""jax.tree and jax.tree_util: flattening and unflattening trees, and registering classes."""

from __future__ import annotations

import math
from dataclasses import replace

from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import declared, form_of, numbers_of
from jaxlint.staging.transforms.tree_maps import TreeMaps
from jaxlint.staging.transforms.trees import Trees
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    Choice,
    ClassValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Registration,
    Static,
    TupleValue,
    Value,
    find_array,
    join_all,
)
from jaxlint.staging.values.arrays import Form
from jaxlint.staging.values.class_models import ClassModel, decorator
from jaxlint.staging.values.constants import constant_names
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.leaves import UnclearTreeError, leaves_in, mapped
from jaxlint.staging.values.plain import TreeDef
from jaxlint.staging.values.pytrees import is_pytree

_CUSTOM = ClassModel("custom")  # it flattens itself
_REGISTERED = ClassModel("registered", fields=True, pytree=True)
for _name in ("register_dataclass", "register_pytree_node_class", "register_pytree_with_keys_class"):
    decorator(f"jax.tree_util.{_name}", _REGISTERED, writes_init=False)
decorator("jax.tree_util.register_static", ClassModel("static", fields=True), writes_init=False)


@calls("jax.tree.leaves")
def leaves(call: LibraryCall) -> ListValue:
    _take_apart(call)
    known = _known_leaves(call)
    if known is not None:
        return ListValue(known, stage=call.frame.stage)
    objects = _plain_objects(call.args[0]) if call.args else None
    if objects is not None:
        return ListValue(objects, join_all(objects), stage=call.frame.stage)
    found = find_array(call.args[0]) if call.args else None
    if found is None:
        return ListValue(None, UNKNOWN, stage=call.frame.stage)
    leaf = Array(found.staged, found.why, certain=found.certain, jitted=found.jitted, flow=found.flow)
    return ListValue(None, leaf, stage=call.frame.stage)


def _known_leaves(call: LibraryCall) -> list[Value] | None:
    """Each leaf of a tree with known structure."""
    if not call.machine.exact or not call.args:
        return None
    return leaves_in(call.args[0], call.machine.part(TreeMaps).leaf_test(call))


def _structure_of(call: LibraryCall) -> Value:
    """The structure of the tree argument."""
    if "is_leaf" in call.kwargs or _known_leaves(call) is None:
        return Static(kind="treedef")
    return TreeDef(kind="treedef", template=call.args[0])


def _take_apart(call: LibraryCall) -> None:
    """Calls the functions of the program that JAX calls while it flattens the tree."""
    if call.args:
        call.machine.part(Trees).rebuilt(call.args[:1], call.node, call.frame)
        call.ask_leaf(call.args[0])


def _plain_objects(tree: Value) -> list[Value] | None:
    """The leaves of an object that JAX treats as a leaf, or of a sequence of such objects; None for any other tree."""
    parts = tree.items if isinstance(tree, (TupleValue, ListValue)) else [tree]
    if not parts or not all(
        isinstance(part, Instance)
        and part.staged is None
        and part.cls.is_ordinary
        and not is_pytree(part.cls)
        for part in parts
    ):
        return None
    return list(parts)


@calls("jax.tree.flatten")
def flatten(call: LibraryCall) -> Value:
    return TupleValue([leaves(call), _structure_of(call)])


@calls("jax.tree.leaves_with_path")
def leaves_with_path(call: LibraryCall) -> Value:
    found = leaves(call)
    path = TupleValue(None, Static(kind="key"))
    if call.machine.exact and found.items is not None:
        return ListValue([TupleValue([path, leaf]) for leaf in found.items], stage=call.frame.stage)
    return ListValue(None, TupleValue([path, found.element]), stage=call.frame.stage)


@calls("jax.tree.flatten_with_path")
def flatten_with_path(call: LibraryCall) -> Value:
    return TupleValue([leaves_with_path(call), _structure_of(call)])


@calls("jax.tree.structure")
def structure(call: LibraryCall) -> Value:
    _take_apart(call)
    return _structure_of(call)


@calls("jax.tree.unflatten")
def unflatten(call: LibraryCall) -> Value:
    made_of, given = call.argument(0, "treedef"), call.argument(1, "leaves")
    parts = given.items if isinstance(given, (TupleValue, ListValue)) else None
    if isinstance(made_of, TreeDef) and made_of.template is not None and parts is not None:
        left = iter(parts)
        try:
            return mapped(lambda _: next(left), made_of.template, [])
        except (UnclearTreeError, StopIteration):
            return UNKNOWN
    found = find_array(call.args[1]) if len(call.args) > 1 else None
    return (
        UNKNOWN
        if found is None
        else Array(found.staged, found.why, tree=True, certain=found.certain, flow=found.flow)
    )


@calls("jax.tree.transpose")
def transpose(call: LibraryCall) -> Value:
    """`jax.tree.transpose(outer, inner, tree)`: the same leaves in another structure."""
    found = find_array(call.args[2]) if len(call.args) > 2 else None
    if found is None:
        return call.opaque(call.args)
    return Array(found.staged, found.why, tree=True, certain=found.certain, flow=found.flow)


_UNRAVEL = "jax.flatten_util.ravel_pytree.unravel"


@calls("jax.flatten_util.ravel_pytree")
def ravel(call: LibraryCall) -> Value:
    """A vector of all leaves, and the function that turns such a vector into a tree again."""
    tree = call.first()
    if tree is None or not call.machine.exact or find_array(tree) is None:
        return call.otherwise()
    flat = call.array([tree])
    leaves = [tree] if _is_single(tree) else _known_leaves(call) or []
    shapes = [numbers_of(leaf) for leaf in leaves]
    dtypes = {dtype_of(leaf) for leaf in leaves}
    flat.tree, flat.dtype = False, dtypes.pop() if len(dtypes) == 1 else ""
    flat.form = Form("declared")
    flat.form.rank = 1
    if shapes and None not in shapes:
        flat.form = declared((sum(math.prod(shape) for shape in shapes if shape is not None),))
    return TupleValue([flat, ExternalObject(_UNRAVEL, [tree], node=call.node)])


def _is_single(tree: Value) -> bool:
    return isinstance(tree, Array) and not tree.tree


@calls_of_made(_UNRAVEL)
def unravel(call: LibraryCall) -> Value:
    """A tree with the structure, the shapes and the dtypes of the one that was flattened."""
    tree = call.made.args[0]

    def leaf(old: Value) -> Value:
        new = call.array(call.inputs)
        new.tree, new.dtype, new.form = False, dtype_of(old), form_of(symbolic_shape(old))
        return new

    try:
        return leaf(tree) if _is_single(tree) else mapped(leaf, tree, [])
    except UnclearTreeError:
        return call.opaque()


_FLATTEN = ("flatten_func", "flatten_with_keys", "flatten_with_keys_func")


@calls(
    "jax.tree_util.register_pytree_node",
    "jax.tree_util.register_pytree_with_keys",
    "jax.tree_util.register_static",
)
def register(call: LibraryCall) -> Value:
    cls = call.args[0] if call.args else call.kwargs.get("nodetype", call.kwargs.get("cls"))
    if isinstance(cls, Choice):  # a loop over classes
        for option in cls.options:
            register(replace(call, args=[option, *call.args[1:]]))
    flatten = (
        *call.args[1:2],
        *call.args[3:4],
        *(call.kwargs[name] for name in _FLATTEN if name in call.kwargs),
    )
    unflatten = call.argument(2, "unflatten_func")
    if isinstance(cls, ClassValue) and flatten and unflatten is not None:
        cls.registered = Registration(flatten, unflatten)
        call.machine.registers = True
    if isinstance(cls, ClassValue) and cls.is_ordinary:
        cls.model = _CUSTOM  # the flatten function decides which of its attributes are leaves
        if flatten and isinstance(flatten[0], Function) and "tree_flatten" not in cls.namespace:
            cls.namespace["tree_flatten"] = flatten[0]
    return cls if cls is not None else UNKNOWN


@calls("jax.tree_util.register_dataclass")
def register_dataclass(call: LibraryCall) -> Value:
    """`register_dataclass(cls, data_fields, meta_fields)` changes a class like the decorator of that name."""
    cls = call.args[0] if call.args else call.kwargs.get("nodetype", UNKNOWN)
    for option in cls.options if isinstance(cls, Choice) else [cls]:
        if not isinstance(option, ClassValue) or not option.is_ordinary:
            continue
        data = constant_names(call.argument(1, "data_fields"))
        meta = constant_names(call.argument(2, "meta_fields"))
        if data is None or meta is None or not option.fields.keys() >= set(meta):
            option.model = _CUSTOM  # its leaves are unknown
            continue
        option.model = _REGISTERED
        for name in meta:
            option.fields[name].static = True
    return cls
