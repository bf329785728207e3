"""Methods of arrays and containers, stores into them, and what outlives a trace there."""

from __future__ import annotations

import ast
import contextlib
import string
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jaxlint.jaxapi.functions import (
    AXIS_METHODS,
    CONVERTING_METHODS,
    NUMPY_ONLY_METHODS,
    VIEW_METHODS,
)
from jaxlint.staging import events
from jaxlint.staging.evaluator.comparisons import Comparisons
from jaxlint.staging.evaluator.container_methods import SEARCHES, ContainerMethods
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.environment import converted
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    DictValue,
    ExternalMethod,
    ExternalObject,
    ListValue,
    NumpyArray,
    Setting,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
)
from jaxlint.staging.values.frame import Frame

# Methods of strings that a constant answers, given constants.
_OF_TEXT = frozenset(
    """
    capitalize casefold endswith lower lstrip removeprefix removesuffix replace rstrip startswith strip title upper
    """.split()  # noqa: SIM905
)


# Methods by which programs read a flag, whatever its case.
_SPELLINGS: dict[str, Callable[[Any], object]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "casefold": str.casefold,
}


def _number_fields(text: object) -> frozenset[int]:
    """The positions of arguments that `text.format(...)` formats as numbers, as in "{:.2f}"."""
    found: set[int] = set()
    if isinstance(text, str):
        with contextlib.suppress(ValueError):
            fields = [f for f in string.Formatter().parse(text) if f[1] is not None]
            for position, (_, name, spec, conversion) in enumerate(fields):
                if spec and not conversion and (not name or name.isdigit()):
                    found.add(int(name) if name else position)
    return frozenset(found)


def is_view(array: Array, method: str) -> bool:
    """Whether a method gives another view of the memory of a reference; arrays have none."""
    return method == "bitcast" or (array.role == "ref" and method in ("reshape", "transpose"))


