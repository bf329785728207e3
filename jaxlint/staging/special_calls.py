"""Functions of the standard library and of JAX whose result follows rules of its own, each by its name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from jaxlint.jaxapi.modules import ENUMERATION, NNX_DICTS, NNX_LISTS, NNX_NOTES, PASSED_ON
from jaxlint.staging import events
from jaxlint.staging.callbacks import CALLBACKS
from jaxlint.staging.constants import constant_names
from jaxlint.staging.copies import copied, shallow
from jaxlint.staging.dispatching import GENERIC, generic
from jaxlint.staging.environment import ENVIRONMENT_CALLS
from jaxlint.staging.frame import Frame
from jaxlint.staging.gradients import marked
from jaxlint.staging.signatures import signature
from jaxlint.staging.timing import TIMING_CALLS, waits_for_nothing
from jaxlint.staging.trees import is_pytree
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Field,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Partial,
    Registration,
    StarArgument,
    Static,
    TupleValue,
    Value,
    constant,
    find_array,
    is_single,
    join,
    join_all,
)

Special = Callable[[Any, list[Value], dict[str, Value], ast.AST, Frame], Value]


def _partial(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args:
        return UNKNOWN
    return Partial(args[0], args[1:], kwargs)


def _wraps(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return ExternalObject("functools.wraps", args, kwargs, node)


def _replace(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return self.replace_fields(args[0] if args else UNKNOWN, kwargs)


def _product(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`itertools.product`: a tuple of any element of each, or the tuples themselves where they are few."""
    if "repeat" in kwargs:
        return ListValue(
            None, TupleValue(None, self.element_of(args[0], node, frame) if args else UNKNOWN), "iterator"
        )
    parts: list[Value] = []
    for value in args:
        if isinstance(value, StarArgument):
            return ListValue(None, TupleValue(None, self.element_of(value.element, node, frame)), "iterator")
        parts.append(self.element_of(value, node, frame))
    return ListValue(None, TupleValue(parts), "iterator")


