"""Attributes and methods of JAX arrays, NumPy arrays and trees of arrays."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.array_members import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    AXIS_METHODS,
    CONVERTING_METHODS,
    NUMPY_ONLY_METHODS,
    RULE_FLAGS,
    STATIC_ATTRIBUTES,
    VIEW_ATTRIBUTES,
    VIEW_METHODS,
)
from jaxlint.jaxapi.dtypes import strong
from jaxlint.staging import events
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.shapes.exact import measured_in_numbers
from jaxlint.staging.shapes.known import shape_of
from jaxlint.staging.tracking.operations import Operations, numpy_kind
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    DType,
    ExternalMethod,
    ExternalObject,
    ListValue,
    NumpyArray,
    Operation,
    Static,
    TupleValue,
    Value,
    constant,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.measured import MEASURES, measure


def is_view(array: Array, method: str) -> bool:
    """Whether a method returns another view of a reference's memory. Arrays have no views."""
    return method == "bitcast" or (array.role == "ref" and method in ("reshape", "transpose"))


class ArrayMembers(Part):
    """Evaluates attributes and methods of arrays."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.conversions = machine.part(Conversions)
        self.instances = machine.part(Instances)
        self.operators = machine.part(Operators)
        self.operations = machine.part(Operations)

    def array_attribute(self, base: Array | NumpyArray, name: str, node: ast.AST, frame: Frame) -> Value:
        """The value of `base.name`."""
        if isinstance(base, NumpyArray):
            if name in STATIC_ATTRIBUTES:
                if name in MEASURES:
                    return self.measured(base, name)
                known = name == "dtype" and self.machine.exact and base.dtype
                return DType(kind="dtype", name=base.dtype) if known else Static()
            shares = base.shares and name in VIEW_ATTRIBUTES
            if name in ("T", "real", "imag"):
                how = "transpose" if name == "T" else name
                made = Operation(how, (base,), {}, node, 0, f"jax.numpy.{how}")
                dtype = numpy_kind("T", [base], {}) if name == "T" else ""
                return NumpyArray(dtype=dtype, shares=shares, made=made)
            return NumpyArray() if name == "flat" else ExternalMethod(base, name)
        return self.attribute_of_array(base, name, node, frame)

    def measured(self, base: Array | NumpyArray, name: str) -> Value:
        """`base.shape`, `base.ndim` or `base.size`; in numbers in an exact analysis."""
        numbers = measured_in_numbers(base, name) if self.machine.exact else None
        return measure(base, name) if numbers is None else numbers

    def array_method(self, receiver: Array | AtIndexer | NumpyArray, name: str, call: Call) -> Value:
        """The result of `receiver.name(*args, **kwargs)`."""
        if isinstance(receiver, NumpyArray):
            if name in ("item", "tolist"):
                return python_of(receiver, name)
            made = Operation(name, (receiver, *call.args), call.kwargs, call.node, 0, f"jax.numpy.{name}")
            dtype = numpy_kind(name, made.args, call.kwargs)
            return NumpyArray(dtype=dtype, shares=receiver.shares and name in VIEW_METHODS, made=made)
        if isinstance(receiver, AtIndexer):
            return self.indexed_update(receiver.array, name, call)
        return self.method_of_array(receiver, name, call)

    def indexed_update(self, array: Array, name: str, call: Call) -> Value:
        """The result of `array.at[...].name(*args, **kwargs)`."""
        if is_view(array, name):
            return replace(array, role="ref")
        if name == "get":
            return self.operators.array_result(call.frame, [array, *call.args], call.node)
        result = self.operators.array_result(call.frame, [array, *call.args], call.node, like=array)
        if array.tree:
            return replace(result, tree=True, certain=False)  # pytree libraries also have an `at`
        self.operations.made_by(result, "at", call.passing([array, *call.args]))
        return result

    def attribute_of_array(self, base: Array, name: str, node: ast.AST, frame: Frame) -> Value:
        if name == "aval" and not base.tree:
            return ExternalObject("jax.core.ShapedArray", [base])
        if name in STATIC_ATTRIBUTES and base.role != "tree":
            if name in MEASURES:
                return self.measured(base, name)
            if name == "dtype" and self.machine.exact and base.dtype and not base.tree:
                return DType(kind="dtype", name=strong(base.dtype))
            if name == "dtype" and base.dtype and not base.dtype.endswith("*"):
                return DType(kind="dtype", name=base.dtype)
            return Static(kind="int" if name in ("itemsize", "nbytes") else name)
        if name in RULE_FLAGS and not base.tree:
            return Static(kind="bool")
        if name == "at":
            return AtIndexer(base)
        if name == "value" and base.role == "ref":
            return replace(base, role="")
        if name in ("T", "mT") and base.role == "ref":
            return base  # a view of the same memory
        if name in ("T", "mT", "real", "imag"):
            result = self.operators.array_result(frame, [base], node)
            if name in ("T", "mT"):
                self.operations.made_by(result, "transpose", Call([base], {}, node, frame))
            elif self.machine.exact and not base.tree:
                self.operations.made_by(result, f"jax.numpy.{name}", Call([base], {}, node, frame))
            return result
        if name in ARRAY_METHODS or name in ARRAY_ATTRIBUTES or name in CONVERTING_METHODS:
            return ExternalMethod(base, name)
        if not base.tree and name in NUMPY_ONLY_METHODS:
            return ExternalMethod(base, name)
        if not base.tree and not base.staged:
            return UNKNOWN
        # No array has such an attribute: it belongs to a tree, or to an object that computes like an array and holds
        # some.
        if base.tree and name in (
            "items",
            "keys",
            "values",
            "get",
            "replace",
            "_replace",
            "apply_gradients",
            "pop",
            "copy",
            "update",
        ):
            return ExternalMethod(base, name)
        if base.tree and name in ("apply_fn", "tx"):
            return ExternalObject(f"flax.TrainState.{name}")
        return Array(
            base.staged,
            base.why,
            tree=True,
            certain=False,
            origin=base.origin.child(name) if base.origin else None,
            jitted=base.jitted,
            flow=base.flow,
        )

    def method_of_array(self, array: Array, name: str, call: Call) -> Value:
        """The result of a method of an array or of a tree of arrays."""
        node, frame = call.node, call.frame
        if name in CONVERTING_METHODS:
            self.conversions.convert(array, node, name, frame)
            return python_of(array, name) if name == "tolist" else Static()
        if name == "block_until_ready":
            self.conversions.convert(array, node, name, frame)
            return array
        if name == "is_deleted":
            return Static(kind="bool")  # of the buffer, which tracers lack
        if array.tree:
            of_tree = self.tree_method(array, name, call)
            if of_tree is not None:
                return of_tree
        self.check_method_shapes(array, name, call)
        if name in NUMPY_ONLY_METHODS:
            return UNKNOWN
        result = self.operators.array_result(frame, [array, *call.inputs], node)
        self.operations.made_by(result, f"jax.numpy.{name}", call.passing([array, *call.args]))
        if name in ("astype", "copy"):
            result.role = array.role if array.role in ("key", "ref") or name == "copy" else ""
            result.like = (array.like or array.origin) if name == "copy" else None
        if is_view(array, name):
            result.role = "ref"
        if name in ("any", "all"):
            result.role = "bool"
        return result

    def tree_method(self, tree: Array, name: str, call: Call) -> Value | None:
        """The result of a method that a dict or a record of arrays has; None for a method that only an array has."""
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
            key = constant(call.args[0]) if call.args else MISSING
            origin = tree.origin.child(key) if tree.origin is not None and isinstance(key, str) else None
            return Array(tree.staged, tree.why, tree=True, certain=False, origin=origin, jitted=tree.jitted)
        if name in ("replace", "_replace", "apply_gradients", "copy"):
            copy = self.instances.replace_fields(tree, call.kwargs)
            if isinstance(copy, Array) and any(k.arg is None for k in getattr(call.node, "keywords", ())):
                copy.origin = None  # `state.replace(**changes)`: it is unknown which parts are new
            return copy
        if name == "update":
            return UNKNOWN
        if name in self.machine.array_like:  # it may be such an object
            return self.machine.language.opaque_call([tree, *call.inputs], call.node, call.frame)
        return None

    def check_method_shapes(self, array: Array, name: str, call: Call) -> None:
        """Emits an event for a tracer where the method needs a number, and for a data-dependent shape."""
        kwargs, node, frame = call.kwargs, call.node, call.frame
        if name in ("reshape", "transpose", "swapaxes"):
            for value in call.args:
                self.conversions.shape_argument(
                    value, f".{name}", "a size" if name == "reshape" else "an axis", node, frame
                )
        if name in NUMPY_ONLY_METHODS:
            return
        if name in AXIS_METHODS and call.args:
            self.conversions.shape_argument(call.args[0], f".{name}", "the axis", node, frame)
        if "axis" in kwargs:
            self.conversions.shape_argument(kwargs["axis"], f".{name}", "`axis`", node, frame)
        if name in ("nonzero", "compress") and array.staged and not array.tree and "size" not in kwargs:
            self.machine.emit("shape", events.ShapeEvent(node, frame, array, f".{name}", "the data"))
        count = call.argument(0, "repeats")
        if (
            name == "repeat"
            and isinstance(count, Array)
            and count.staged
            and "total_repeat_length" not in kwargs
        ):
            event = events.ShapeEvent(node, frame, count, ".repeat", "the data", "total_repeat_length")
            self.machine.emit("shape", event)


def python_of(array: Array | NumpyArray, name: str) -> Value:
    """The result of `.item()` or `.tolist()`: a number, or a list of them unless the array has no axes."""
    if name == "item":
        return Static()
    shape = shape_of(array)
    if shape is None:
        return UNKNOWN
    return ListValue(None, Static()) if shape else Static()