class Methods(Part):
    """The method part of the interpreter."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.container_methods = machine.part(ContainerMethods)
        self.instances = machine.part(Instances)
        self.externals = machine.part(Externals)
        self.conversions = machine.part(Conversions)
        self.comparisons = machine.part(Comparisons)
        self.operators = machine.part(Operators)

    def call_method(
        self,
        callee: ExternalMethod,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """What a call of a method gives, by what has it."""
        receiver, name = callee.receiver, callee.name
        if isinstance(receiver, Transformed):
            return self.machine.staging.call_transformed_method(receiver, name, args, kwargs, node, frame)
        if isinstance(receiver, Array):
            return self.array_method(receiver, name, args, kwargs, node, frame)
        if isinstance(receiver, AtIndexer):
            if is_view(receiver.array, name):
                return replace(receiver.array, role="ref")
            if name == "get":
                return self.operators.array_result(frame, [receiver.array, *args], node)
            result = self.operators.array_result(frame, [receiver.array, *args], node, like=receiver.array)
            if receiver.array.tree:
                return replace(result, tree=True, certain=False)  # libraries of pytrees have an `at` as well
            self.machine.tracking.made_by(result, "at", [receiver.array, *args], kwargs, node, frame)
            return result
        if isinstance(receiver, ListValue):
            return self.container_methods.list_method(receiver, name, args, node, frame)
        if isinstance(receiver, DictValue):
            return self.container_methods.dict_method(receiver, name, args, kwargs, node, frame)
        if isinstance(receiver, TupleValue):
            if name in SEARCHES and args:
                self.comparisons.look_for(args[0], receiver, name, node, frame)
            return Static(kind="int") if name in ("index", "count") else UNKNOWN
        if isinstance(receiver, ExternalObject):
            return self.externals.external_object_method(receiver, name, args, kwargs, node, frame)
        if isinstance(receiver, NumpyArray):
            if name in ("item", "tolist"):
                return Static() if name == "item" else ListValue(None, Static())
            return NumpyArray(shares=receiver.shares and name in VIEW_METHODS)
        if isinstance(receiver, Setting) and name in _SPELLINGS and not args:
            return converted(receiver, _SPELLINGS[name])
        if isinstance(receiver, Static):
            numeric = _number_fields(receiver.const) if name == "format" else frozenset()
            for position, value in enumerate(args):
                how = "format" if position in numeric else "format_method" if name == "format" else "str"
                self.conversions.convert(value, node, how, frame)
            if name == "split":
                return ListValue(None, Static(kind="str"))
            folded = _text_method(receiver, name, args)
            if folded is not None:
                return folded
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
        """What a method of an array gives, or of a tree of arrays."""
        if name in CONVERTING_METHODS:
            self.conversions.convert(array, node, name, frame)
            return ListValue(None, Static()) if name == "tolist" else Static()
        if name == "block_until_ready":
            self.conversions.convert(array, node, name, frame)
            return array
        if name == "is_deleted":
            return Static(kind="bool")  # of the buffer, which tracers have none of
        if array.tree:
            of_tree = self.tree_method(array, name, args, kwargs, node, frame)
            if of_tree is not None:
                return of_tree
        self.check_shapes(array, name, args, kwargs, node, frame)
        if name in NUMPY_ONLY_METHODS:
            return UNKNOWN
        result = self.operators.array_result(frame, [array, *args, *kwargs.values()], node)
        self.machine.tracking.made_by(result, f"jax.numpy.{name}", [array, *args], kwargs, node, frame)
        if name in ("astype", "copy"):
            result.role = array.role if array.role in ("key", "ref") or name == "copy" else ""
            result.like = (array.like or array.origin) if name == "copy" else None
        if is_view(array, name):
            result.role = "ref"
        if name in ("any", "all"):
            result.role = "bool"
        return result

    def tree_method(
        self,
        tree: Array,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value | None:
        """What a method gives that a dict or a record of arrays has; None for one that an array has alone."""
        if name in ("items", "values", "keys"):
            part = Array(
                tree.staged, tree.why, tree=True, certain=tree.certain, jitted=tree.jitted, flow=tree.flow
            )
            if name == "values":
                return ListValue(None, part, "iterator")
            if name == "keys":
                return ListValue(None, Static(kind="key"), "iterator")
            return ListValue(None, TupleValue([Static(kind="key"), part]), "iterator")
        if name in ("get", "pop"):
            key = constant(args[0]) if args else MISSING
            origin = tree.origin.child(key) if tree.origin is not None and isinstance(key, str) else None
            return Array(tree.staged, tree.why, tree=True, certain=False, origin=origin, jitted=tree.jitted)
        if name in ("replace", "_replace", "apply_gradients", "copy"):
            copy = self.instances.replace_fields(tree, kwargs)
            if isinstance(copy, Array) and any(k.arg is None for k in getattr(node, "keywords", ())):
                copy.origin = None  # `state.replace(**changes)`: which parts are new is not known
            return copy
        if name == "update":
            return UNKNOWN
        if name in self.machine.array_like:  # it may be such an object
            return self.machine.language.opaque_call([tree, *args, *kwargs.values()], node, frame)
        return None

    def check_shapes(
        self,
        array: Array,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """Tells rules of a tracer where the method needs a number, and of a shape that depends on the data."""
        if name in ("reshape", "transpose", "swapaxes"):
            for value in args:
                self.conversions.shape_argument(
                    value, f".{name}", "a size" if name == "reshape" else "an axis", node, frame
                )
        if name in NUMPY_ONLY_METHODS:
            return
        if name in AXIS_METHODS and args:
            self.conversions.shape_argument(args[0], f".{name}", "the axis", node, frame)
        if "axis" in kwargs:
            self.conversions.shape_argument(kwargs["axis"], f".{name}", "`axis`", node, frame)
        if name in ("nonzero", "compress") and array.staged and not array.tree and "size" not in kwargs:
            self.machine.emit("shape", events.ShapeEvent(node, frame, array, f".{name}", "the data"))
        count = args[0] if args else kwargs.get("repeats")
        if (
            name == "repeat"
            and isinstance(count, Array)
            and count.staged
            and "total_repeat_length" not in kwargs
        ):
            event = events.ShapeEvent(node, frame, count, ".repeat", "the data", "total_repeat_length")
            self.machine.emit("shape", event)


def _text_method(text: Static, name: str, args: list[Value]) -> Static | None:
    """What a method of a known string gives, where its arguments are known, too."""
    given = [constant(value) for value in args]
    if name not in _OF_TEXT or not isinstance(text.const, str) or MISSING in given:
        return None
    try:
        return Static(getattr(text.const, name)(*given))
    except TypeError:
        return None