def _reduce(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`functools.reduce` over a short sequence that is known item by item."""
    items = args[1].items if len(args) > 1 and isinstance(args[1], (ListValue, TupleValue)) else None
    if items is None or len(items) > 8:
        return self.opaque_call(args, node, frame)
    items = [*args[2:], *items]
    result = items[0] if items else UNKNOWN
    for item in items[1:]:
        result = self.call_value(args[0], [result, item], {}, node, frame)
    return result


def _first(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return args[0] if args else UNKNOWN


def _copy(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return shallow(args[0]) if args else UNKNOWN


def _deepcopy(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return copied(args[0]) if args else UNKNOWN


def _third(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`jax.tree.transpose(outer, inner, tree)`: the leaves of the tree, in another one."""
    found = find_array(args[2]) if len(args) > 2 else None
    if found is None:
        return self.opaque_call(args, node, frame)
    return Array(found.staged, found.why, tree=True, certain=found.certain)


def _chosen_item(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`Enumeration.where(choice, first, second)`: an item that holds a tracer where the choice is one."""
    found = next((array for part in args if (array := find_array(part, True)) is not None), None)
    return UNKNOWN if found is None else Array(True, found.why, tree=True, certain=False)


def _stopped(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return marked(args[0], None) if args else UNKNOWN


def _cast(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return args[1] if len(args) > 1 else UNKNOWN


def _sync(how: str) -> Special:
    def call(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        if not waits_for_nothing(args):
            self.ledger.settle()
        found = find_array(args[0]) if args else None
        if found is not None:
            self.emit("convert", events.ConvertEvent(node, frame, found, how))
        if how == "device_get":
            given = args[0] if args else None
            if isinstance(given, Array) and given.staged:
                return given  # a tracer is what it gives back
            return NumpyArray(shares=is_single(given)) if isinstance(given, Array) else UNKNOWN
        return args[0] if args else UNKNOWN

    return call


def _device_put(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args:
        return UNKNOWN
    if isinstance(args[0], (Array, ListValue, DictValue, TupleValue, Instance)):
        return args[0]
    result = self.array_result(frame, args, node)
    result.tree = True
    return result


def _leaves(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> ListValue:
    if args:
        self.rebuilt(args[:1], node, frame)
        self.ask_leaf(args[0], kwargs, node, frame)
    objects = _plain_objects(args[0]) if args else None
    if objects is not None:
        return ListValue(objects, join_all(objects), stage=frame.stage)
    found = find_array(args[0]) if args else None
    if found is None:
        return ListValue(None, UNKNOWN, stage=frame.stage)
    leaf = Array(found.staged, found.why, certain=found.certain, jitted=found.jitted)
    return ListValue(None, leaf, stage=frame.stage)


def _plain_objects(tree: Value) -> list[Value] | None:
    """The leaves of an object that JAX does not look into, or of a sequence of such; None for any other tree."""
    parts = tree.items if isinstance(tree, (TupleValue, ListValue)) else [tree]
    if not parts or not all(
        isinstance(part, Instance)
        and part.staged is None
        and part.cls.kind in ("plain", "dataclass")
        and not is_pytree(part.cls)
        for part in parts
    ):
        return None
    return list(parts)


def _flatten(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return TupleValue([_leaves(self, args, kwargs, node, frame), Static(kind="treedef")])


def _leaves_with_path(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    leaves = _leaves(self, args, kwargs, node, frame)
    path = TupleValue(None, Static(kind="key"))
    return ListValue(None, TupleValue([path, leaves.element]), stage=frame.stage)


def _flatten_with_path(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    return TupleValue([_leaves_with_path(self, args, kwargs, node, frame), Static(kind="treedef")])


def _structure(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if args:
        self.rebuilt(args[:1], node, frame)
        self.ask_leaf(args[0], kwargs, node, frame)
    return Static(kind="treedef")


def _unflatten(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    found = find_array(args[1]) if len(args) > 1 else None
    return UNKNOWN if found is None else Array(found.staged, found.why, tree=True, certain=found.certain)


def _listed(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return args[0] if args else ListValue([], stage=frame.stage)


def _named(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return args[0] if args else DictValue(dict(kwargs), None, frame.stage)


_FLATTEN = ("flatten_func", "flatten_with_keys", "flatten_with_keys_func")


def _register(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    cls = args[0] if args else kwargs.get("nodetype", kwargs.get("cls"))
    if isinstance(cls, Choice):  # a loop over classes
        for option in cls.options:
            _register(self, [option, *args[1:]], kwargs, node, frame)
    flatten = (*args[1:2], *args[3:4], *(kwargs[name] for name in _FLATTEN if name in kwargs))
    unflatten = args[2] if len(args) > 2 else kwargs.get("unflatten_func")
    if isinstance(cls, ClassValue) and flatten and unflatten is not None:
        cls.registered = Registration(flatten, unflatten)
        self.registers = True
    if isinstance(cls, ClassValue) and cls.kind in ("plain", "dataclass"):
        cls.kind = "custom"  # which of its attributes are leaves, the flattening function says
        if flatten and isinstance(flatten[0], Function) and "tree_flatten" not in cls.namespace:
            cls.namespace["tree_flatten"] = flatten[0]
    return cls if cls is not None else UNKNOWN


def _register_dataclass(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`register_dataclass(cls, data_fields, meta_fields)` makes of a class what it makes as a decorator."""
    cls = args[0] if args else kwargs.get("nodetype", UNKNOWN)
    for option in cls.options if isinstance(cls, Choice) else [cls]:
        if not isinstance(option, ClassValue) or option.kind not in ("plain", "dataclass"):
            continue
        data = constant_names(args[1] if len(args) > 1 else kwargs.get("data_fields"))
        meta = constant_names(args[2] if len(args) > 2 else kwargs.get("meta_fields"))
        if data is None or meta is None or not option.fields.keys() >= set(meta):
            option.kind = "custom"  # its leaves are not known
            continue
        option.kind = "registered"
        for name in meta:
            option.fields[name].static = True
    return cls


def _namedtuple(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`namedtuple("Name", fields)` is the class that one would have written with `typing.NamedTuple`."""
    names = kwargs.get("field_names", args[1] if len(args) > 1 else UNKNOWN)
    if isinstance(names, (ListValue, TupleValue)) and names.items and isinstance(names.items[0], TupleValue):
        # Typing's pairs of name and type.
        names = TupleValue(
            [part.items[0] if part.items else UNKNOWN for part in names.items if isinstance(part, TupleValue)]
        )
    text = constant(names)
    fields = text.replace(",", " ").split() if isinstance(text, str) else constant_names(names)
    name = constant(args[0]) if args else MISSING
    if not fields or not isinstance(name, str) or not all(n.isidentifier() for n in (name, *fields)):
        return External("collections.namedtuple")
    body = [ast.AnnAssign(ast.Name(n, ast.Store()), ast.Constant(...), None, 1) for n in fields]
    definition = ast.ClassDef(name, [], [], list(body), [])
    for part in ast.walk(definition):
        ast.copy_location(part, node)
    cls = ClassValue(definition, frame.module, frame.scope, name, [External("typing.NamedTuple")])
    cls.kind = "namedtuple"
    defaults = kwargs.get("defaults")
    values = defaults.items or [] if isinstance(defaults, (TupleValue, ListValue)) else []
    for n, statement in zip(fields, body, strict=True):
        cls.fields[n] = Field(n, False, statement.annotation, None, statement)
    for n, value in zip(reversed(fields), reversed(values), strict=False):
        cls.namespace[n] = value
        cls.fields[n].default = ast.copy_location(ast.Name(n, ast.Load()), node)
    return cls


def _debug(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return Static(None)


def _kernel_query(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    return self.array_result(frame, [*args, *kwargs.values()], node, name="the grid query")


def _grid_size(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """A Python number, unless that axis of the grid is a traced value."""
    return UNKNOWN


def _deque(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    result = self.call_builtin("list", args[:1], {}, node, frame)
    if isinstance(result, ListValue):
        result.kind = "deque"
    return result


def _ordered(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return self.call_builtin("dict", args, kwargs, node, frame)


def _defaultdict(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    result = self.call_builtin("dict", args[1:], kwargs, node, frame)
    # What a missing key gives stands for what any key gives.
    if isinstance(result, DictValue) and args and not (isinstance(args[0], Static) and args[0].const is None):
        made = self.call_value(args[0], [], {}, node, frame)
        result.element = made if result.element is None else join(result.element, made)
    return result


def _reduce_over_axis(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    if args and isinstance(args[0], Static):
        return Static(kind="int")  # `psum(1, axis)` is the old way to ask for the size of an axis
    return self.array_result(frame, [*args, *kwargs.values()], node, name="lax.psum")


def _concrete(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`concrete_or_error(force, value)` raises on a tracer, so that whatever goes on holds numbers."""
    if isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[1], ast.Name):
        self.rebind(node.args[1].id, Static(), frame)
    return Static()


def _is_method(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`inspect.ismethod`: of what is known to be a function or a method."""
    given = args[0] if args else UNKNOWN
    if isinstance(given, (Function, BoundMethod, Partial)):
        return Static(isinstance(given, BoundMethod))
    return Static(kind="bool")


SPECIAL_CALLS: dict[str, Special] = {
    **TIMING_CALLS,
    **CALLBACKS,
    **ENVIRONMENT_CALLS,
    "jax.lax.psum": _reduce_over_axis,
    "functools.partial": _partial,
    GENERIC: generic,
    "equinox.filter_closure_convert": _first,
    **dict.fromkeys(PASSED_ON, _first),
    "jax.tree.transpose": _third,
    f"{ENUMERATION}.where": _chosen_item,
    f"{ENUMERATION}.promote": _first,
    "inspect.signature": signature,
    "inspect.ismethod": _is_method,
    "functools.wraps": _wraps,
    "functools.reduce": _reduce,
    "itertools.product": _product,
    "dataclasses.replace": _replace,
    "copy.copy": _copy,
    "copy.deepcopy": _deepcopy,
    "typing.cast": _cast,
    "collections.namedtuple": _namedtuple,
    "collections.deque": _deque,
    "collections.defaultdict": _defaultdict,
    **{f"collections.{kind}": _ordered for kind in ("OrderedDict", "Counter")},
    "typing.NamedTuple": _namedtuple,
    **{f"jax.{core}.concrete_or_error": _concrete for core in ("core", "_src.core", "extend.core")},
    "jax.device_get": _sync("device_get"),
    "jax.block_until_ready": _sync("block_until_ready"),
    "jax.device_put": _device_put,
    "jax.device_put_replicated": _device_put,
    **{f"jax.tree_util.register_{what}": _register for what in ("pytree_node", "pytree_with_keys", "static")},
    "jax.tree_util.register_dataclass": _register_dataclass,
    "jax.tree.leaves": _leaves,
    "jax.tree.leaves_with_path": _leaves_with_path,
    "jax.tree.flatten": _flatten,
    "jax.tree.flatten_with_path": _flatten_with_path,
    "jax.tree.structure": _structure,
    "jax.tree.unflatten": _unflatten,
    "jax.lax.with_sharding_constraint": _first,
    "jax.lax.stop_gradient": _stopped,
    "jax.lax.optimization_barrier": _first,
    "jax.ad_checkpoint.checkpoint_name": _first,
    **dict.fromkeys(NNX_NOTES, _first),
    **dict.fromkeys(NNX_LISTS, _listed),
    **dict.fromkeys(NNX_DICTS, _named),
    "jax.debug.print": _debug,
    "jax.debug.breakpoint": _debug,
    "jax.experimental.pallas.program_id": _kernel_query,
    "jax.experimental.pallas.num_programs": _grid_size,
    "jax.experimental.pallas.load": _kernel_query,
}
