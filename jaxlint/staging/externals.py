"""What calls of builtins, NumPy, JAX's array functions and the libraries around them give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from jaxlint.jaxapi.functions import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    COLLECTIVES,
    CONCRETE_ATTRIBUTES,
    CONVERTING_METHODS,
    DATA_DEPENDENT,
    KEY_MAKERS,
    LISTS_OF_ARRAYS,
    MANY_IN_MANY_OUT,
    NUMBER_KEEPING_COLLECTIVES,
    NUMPY_DISPATCHES,
    NUMPY_FRESH,
    NUMPY_METADATA,
    OTHER_ATTRIBUTES,
    SEVERAL_RESULTS,
    SHAPE_ARGUMENTS,
    SPECIAL_METHODS,
    STATIC_ATTRIBUTES,
    STATIC_FUNCTIONS,
    TREES_OF_ARRAYS,
    TUPLES_OF_ARRAYS,
    TYPES,
    returns_array,
)
from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.transforms import CONTROL_FLOW, TRANSFORMS
from jaxlint.staging import events
from jaxlint.staging.frame import Frame
from jaxlint.staging.machine import Machine
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Origin,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    join,
    join_all,
)

# Libraries whose objects compute arrays when they are called.
_LAYER_PREFIXES = ("flax.", "haiku.", "equinox.", "distrax.", "jraph.", "e3nn_jax.")
_NUMPY_HARMLESS = ("numpy.testing.", "numpy.dtypes.", "numpy.typing.", "numpy.lib.")
_NUMPY_STATIC = frozenset(
    f"numpy.{n}"
    for n in [
        "issubdtype",
        "dtype",
        "iterable",
        "isscalar",
        "promote_types",
        "can_cast",
        "finfo",
        "iinfo",
        "vectorize",
        "broadcast_shapes",
        "errstate",
        "ndarray",
        "generic",
        "iterable",
        "set_printoptions",
        "printoptions",
        "seterr",
        "ndindex",
        "save",
        "savez",
        "load",
        "memmap",
    ]
)
_COMPARING_BUILTINS = frozenset({"any", "all", "max", "min", "sorted"})


class Externals(Machine):
    """Calls that leave the project."""

    def call_external(
        self,
        callee: External,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        name = canonical(callee.name)
        if name in TRANSFORMS:
            return self.apply_transform(name, args, kwargs, node, frame)
        if name in CONTROL_FLOW:
            return self.control_flow(name, args, kwargs, node, frame)
        if name.startswith("builtins."):
            return self.call_builtin(name[9:], args, kwargs, node, frame)
        if name.startswith("numpy."):
            return self.call_numpy(name, args, kwargs, node, frame)
        if name.startswith("jax.random."):
            return self.call_random(name, args, kwargs, node, frame)
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, args, kwargs, node, frame)
        if name in _NNX_VARIABLES:
            # A mutable reference to an array; in modules it crosses a jit like one.
            result = self.array_result(frame, args, node)
            result.role = "ref"
            return result
        if name in STATIC_FUNCTIONS:
            return ExternalObject(name, args, kwargs, node) if name in _CONTEXTS else Static()
        if name in TYPES:
            return ExternalObject(name, args, kwargs, node)
        if name in COLLECTIVES and args:
            return self.collective(name, args[0], node, frame)
        if returns_array(name):
            self.check_shapes(name, args, kwargs, node, frame)
            like = args[0] if args and name in ("optax.apply_updates", "jax.numpy.where") else None
            result = self.array_result(frame, [*args, *kwargs.values()], node, name=_short(name), like=like)
            result.tree = name in ("optax.apply_updates", "optax.incremental_update")
            if name.startswith("jax.numpy.") and name.rpartition(".")[2] in _BOOLEAN:
                result.role = "bool"
            return self.as_returned(name, result, args, kwargs, frame)
        if name.startswith("math."):
            for value in args:
                self.convert(value, node, name, frame)
            return Static()
        if name.startswith(("jax.", "optax.", *_LAYER_PREFIXES)) or name.rpartition(".")[2][:1].isupper():
            return ExternalObject(name, args, kwargs, node)
        return self.opaque_call([*args, *kwargs.values()], node, frame)

    def as_returned(
        self, name: str, result: Array, args: list[Value], kwargs: dict[str, Value], frame: Frame
    ) -> Value:
        """The result of an array function in the container that the function returns, where that is known."""
        many = isinstance(args[0] if args else None, (TupleValue, ListValue))
        several = name in MANY_IN_MANY_OUT and (many or (".atleast_" in name and len(args) > 1))
        if name in TREES_OF_ARRAYS or several or not SEVERAL_RESULTS.isdisjoint(kwargs):
            result.tree = True
        elif name in LISTS_OF_ARRAYS:
            return ListValue(None, result, stage=frame.stage)
        elif name in TUPLES_OF_ARRAYS or (name == "jax.numpy.where" and len(args) + len(kwargs) == 1):
            return TupleValue(None, result)
        return result

    def collective(self, name: str, value: Value, node: ast.AST, frame: Frame) -> Value:
        """`lax.psum(value, axis)` and its like: each leaf becomes an array, and the tree stays what it is."""
        if isinstance(value, (TupleValue, ListValue)):
            items = (
                [self.collective(name, v, node, frame) for v in value.items]
                if value.items is not None
                else None
            )
            element = self.collective(name, value.element, node, frame)
            return (
                TupleValue(items, element, value.cls)
                if isinstance(value, TupleValue)
                else ListValue(items, element, stage=frame.stage)
            )
        if isinstance(value, DictValue):
            known = {k: self.collective(name, v, node, frame) for k, v in value.items.items()}
            rest = self.collective(name, value.element, node, frame) if value.element is not None else None
            return DictValue(known, rest, frame.stage)
        if isinstance(value, Static) and (value.const is None or name in NUMBER_KEEPING_COLLECTIVES):
            return (
                value if value.const is None else Static(kind=value.kind)
            )  # `psum(1, axis)` is the axis' size
        if not isinstance(value, (Array, NumpyArray, Static)):
            return self.opaque_call([value], node, frame)
        result = self.array_result(frame, [value], node, name=_short(name), like=value)
        result.tree = isinstance(value, Array) and value.tree
        if not frame.stage.abstract:
            result.certain = False  # what is the same on the whole axis is concrete under an eager vmap
        return result

    def check_shapes(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        """Tells rules of values used as shapes, lengths and counts."""
        wanted = SHAPE_ARGUMENTS.get(name)
        if wanted is not None:
            for position in wanted[0]:
                if position < len(args):
                    self.shape_argument(args[position], name, f"argument {position + 1}", node, frame)
            for keyword in wanted[1]:
                if keyword in kwargs:
                    self.shape_argument(kwargs[keyword], name, f"`{keyword}`", node, frame)
        if (
            name in DATA_DEPENDENT or (name == "jax.numpy.where" and len(args) == 1)
        ) and "size" not in kwargs:
            found = find_array(args[0], True) if args else None
            if found is not None:
                self.emit("shape", events.ShapeEvent(node, frame, found, name, "the data"))

    def shape_argument(self, value: Value, name: str, what: str, node: ast.AST, frame: Frame) -> None:
        parts = value.elements() if isinstance(value, (TupleValue, ListValue)) else [value]
        for part in parts:
            if isinstance(part, Array) and part.staged:
                self.emit("shape", events.ShapeEvent(node, frame, part, name, what))
                return

    # -- random keys

    def call_random(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if name in KEY_MAKERS:
            result = self.array_result(frame, args, node, role="key", name=_short(name))
            result.origin = Origin("key")
            return result
        key = kwargs.get("key", args[0] if args else UNKNOWN)
        origin = key.origin if isinstance(key, (Array, Unknown)) else None
        self.check_shapes(name, args, kwargs, node, frame)
        result = self.array_result(frame, [*args, *kwargs.values()], node, name=_short(name))
        if name == "jax.random.fold_in":
            data = constant(kwargs.get("data", args[1] if len(args) > 1 else UNKNOWN))
            result.role = "key"
            known = origin is not None and isinstance(data, (int, str))
            result.origin = (
                origin.child(("fold_in", data)) if known and origin is not None else Origin("fold_in")
            )
            return result
        if name in ("jax.random.key_data", "jax.random.clone", "jax.random.key_impl"):
            return result
        if origin is not None:
            self.use_key(origin, node, frame)
        if name == "jax.random.split":
            result.role = "key"
            result.origin = Origin("split", batch=True)
        return result

    # -- builtins

    def call_builtin(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        first = args[0] if args else UNKNOWN
        if name in ("float", "int", "complex"):
            self.convert(first, node, name, frame)
            const = constant(first)
            if isinstance(const, (int, float)) and not isinstance(const, bool) and len(args) == 1:
                try:
                    return Static(
                        float(const) if name == "float" else int(const) if name == "int" else complex(const)
                    )
                except (ValueError, OverflowError):
                    return Static()
            return Static(kind=name)
        if name == "bool":
            self.convert(first, node, name, frame)
            return Static(kind="bool")
        if name in _COMPARING_BUILTINS:
            return self.comparing_builtin(name, args, kwargs, node, frame)
        if name == "range":
            for value in args:
                if isinstance(value, Array) and value.staged:
                    self.emit("shape", events.ShapeEvent(node, frame, value, "range", "a bound"))
                elif isinstance(value, Array):
                    self.convert(value, node, "range", frame)
            return ExternalObject("builtins.range", args, node=node)
        if name in ("abs", "round", "pow", "divmod", "sum"):
            arrays = [a for a in args if find_array(a) is not None]
            if arrays:
                result = self.array_result(frame, args, node)
                return TupleValue([result, result]) if name == "divmod" else result
            return (
                NumpyArray()
                if any(isinstance(a, NumpyArray) for a in args)
                else Static()
                if args
                else UNKNOWN
            )
        if name in ("list", "tuple", "set", "frozenset", "reversed", "iter"):
            return self.to_sequence(name, first, node, frame) if args else _empty_sequence(name, frame)
        if name == "zip":
            return self.zipped(args, node, frame)
        if name == "enumerate":
            if (
                isinstance(first, (ListValue, TupleValue))
                and first.items is not None
                and len(first.items) <= 16
            ):
                pairs: list[Value] = [TupleValue([Static(i), v]) for i, v in enumerate(first.items)]
                return TupleValue(pairs)
            return ListValue(
                None, TupleValue([Static(kind="int"), self.element_of(first, node, frame)]), "iterator"
            )
        if name == "map":
            results = [
                self.call_value(first, [self.element_of(a, node, frame) for a in args[1:]], {}, node, frame)
            ]
            return ListValue(None, join_all(results), "iterator")
        if name == "filter":
            return ListValue(
                None, self.element_of(args[1], node, frame) if len(args) > 1 else UNKNOWN, "iterator"
            )
        if name == "next":
            return (
                self.element_of(first, node, frame) if isinstance(first, (ListValue, TupleValue)) else UNKNOWN
            )
        if name == "dict":
            base = first if isinstance(first, DictValue) else None
            known = {k: v for k, v in kwargs.items() if k != "**"}
            if args and base is None:
                pair = self.element_of(first, node, frame)
                inner = (
                    pair.items[1]
                    if isinstance(pair, TupleValue) and pair.items and len(pair.items) == 2
                    else UNKNOWN
                )
                return DictValue(dict(known), inner, frame.stage)
            return DictValue(
                {**(base.items if base else {}), **known}, base.element if base else None, frame.stage
            )
        if name == "len":
            if isinstance(first, (TupleValue, ListValue)) and first.items is not None and not frame.loops:
                return Static(len(first.items))
            return Static(kind="int")
        if name == "isinstance":
            return self.isinstance_result(first, args[1] if len(args) > 1 else UNKNOWN)
        if name == "hasattr" and isinstance(first, Array) and first.certain and len(args) > 1:
            attr = constant(args[1])
            if first.staged and attr in CONCRETE_ATTRIBUTES:
                return Static(False)
            if isinstance(attr, str) and not first.tree:
                if attr in STATIC_ATTRIBUTES or attr in ARRAY_METHODS or attr in ARRAY_ATTRIBUTES:
                    return Static(True)
                if attr in SPECIAL_METHODS:
                    return Static(True)
                if not attr.startswith("_") and attr not in OTHER_ATTRIBUTES:
                    return Static(False)
        if name in ("hasattr", "callable", "issubclass"):
            return Static(kind="bool")
        if name == "getattr":
            attr = constant(args[1]) if len(args) > 1 else MISSING
            if isinstance(attr, str):
                value = self.attribute(first, attr, node, frame, quiet=True)
                return join(value, args[2]) if len(args) > 2 else value
            return UNKNOWN
        if name == "setattr":
            return Static(None)
        if name == "super":
            return self.super_object(args, frame)
        if name == "type":
            return first.cls if isinstance(first, Instance) else Static(kind="type")
        if name in ("staticmethod", "classmethod", "property"):
            return self.method_kind(name, first)
        if name == "slice":
            return ExternalObject(
                "builtins.slice", [Static(None), *args, Static(None)][:3] if len(args) == 1 else args
            )
        if name in ("str", "repr", "format"):
            self.convert(first, node, "str", frame)
            return Static(kind="str")
        if name == "print":
            for value in args:
                self.convert(value, node, "print", frame)
            return Static(None)
        if name in ("hash", "id", "ord", "dir", "vars", "input", "chr", "hex", "oct", "bytes"):
            return Static()
        return UNKNOWN

    def comparing_builtin(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """`any`, `all`, `max`, `min`, `sorted` ask for the truth of elements or of comparisons between them."""
        if len(args) == 1:
            elements = (
                [self.element_of(args[0], node, frame)]
                if not isinstance(args[0], (ListValue, TupleValue))
                else args[0].elements()
            )
            single = (
                isinstance(args[0], (ListValue, TupleValue))
                and args[0].items is not None
                and len(args[0].items) < 2
            )
        else:
            elements, single = args, False
        if "key" in kwargs:
            elements = [self.call_value(kwargs["key"], elements[:1], {}, node, frame)]
        for element in elements:
            if isinstance(element, Array) and not (single and name not in ("any", "all")):
                self.test(
                    self.array_result(frame, [element], node, role="bool") if not element.tree else element,
                    node,
                    name,
                    frame,
                )
                break
        if name in ("any", "all"):
            return Static(kind="bool")
        if name == "sorted":
            return ListValue(None, join_all(elements))
        consts = [constant(e) for e in elements]
        if consts and all(isinstance(c, (int, float)) for c in consts) and len(args) > 1:
            return Static(max(consts) if name == "max" else min(consts))
        if elements and all(isinstance(e, Static) for e in elements):
            return Static(
                kind="int"
                if all(
                    isinstance(c, int) or (isinstance(e, Static) and e.kind == "int")
                    for c, e in zip(consts, elements, strict=True)
                )
                else ""
            )
        return join_all(elements)

    def to_sequence(self, name: str, value: Value, node: ast.AST, frame: Frame) -> Value:
        items = value.items if isinstance(value, (ListValue, TupleValue)) else None
        if items is not None and name in ("list", "tuple", "reversed", "iter"):
            ordered = list(reversed(items)) if name == "reversed" else list(items)
            return (
                TupleValue(ordered)
                if name == "tuple"
                else ListValue(ordered, join_all(ordered), stage=frame.stage)
            )
        element = self.element_of(value, node, frame)
        if name == "tuple":
            return TupleValue(None, element)
        return ListValue(None, element, name if name in ("set", "frozenset") else "list", stage=frame.stage)

    def zipped(self, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        columns = [a.items if isinstance(a, (ListValue, TupleValue)) else None for a in args]
        known = [column for column in columns if column is not None]
        if len(known) == len(args) and known and max(len(c) for c in known) <= 16:
            return TupleValue([TupleValue(list(row)) for row in zip(*known, strict=False)])
        return ListValue(None, TupleValue([self.element_of(a, node, frame) for a in args]), "iterator")

    def isinstance_result(self, value: Value, kinds: Value) -> Value:
        """What `isinstance` gives for a tracer or a concrete array, where it is certain."""
        options = kinds.elements() if isinstance(kinds, TupleValue) else [kinds]
        names = [option.name if isinstance(option, External) else "" for option in options]
        if not isinstance(value, Array) or not value.certain:
            return Static(kind="bool")
        if value.tree:
            # A container, or tracers: no leaf of a staged pytree is a NumPy array or a Python number.
            never = ("builtins.int", "builtins.float", "builtins.bool", "numpy.")
            return (
                Static(False)
                if value.staged and all(n.startswith(never) for n in names)
                else Static(kind="bool")
            )
        if any(name.endswith("Tracer") for name in names):
            return Static(True) if value.staged else Static(kind="bool")
        if any(name in ("jax.Array", "jax.numpy.ndarray") for name in names):
            return Static(True)
        plain = ("builtins.", "numpy.", "numbers.", "typing.", "collections.")
        if all(
            name.startswith(plain) or isinstance(o, ClassValue)
            for name, o in zip(names, options, strict=True)
        ):
            return Static(False)
        return Static(kind="bool")

    def super_object(self, args: list[Value], frame: Frame) -> Value:
        current: Frame | None = frame
        while current is not None and (current.function is None or current.function.cls is None):
            current = current.caller
        if current is None or current.function is None or current.function.cls is None:
            return UNKNOWN
        parameters = current.function.node.args.args
        found = frame.scope.lookup(parameters[0].arg) if parameters else None
        receiver = found[0] if found else UNKNOWN
        return ExternalObject("builtins.super", [current.function.cls, receiver])

    def super_attribute(self, base: ExternalObject, name: str) -> Value:
        cls, receiver = base.args[0], base.args[1]
        assert isinstance(cls, ClassValue)
        parents = list(cls.mro())[1:]
        for parent in parents:
            member = parent.namespace.get(name)
            if isinstance(member, (Function, Transformed)):
                return BoundMethod(member, receiver)
            if member is not None:
                return member
        return ExternalMethod(base, name)

    def method_kind(self, name: str, value: Value) -> Value:
        if isinstance(value, Function):
            value.kind = name
        elif isinstance(value, Transformed):
            value.attributes[name] = Static(True)
        return value

    # -- NumPy

    def call_numpy(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        inputs = [*args, *kwargs.values()]
        array = next((a for a in (find_array(v, depth=2) for v in inputs) if a is not None), None)
        staged = next((a for a in (find_array(v, True, 2) for v in inputs) if a is not None), None)
        if name in NUMPY_METADATA:
            if name == "numpy.shape":
                return TupleValue(None, Static(kind="int"))
            if name.endswith("_from"):
                return TupleValue(None, NumpyArray())
            return Static(kind="int" if name in ("numpy.ndim", "numpy.size") else "")
        if name.startswith("numpy.random."):
            generator = name in ("numpy.random.default_rng", "numpy.random.RandomState")
            return ExternalObject(name, args, kwargs, node) if generator else NumpyArray(fresh=True)
        if name in _NUMPY_STATIC or name.startswith(_NUMPY_HARMLESS):
            return (
                ExternalObject(name, args, kwargs, node)
                if name in ("numpy.errstate", "numpy.vectorize")
                else Static()
            )
        if staged is not None:
            first = args[0] if args else kwargs.get("a")
            if name in NUMPY_DISPATCHES and isinstance(first, Array):
                result = self.array_result(frame, inputs, node)
                return self.as_returned(f"jax.{name}", result, args, kwargs, frame)
            self.emit("numpy", events.NumpyEvent(node, frame, staged, name))
            return UNKNOWN
        if array is not None:
            self.emit("convert", events.ConvertEvent(node, frame, array, name))
        if any(isinstance(v, Unknown) for v in args[:1]) and name not in NUMPY_FRESH:
            return NumpyArray()
        return NumpyArray(fresh=name in NUMPY_FRESH)

    # -- methods

    def call_method(
        self,
        callee: ExternalMethod,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        receiver, name = callee.receiver, callee.name
        if isinstance(receiver, Array):
            return self.array_method(receiver, name, args, kwargs, node, frame)
        if isinstance(receiver, AtIndexer):
            if name == "get":
                return self.array_result(frame, [receiver.array, *args], node)
            return self.array_result(frame, [receiver.array, *args], node, like=receiver.array)
        if isinstance(receiver, ListValue):
            return self.list_method(receiver, name, args, node, frame)
        if isinstance(receiver, DictValue):
            return self.dict_method(receiver, name, args, kwargs, node, frame)
        if isinstance(receiver, TupleValue):
            return Static(kind="int") if name in ("index", "count") else UNKNOWN
        if isinstance(receiver, ExternalObject):
            return self.external_object_method(receiver, name, args, kwargs, node, frame)
        if isinstance(receiver, NumpyArray):
            if name in ("item", "tolist"):
                return Static() if name == "item" else ListValue(None, Static())
            return NumpyArray()
        if isinstance(receiver, Static):
            for value in args:
                self.convert(value, node, "str" if name != "format" else "format_method", frame)
            if name == "split":
                return ListValue(None, Static(kind="str"))
            textual = ("join", "format", "lower", "upper", "strip", "replace", "rstrip", "lstrip", "title")
            return Static(kind="str" if name in textual else "")
        return UNKNOWN

    def array_method(
        self,
        array: Array,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        if name in CONVERTING_METHODS:
            self.convert(array, node, name, frame)
            return ListValue(None, Static()) if name == "tolist" else Static()
        if name == "block_until_ready":
            self.convert(array, node, name, frame)
            return array
        if array.tree and name in ("items", "values", "keys"):
            part = Array(array.staged, array.why, tree=True, certain=array.certain, jitted=array.jitted)
            if name == "values":
                return ListValue(None, part, "iterator")
            if name == "keys":
                return ListValue(None, Static(kind="str"), "iterator")
            return ListValue(None, TupleValue([Static(kind="str"), part]), "iterator")
        if array.tree and name in ("get", "pop"):
            key = constant(args[0]) if args else MISSING
            origin = array.origin.child(key) if array.origin is not None and isinstance(key, str) else None
            return Array(
                array.staged, array.why, tree=True, certain=False, origin=origin, jitted=array.jitted
            )
        if array.tree and name in ("replace", "_replace", "apply_gradients", "copy"):
            return self.replace_fields(array, kwargs)
        if array.tree and name == "update":
            return UNKNOWN
        if name in ("reshape", "repeat"):
            for value in args:
                self.shape_argument(value, f".{name}", "a size", node, frame) if name == "reshape" else None
        if name in ("nonzero",) and array.staged and "size" not in kwargs:
            self.emit("shape", events.ShapeEvent(node, frame, array, ".nonzero", "the data"))
        result = self.array_result(frame, [array, *args, *kwargs.values()], node)
        if name in ("astype", "copy"):
            result.role = array.role if array.role in ("key", "ref") or name == "copy" else ""
            result.like = (array.like or array.origin) if name == "copy" else None
        if name in ("any", "all"):
            result.role = "bool"
        return result

    def list_method(
        self, target: ListValue, name: str, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value:
        if name in ("append", "add", "appendleft", "insert"):
            if args:
                self.check_leak(target, args[-1], node, frame)
                if target.items is not None and not frame.loops and not frame.guards and name == "append":
                    target.items.append(args[-1])
                else:
                    first = target.items is not None and not target.items
                    known = join_all(target.elements()) if not first else args[-1]
                    target.items = None
                    target.element = join(known, args[-1]) if not isinstance(known, Unknown) else args[-1]
                    return Static(None)
                target.element = join_all(target.items)
            return Static(None)
        if name == "extend":
            self.extend_list(target, args[0] if args else UNKNOWN, node, frame)
            return Static(None)
        if name in ("pop", "popleft"):
            if target.items:
                value = target.items[-1] if name == "pop" and not args else join_all(target.items)
                target.element = join_all(target.items)
                target.items = None
                return value
            return target.element
        if name == "copy":
            items = list(target.items) if target.items is not None else None
            return ListValue(items, target.element, target.kind, stage=frame.stage)
        if name in ("index", "count"):
            return Static(kind="int")
        if name in ("union", "intersection", "difference"):
            return ListValue(None, target.element, target.kind)
        return Static(None)

    def extend_list(self, target: ListValue, value: Value, node: ast.AST, frame: Frame) -> None:
        self.check_leak(target, value, node, frame)
        if (
            target.items is not None
            and isinstance(value, (ListValue, TupleValue))
            and value.items is not None
            and not frame.loops
            and not frame.guards
        ):
            target.items.extend(value.items)
            target.element = join_all(target.items)
            return
        elements = [*target.elements(), self.element_of(value, node, frame)]
        known = [e for e in elements if not (isinstance(e, Unknown) and e.origin is None)]
        target.items, target.element = None, join_all(known)

    def check_leak(self, container: ListValue | DictValue, value: Value, node: ast.AST, frame: Frame) -> None:
        """A tracer put into a container that was made outside the innermost trace outlives it."""
        if not frame.stage.staged or not frame.stage.certain or frame.catching:
            return
        made = container.stage
        if made is None or made is frame.stage or getattr(made, "kind", "") != "host":
            return
        array = find_array(value, True)
        if array is not None and array.certain:
            name = self.container_name(container, frame)
            if name:
                self.emit("leak", events.LeakEvent(node, frame, value, name))

    def container_name(self, container: Value, frame: Frame) -> str:
        """How the program names a container that outlives the trace, or "" when nothing outside holds it."""
        scope = frame.scope
        current: Any = scope
        while current is not None:
            for name, value in current.variables.items():
                if value is container:
                    inside = current is frame.scope
                    owner = frame.function.node if frame.function is not None else None
                    parameters = {a.arg for a in owner.args.args} if owner is not None else set()
                    if inside and name in parameters:
                        return ""
                    return f"the outer {'list' if isinstance(container, ListValue) else 'dict'} `{name}`"
                if isinstance(value, Instance) and value.cls.kind in ("plain", "dataclass"):
                    for attr, part in value.fields.items():
                        if part is container:
                            return f"the attribute `{name}.{attr}`"
            current = current.parent
        return ""

    def dict_method(
        self,
        target: DictValue,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        values = target.elements()
        if name == "values":
            return ListValue(None, join_all(values), "iterator")
        if name == "keys":
            return ListValue(None, Static(kind="str"), "iterator")
        if name == "items":
            if target.element is None and len(target.items) <= 16:
                return TupleValue([TupleValue([Static(k), v]) for k, v in target.items.items()])
            return ListValue(None, TupleValue([Static(kind="str"), join_all(values)]), "iterator")
        if name in ("get", "pop", "setdefault"):
            const = constant(args[0]) if args else MISSING
            known = target.items.get(const) if isinstance(const, (str, int)) else None
            if known is not None:
                return known
            default = args[1] if len(args) > 1 else Static(None)
            if name == "setdefault":
                target.element = default if target.element is None else join(target.element, default)
                return default
            if target.element is None and const is not MISSING:
                return default
            return join_all([*values, default]) if values else default
        if name == "update":
            if args and isinstance(args[0], DictValue):
                target.items.update(args[0].items)
                target.element = args[0].element or target.element
            elif args:
                target.element = UNKNOWN
            target.items.update({k: v for k, v in kwargs.items() if k != "**"})
            return Static(None)
        if name == "copy":
            return DictValue(dict(target.items), target.element, frame.stage)
        return UNKNOWN

    def store_item(
        self,
        base: Value,
        index: Value,
        value: Value,
        target: ast.Subscript,
        node: ast.AST,
        frame: Frame,
        operator: ast.operator | None,
    ) -> None:
        """`base[index] = value`."""
        if isinstance(base, Array) and base.role != "ref":
            if isinstance(constant(index), str):
                return  # a pytree after all
            self.emit("store", events.StoreEvent(node, frame, base, value, target, operator))
        elif isinstance(base, NumpyArray):
            staged = find_array(value, True, 1)
            if staged is not None:
                self.emit("numpy", events.NumpyEvent(node, frame, staged, "setitem"))
        elif isinstance(base, DictValue):
            self.check_leak(base, value, node, frame)
            const = constant(index)
            if isinstance(const, (str, int)) and not isinstance(const, bool):
                known = base.items.get(const)
                conditional = bool(frame.guards)
                base.items[const] = join(known, value) if known is not None and conditional else value
            else:
                base.element = value if base.element is None else join(base.element, value)
        elif isinstance(base, ListValue):
            self.check_leak(base, value, node, frame)
            if find_array(index, True, 0) is not None:
                self.emit("index", events.IndexEvent(target, frame, base, index, "list"))
            const = constant(index)
            if (
                base.items is not None
                and isinstance(const, int)
                and -len(base.items) <= const < len(base.items)
            ):
                base.items[const] = value
            base.element = join(base.element, value)

    # -- external objects

    def external_object_attribute(self, base: ExternalObject, name: str) -> Value:
        if base.name == "builtins.super":
            return self.super_attribute(base, name)
        if base.name == "numpy.random.default_rng":
            return ExternalMethod(base, name)
        if base.name in _EXTERNAL_SHAPED and name in ("shape", "dtype", "ndim"):
            return TupleValue(None, Static(kind="int")) if name == "shape" else Static()
        return ExternalMethod(base, name)

    def external_object_method(
        self,
        receiver: ExternalObject,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        inputs = [*args, *kwargs.values()]
        owner = receiver.name
        if owner.startswith("flax.TrainState.tx") or (
            owner.startswith("optax.") and name in ("init", "update")
        ):
            if name == "update":
                updates = self.array_result(frame, inputs, node, like=args[0] if args else None)
                updates.tree = True
                state = self.array_result(frame, inputs, node, like=args[1] if len(args) > 1 else None)
                state.tree = True
                return TupleValue([updates, state])
            result = self.array_result(frame, inputs, node)
            result.tree = True
            return result
        if owner.startswith("builtins.super"):
            return Static(None)
        if owner.startswith("numpy.random."):
            return NumpyArray(fresh=True)
        if owner.startswith(_LAYER_PREFIXES):
            if name in ("__call__", "apply", "init", "encode", "decode", "attend"):
                result = self.array_result(frame, inputs, node)
                result.tree = True
                return result
            if name in ("train", "eval", "set_attributes"):
                return Static(None)
            return self.opaque_call(inputs, node, frame)
        if owner == "collections.defaultdict" and name in ("items", "values", "keys"):
            return UNKNOWN
        return self.opaque_call(inputs, node, frame)

    def call_external_object(
        self,
        callee: ExternalObject,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        inputs = [*args, *kwargs.values()]
        name = callee.name
        if name == "dataclasses.replace":
            return self.replace_fields(callee.args[0] if callee.args else UNKNOWN, kwargs)
        if name == "flax.linen.Module.param":
            # `self.param(name, init_fn, *shape_args)` runs while tracing and gives an array.
            return self.array_result(frame, [], node, name="self.param")
        if name == "flax.linen.Module.variable":
            return UNKNOWN
        if name == "flax.linen.Module.is_initializing":
            return Static(kind="bool")
        if name == "flax.linen.Module.make_rng":
            result = self.array_result(frame, [], node, role="key", name="self.make_rng")
            result.origin = Origin("make_rng")
            return result
        if name in ("flax.linen.Module.apply", "flax.linen.Module.init") and callee.args:
            return self.apply_module(callee, name.endswith("init"), args, kwargs, node, frame)
        if name.startswith(_LAYER_PREFIXES) or name in ("flax.TrainState.apply_fn",):
            array = next((a for a in map(find_array, inputs) if a is not None), None)
            if array is None and not frame.stage.abstract:
                return UNKNOWN
            result = self.array_result(frame, inputs, node, name=_short(name))
            result.tree = True
            result.certain = (
                result.certain and name.startswith(_LAYER_PREFIXES) and not name.startswith("distrax.")
            )
            return result
        if name.startswith(("jax.nn.initializers.", "flax.linen.initializers.")):
            return self.array_result(frame, inputs, node, name=_short(name))
        if name.startswith("optax.") and inputs:
            return self.array_result(frame, inputs, node)  # a schedule
        if name.startswith("functools.wraps"):
            return args[0] if args else UNKNOWN
        return self.opaque_call(inputs, node, frame)

    def apply_module(
        self,
        callee: ExternalObject,
        init: bool,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`module.apply(variables, *args)` of a linen module of the project."""
        module = callee.args[0]
        assert isinstance(module, Instance)
        options = ("rngs", "mutable", "method", "capture_intermediates")
        inner = {k: v for k, v in kwargs.items() if k not in options}
        method: Value | None = kwargs.get("method")
        if isinstance(method, Static) and isinstance(method.const, str):
            method = module.cls.lookup(method.const)
        if method is None or (isinstance(method, Static) and method.const is None):
            method = self.module_call_method(module)
        if isinstance(method, BoundMethod):
            method = method.function
        result: Value = UNKNOWN
        if isinstance(method, (Function, Transformed)):
            result = self.call_value(method, [module, *args[1:]], inner, node, frame)
        if init:
            variables = self.array_result(frame, args, node)
            variables.tree = True
            return variables
        if "mutable" in kwargs and truthy_constant(kwargs["mutable"]):
            state = self.array_result(frame, args, node)
            state.tree = True
            return TupleValue([result, state])
        return result

    # -- conversions

    def convert(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """A value is made a Python number or text."""
        if isinstance(value, AtIndexer):
            value = value.array
        if isinstance(value, Array):
            self.emit("convert", events.ConvertEvent(node, frame, value, how))
        elif how in ("print", "str", "format") and isinstance(value, (DictValue, TupleValue, ListValue)):
            found = find_array(value, False, 2)
            if found is not None:
                self.emit("convert", events.ConvertEvent(node, frame, found, how))

    def test(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """Python asks for the truth of a value."""
        if isinstance(value, Array):
            self.emit("test", events.TestEvent(node, frame, value, how))
        elif isinstance(value, Instance):
            method = value.cls.lookup("__bool__")
            if isinstance(method, Function):
                self.call_value(BoundMethod(method, value), [], {}, node, frame)


def truthy_constant(value: Value) -> bool:
    """Whether an option is given and not False or None; unknown counts as given."""
    if isinstance(value, Static) and value.const is not MISSING:
        return bool(value.const)
    return True


def _short(name: str) -> str:
    return name.replace("jax.numpy.", "jnp.")


def _empty_sequence(name: str, frame: Frame) -> Value:
    if name == "tuple":
        return TupleValue([])
    return ListValue([], kind=name if name in ("set", "frozenset") else "list", stage=frame.stage)


_NNX_VARIABLES = frozenset(
    f"flax.nnx.{kind}"
    for kind in ("Param", "Variable", "BatchStat", "Cache", "Intermediate", "VariableState", "Perturbation")
)
_BOOLEAN = frozenset(
    [
        "any",
        "all",
        "isnan",
        "isinf",
        "isfinite",
        "isclose",
        "allclose",
        "array_equal",
        "logical_and",
        "logical_or",
        "logical_not",
        "logical_xor",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "isin",
        "signbit",
    ]
)
_CONTEXTS = frozenset(
    {
        "jax.ensure_compile_time_eval",
        "jax.disable_jit",
        "jax.named_scope",
        "jax.make_mesh",
        "jax.set_mesh",
        "jax.eval_shape",
    }
)
_EXTERNAL_SHAPED = frozenset({"jax.ShapeDtypeStruct", "jax.core.ShapedArray"})

Special = Callable[[Any, list[Value], dict[str, Value], ast.AST, Frame], Value]


def _partial(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    if not args:
        return UNKNOWN
    arg_nodes = list(node.args[1:]) if isinstance(node, ast.Call) else []
    kwarg_nodes = {k.arg: k.value for k in node.keywords if k.arg} if isinstance(node, ast.Call) else {}
    return Partial(args[0], args[1:], kwargs, arg_nodes, kwarg_nodes)


def _wraps(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return ExternalObject("functools.wraps", args, kwargs, node)


def _replace(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return self.replace_fields(args[0] if args else UNKNOWN, kwargs)


def _first(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return args[0] if args else UNKNOWN


def _cast(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return args[1] if len(args) > 1 else UNKNOWN


def _sync(how: str) -> Special:
    def call(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        found = find_array(args[0]) if args else None
        if found is not None:
            self.emit("convert", events.ConvertEvent(node, frame, found, how))
        if how == "device_get":
            return NumpyArray() if isinstance(args[0] if args else None, Array) else UNKNOWN
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


def _leaves(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    found = find_array(args[0]) if args else None
    if found is None:
        return ListValue(None, UNKNOWN, stage=frame.stage)
    leaf = Array(found.staged, found.why, certain=found.certain, jitted=found.jitted)
    return ListValue(None, leaf, stage=frame.stage)


def _flatten(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return TupleValue([_leaves(self, args, kwargs, node, frame), Static()])


def _unflatten(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    found = find_array(args[1]) if len(args) > 1 else None
    return UNKNOWN if found is None else Array(found.staged, found.why, tree=True, certain=found.certain)


def _namedtuple(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return External("collections.namedtuple")


def _shaped(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return UNKNOWN


def _debug(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return Static(None)


def _kernel_query(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    return self.array_result(frame, [*args, *kwargs.values()], node, name="the grid query")


def _reduce_over_axis(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    if args and isinstance(args[0], Static):
        return Static(kind="int")  # `psum(1, axis)` is the old way to ask for the size of an axis
    return self.array_result(frame, [*args, *kwargs.values()], node, name="lax.psum")


_SPECIAL: dict[str, Special] = {
    "jax.lax.psum": _reduce_over_axis,
    "functools.partial": _partial,
    "functools.wraps": _wraps,
    "dataclasses.replace": _replace,
    "copy.copy": _first,
    "copy.deepcopy": _first,
    "typing.cast": _cast,
    "collections.namedtuple": _namedtuple,
    "jax.device_get": _sync("device_get"),
    "jax.block_until_ready": _sync("block_until_ready"),
    "jax.device_put": _device_put,
    "jax.device_put_replicated": _device_put,
    "jax.tree.leaves": _leaves,
    "jax.tree.flatten": _flatten,
    "jax.tree.unflatten": _unflatten,
    "jax.lax.with_sharding_constraint": _first,
    "jax.lax.stop_gradient": _first,
    "jax.lax.optimization_barrier": _first,
    "jax.ad_checkpoint.checkpoint_name": _first,
    "jax.debug.print": _debug,
    "jax.debug.breakpoint": _debug,
    "jax.experimental.pallas.program_id": _kernel_query,
    "jax.experimental.pallas.num_programs": _kernel_query,
    "jax.experimental.pallas.load": _kernel_query,
}
