"""Equinox: modules that are partitioned into arrays and the rest, combined again, filtered and updated.

A combined module is an object of the same class, so that its methods are known; its arrays are those of the parts.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NoReturn

from jaxlint.jaxapi.layer_classes import ENUMERATION, ENUMERATIONS, PASSED_ON
from jaxlint.libraries import layers
from jaxlint.libraries.layers import after_window, check_features, given_to_maker, input_shape, option
from jaxlint.staging.evaluator.external_models import (
    LibraryCall,
    calls,
    calls_of_made,
    first_argument,
    nothing,
)
from jaxlint.staging.shapes.applied import Applied, MisfitError, UnclearError, shape_text, shapes
from jaxlint.staging.shapes.measures import size_of
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.transforms.tree_maps import TreeMaps
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
    constant,
    find_array,
    is_none,
    is_number,
    kind_of_static,
    map_leaves,
    map_parts,
    uncertain,
)
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.class_models import ClassModel, base, class_members, makes_fields

_MODULE = ClassModel(
    "equinox",
    fields=True,
    pytree=True,
    module=True,
    checks=("__check_init__",),
    makers=frozenset({"__init__", "__post_init__"}),
)
base("equinox.Module", _MODULE, frozen=True)
makes_fields("equinox.field")
for _name in ENUMERATIONS:
    class_members(_name, {name: f"{ENUMERATION}.{name}" for name in ("where", "promote")})

# Filters that leave nothing traceable in the other part.
_ARRAY_FILTERS = frozenset({"is_array", "is_inexact_array", "is_array_like", "is_inexact_array_like"})


@calls("equinox.nn.*")
def make_layer(call: LibraryCall) -> Value:
    _use_key(call)
    return call.otherwise()


# The layers that draw when they are called; the others take a key and ignore it.
_DRAWING = frozenset({"Dropout", "MultiheadAttention", "Sequential", "Lambda"})


@calls_of_made("equinox.nn.*")
def call_layer(call: LibraryCall) -> Value:
    if call.name.rpartition(".")[2] in _DRAWING and not _drops_nothing(call):
        _use_key(call)
    return layers.call_layer(call)


def _drops_nothing(call: LibraryCall) -> bool:
    """Whether a layer is made with a rate of zero, as attention is by default, so that it draws nothing."""
    name, made = call.name.rpartition(".")[2], call.made
    if name == "MultiheadAttention":
        rate = made.kwargs.get("dropout_p", Static(0.0) if len(made.args) <= _BEFORE_RATE else UNKNOWN)
    elif name == "Dropout":
        rate = made.args[0] if made.args else made.kwargs.get("p", UNKNOWN)
    else:
        return False
    number = constant(rate)
    return type(number) in (int, float) and number == 0


_BEFORE_RATE = 11  # parameters of attention before the rate of its dropout


def _use_key(call: LibraryCall) -> None:
    if "key" in call.kwargs:
        call.machine.part(Keys).use_library_key(call.kwargs["key"], call.node, call.frame)


@calls_of_made("equinox.nn.make_with_state")
def make_with_state(call: LibraryCall) -> Value:
    """`eqx.nn.make_with_state(Model)(...)`: the model, and the initial state of its layers."""
    if not call.made.args:
        return call.opaque()
    return TupleValue([call.run_all(call.made.args[0], call.args, call.kwargs), call.opaque()])


@calls("equinox.partition")
def partition(call: LibraryCall) -> Value:
    if (tree := call.first()) is None:
        return UNKNOWN
    spec = call.argument(1, "filter_spec")
    _ask(call, spec, tree)
    sure = spec is None or _filters_arrays(spec)
    return TupleValue([_part(tree, True, sure), _part(tree, False, sure)])


@calls("equinox.filter")
def filter_(call: LibraryCall) -> Value:
    if (tree := call.first()) is None:
        return UNKNOWN
    _ask(call, call.argument(1, "filter_spec"), tree)
    return _part(tree, True, False)


def _ask(call: LibraryCall, spec: Value | None, tree: Value) -> None:
    """Calls a filter with each leaf, and `is_leaf` with each node."""
    call.ask_leaf(tree)
    if isinstance(spec, (Function, Instance, Partial)):
        call.run(spec, call.machine.part(TreeMaps).leaf_of(tree))


def _filters_arrays(spec: Value) -> bool:
    name = spec.name.rpartition(".")[2] if isinstance(spec, (External, Function)) else ""
    return name in _ARRAY_FILTERS


def _part(value: Value, arrays: bool, sure: bool, depth: int = 6) -> Value:
    """One side of a partition of `value`: its arrays, or the rest. `sure`: all arrays are on one side."""
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
        # The same layer as another object: one without its functions.
        return replace(value) if arrays or not sure else replace(value, staged=None)
    if arrays and isinstance(value, (Function, External)):
        return Static(None) if sure else UNKNOWN  # a function is no array
    if isinstance(value, Unknown):
        return Unknown(value.origin, value.flow) if arrays or not sure else UNKNOWN
    return Static(None) if arrays and sure and isinstance(value, Static) else value


@calls("equinox.combine")
def combine(call: LibraryCall) -> Value:
    if not call.args or any(isinstance(arg, StarArgument) for arg in call.args):
        return call.opaque()
    call.ask_leaf(call.args[0])
    result = call.args[0]
    for other in call.args[1:]:
        result = _either(result, other)
    return result


def _either(left: Value, right: Value, depth: int = 6) -> Value:
    """Leaf by leaf, the side that is not None."""
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
            return holder  # a leaf that is not an array
        if isinstance(holder, Array):
            return holder
    return left


def _filled(value: Value, arrays: Array | None) -> Value:
    """`value` with arrays like these in place of those that it lacks: values left out, or unknown ones."""
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
        return map_leaves(value, lambda leaf: _filled(leaf, arrays))
    return value


def _path_chosen(where: Value) -> list[str] | None:
    """The attributes in `lambda tree: tree.a.b`, or in a function that only returns them; None for any other function."""
    body: object = where.node.body if isinstance(where, Function) else None
    if isinstance(body, list):
        last = body[-1]
        body = last.value if isinstance(last, ast.Return) and all(map(_says_nothing, body[:-1])) else None
    path: list[str] = []
    while isinstance(body, ast.Attribute):
        path.insert(0, body.attr)
        body = body.value
    return path if path and isinstance(body, ast.Name) else None


def _says_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _changed(call: LibraryCall, tree: Instance, path: list[str] | None, given: Value) -> Value:
    """A copy of the tree with another value at `path`, or anywhere if the path is unknown."""
    fields: dict[str, Value] = {
        name: replace(part, certain=False, tree=True)
        for name, part in tree.fields.items()
        if isinstance(part, Array)
    }
    if path is None:
        for name, part in tree.fields.items():
            if isinstance(part, Static) and is_number(part):
                fields[name] = Static(kind=kind_of_static(part))
    elif len(path) == 1:
        if isinstance(given, Array) and given.role == "key":
            fields[path[0]] = given  # the key that it replaces is gone
        # Another array may be one of several new values.
        fields.setdefault(path[0], given)
    else:
        inner = tree.fields.get(path[0])
        if isinstance(inner, Instance):
            fields[path[0]] = _changed(call, inner, path[1:], given)
    return call.replaced(tree, fields)


@calls("equinox.tree_at")
def tree_at(call: LibraryCall) -> Value:
    """`eqx.tree_at(where, tree, replace)` calls `where` with the tree, and `replace_fn` with its result."""
    if len(call.args) < 2 or isinstance(call.args[0], StarArgument):
        return UNKNOWN
    chosen = call.run(call.args[0], call.args[1])
    call.ask_leaf(call.args[1])
    replacing = call.kwargs.get("replace_fn")
    if replacing is not None:
        call.run(replacing, chosen)
    tree = call.args[1]
    if isinstance(tree, Instance):
        path = _path_chosen(call.args[0])
        given = call.argument(2, "replace")
        return _changed(call, tree, path, given if given is not None else UNKNOWN)
    if isinstance(tree, (TupleValue, ListValue, DictValue)):
        return uncertain(tree)
    return tree if isinstance(tree, (Array, ExternalObject)) else UNKNOWN


@calls("equinox.nn.inference_mode", "equinox.tree_inference")
def inference_mode(call: LibraryCall) -> Value:
    """The same model, whose layers compute as in inference."""
    chosen = call.argument(1, "value")
    tree = call.first()
    return UNKNOWN if tree is None else _in_inference(tree, Static(True) if chosen is None else chosen)


def _in_inference(value: Value, chosen: Value, depth: int = 6) -> Value:
    if depth == 0:
        return UNKNOWN
    if isinstance(value, ExternalObject) and value.name.startswith("equinox.nn."):
        held = [_in_inference(part, chosen, depth - 1) for part in value.args]
        return replace(value, args=held, kwargs={**value.kwargs, "inference": chosen})
    if isinstance(value, Instance):
        fields = {name: _in_inference(part, chosen, depth - 1) for name, part in value.fields.items()}
        return Instance(value.cls, fields, value.open, value.origin, value.ready, value.staged)
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return map_parts(value, lambda part: _in_inference(part, chosen, depth - 1))
    return value


calls(
    "equinox.apply_updates", "equinox.filter_shard",
    "equinox.filter_closure_convert", f"{ENUMERATION}.promote", *PASSED_ON,
)(first_argument)  # fmt: skip
calls("equinox.tree_check")(nothing)


@calls(f"{ENUMERATION}.where")
def chosen_item(call: LibraryCall) -> Value:
    """`Enumeration.where(choice, first, second)`: an item that contains a tracer if the choice is one."""
    found = next((array for part in call.args if (array := find_array(part, True)) is not None), None)
    return UNKNOWN if found is None else Array(True, found.why, tree=True, certain=False)


# -- the result shapes of layers: each takes one example

shapes("equinox.nn.Dropout equinox.nn.PReLU equinox.nn.Identity")(input_shape)


@shapes("equinox.nn.LayerNorm equinox.nn.RMSNorm")
def norm(applied: Applied) -> Shape:
    """The input has the shape that the layer was created with, as a number or a tuple."""
    shape, wanted = input_shape(applied), option(applied, 0, "shape")
    size = size_of(wanted, applied.of) if wanted is not None else None
    if isinstance(size, int) and len(shape) > 1:
        needs_vmap(applied, f"a vector of {size}")
    return shape


@shapes("equinox.nn.Linear")
def linear(applied: Applied) -> Shape:
    check_vector(applied, "in_features")
    return _vector(applied, "out_features")


@shapes("equinox.nn.MLP")
def mlp(applied: Applied) -> Shape:
    check_vector(applied, "in_size")
    return _vector(applied, "out_size")


def _vector(applied: Applied, name: str) -> Shape:
    """The result by the size that a layer was created with: `"scalar"` means an array without axes."""
    size = option(applied, 1, name)
    return () if size is not None and _is_scalar(size) else (given_to_maker(applied, 1, name),)


def _is_scalar(size: Value) -> bool:
    return constant(size) == "scalar"


@shapes("equinox.nn.Conv1d equinox.nn.Conv2d equinox.nn.Conv3d")
def conv(applied: Applied) -> Shape:
    """One example, channels first."""
    spatial_axes = int(applied.name[-2])
    shape = input_shape(applied)
    if len(shape) != spatial_axes + 1:
        needs_vmap(applied, f"an example of {spatial_axes + 1} dimensions")
    check_features(applied, shape, 0, option(applied, 0, "in_channels"))
    around = after_window(applied, shape[1:], (2, "kernel_size"), (3, "stride"), 0)
    return (given_to_maker(applied, 1, "out_channels"), *around)


@shapes(
    """equinox.nn.MaxPool1d equinox.nn.MaxPool2d equinox.nn.MaxPool3d equinox.nn.AvgPool1d equinox.nn.AvgPool2d
    equinox.nn.AvgPool3d"""
)
def pool(applied: Applied) -> Shape:
    """One example, channels first."""
    layer, shape = applied.args[0], input_shape(applied)
    if not isinstance(layer, ExternalObject) or len(layer.args) > 2 or "use_ceil" in layer.kwargs:
        applied.unclear()
    if len(shape) != int(applied.name[-2]) + 1:
        needs_vmap(applied, f"an example of {int(applied.name[-2]) + 1} dimensions")
    return (shape[0], *after_window(applied, shape[1:], (0, "kernel_size"), (1, "stride"), 0))


def check_vector(applied: Applied, taken: str) -> None:
    """Raises MisfitError for an input that the matrix of a layer certainly cannot multiply: `weight @ x`."""
    shape, wanted = input_shape(applied), option(applied, 0, taken)
    if wanted is not None and _is_scalar(wanted):
        return
    if len(shape) > 1:
        expected = size_of(wanted, applied.of) if wanted is not None else None
        if isinstance(expected, int) and isinstance(shape[-2], int) and shape[-2] != expected:
            needs_vmap(applied, f"a vector of {expected}")
        applied.unclear()
    check_features(applied, shape or applied.unclear(), 0, wanted)


def needs_vmap(applied: Applied, taken: str) -> NoReturn:
    shape = input_shape(applied)
    layer = applied.name.rpartition(".")[2]
    raise MisfitError(
        f"`{layer}` takes {taken}, not {shape_text(shape)}; map it over the batch with `jax.vmap`",
        (applied.args[1], shape),
        error="TypeError or ValueError",
    )


@shapes("equinox.nn.Embedding")
def embedding(applied: Applied) -> Shape:
    """One index gives one vector."""
    try:
        indices = input_shape(applied)
    except UnclearError:
        indices = ()
    if indices:
        needs_vmap(applied, "one index")
    return (given_to_maker(applied, 1, "embedding_size"),)
