"""What calls of builtins, NumPy, JAX's array functions and the libraries around them give."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.class_kinds import DECORATOR_KINDS, FIELD_MAKERS
from jaxlint.jaxapi.dtypes import TRUTH_FUNCTIONS
from jaxlint.jaxapi.functions import (
    COLLECTIVES,
    DATA_DEPENDENT,
    LISTS_OF_ARRAYS,
    MANY_IN_MANY_OUT,
    NUMBER_KEEPING_COLLECTIVES,
    SEVERAL_BY_MODE,
    SEVERAL_RESULTS,
    SHAPE_ARGUMENTS,
    SIZED_BY_DATA,
    STATIC_FUNCTIONS,
    STATIC_NUMBERS,
    TREES_OF_ARRAYS,
    TUPLES_OF_ARRAYS,
    TYPES,
    returns_array,
)
from jaxlint.jaxapi.modules import LAYER_LIBRARIES, holds_arrays
from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.transforms import CALLERS, CONTROL_FLOW, PRIMITIVE_RULES, TRANSFORMS
from jaxlint.staging import events
from jaxlint.staging.evaluator.classes import Classes, decorated, redecorates
from jaxlint.staging.evaluator.external_models import Call, attributes, calls, calls_of_made, methods
from jaxlint.staging.evaluator.instances import WRITTEN_INIT
from jaxlint.staging.evaluator.introspection import Introspection
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.pytest_names import CASE, FIXTURE, PARAMETRISERS
from jaxlint.staging.values import (
    CALLABLE,
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
    StarArgument,
    Static,
    TupleValue,
    Unknown,
    Value,
    find_array,
    unknown_of,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Why

_LIKE_THE_FIRST = frozenset(
    [
        "optax.apply_updates",
        *(
            f"jax.numpy.{name}"
            for name in [
                "where",
                "roll",
                "flip",
                "fliplr",
                "flipud",
                "tril",
                "triu",
                "clip",
                "maximum",
                "minimum",
                "square",
                "nan_to_num",
            ]
        ),
        "jax.lax.dynamic_update_slice",
        "jax.lax.dynamic_update_slice_in_dim",
        "jax.lax.dynamic_update_index_in_dim",
    ]
)
# Conversions that an array whose gradient is taken refuses, while `int`, `bool` and `.item` are given its value.
_NEED_NUMBERS = frozenset({"float", "complex", "tolist", "format"})


class Externals(Part):
    """Calls that leave the project."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.classes = machine.part(Classes)
        self.introspection = machine.part(Introspection)
        self.libraries: dict[str, Why] = {}  # the libraries that are given tracers in a stage

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
            return self.machine.staging.apply_transform(name, args, kwargs, node, frame, callee.own)
        if name in CONTROL_FLOW:
            return self.machine.staging.control_flow(name, args, kwargs, node, frame, callee.own)
        if name in PRIMITIVE_RULES and args and isinstance(args[0], CALLABLE):
            self.machine.staging.add_rule(name, args[0], node, frame)
        if name in CALLERS:
            self.machine.staging.call_back(name, args, kwargs, node, frame)
        if name.startswith("builtins."):
            return self.machine.language.call_builtin(name[9:], args, kwargs, node, frame)
        model = calls.get(name)
        if model is None:
            return self.unmodelled(name, args, kwargs, node, frame)
        if callee.own is None:
            return model(Call(name, args, kwargs, node, frame, self.machine, self.unmodelled_call))
        own = self.machine.staging.aside(callee.own, args, kwargs, node, frame)
        result = model(Call(name, args, kwargs, node, frame, self.machine, self.unmodelled_call))
        return replace(result, own=own) if isinstance(result, ExternalObject) else result

    def unmodelled_call(self, call: Call) -> Value:
        return self.unmodelled(call.name, call.args, call.kwargs, call.node, call.frame)

    def unmodelled(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """What a function gives that has no model: by the tables, or as something unknown."""
        if name in STATIC_FUNCTIONS:
            return ExternalObject(name, args, kwargs, node) if name in _CONTEXTS else Static()
        if (
            name in FIELD_MAKERS
            or name in TYPES
            or name in DECORATOR_KINDS
            or name in PARAMETRISERS
            or name in (FIXTURE, CASE)
        ):
            decorator = ExternalObject(name, args, kwargs, node)
            if args and isinstance(args[0], ClassValue) and redecorates(name, args[0]):
                return decorated(args[0], decorator)
            return decorator
        if name in COLLECTIVES and args:
            return self.collective(name, args[0], node, frame)
        if returns_array(name):
            self.check_shapes(name, args, kwargs, node, frame)
            like = args[0] if args and name in _LIKE_THE_FIRST else None
            result = self.machine.language.array_result(
                frame, [*args, *kwargs.values()], node, name=_short(name), like=like
            )
            result.tree = name in ("optax.apply_updates", "optax.incremental_update")
            if name.startswith("jax.numpy.") and name.rpartition(".")[2] in TRUTH_FUNCTIONS:
                result.role = "bool"
            self.machine.tracking.made_by(result, name, args, kwargs, node, frame)
            return self.as_returned(name, result, args, kwargs, frame)
        made_by_class = name.rpartition(".")[2][:1].isupper()
        if made_by_class or name.startswith(("jax.", "optax.", *LAYER_LIBRARIES)):
            made = ExternalObject(name, args, kwargs, node)
            given = [*args, *kwargs.values()]
            made.answer = not made_by_class and frame.stage.staged and any(find_array(v, True) for v in given)
            if holds_arrays(name):
                made.staged = next((a for v in [*args, *kwargs.values()] if (a := find_array(v, True))), None)
                if made.staged is None and frame.stage.abstract:
                    made.staged = Array(True, frame.stage.why, tree=True, certain=False)
            return made
        other = self.machine.language.opaque_call([*args, *kwargs.values()], node, frame)
        if isinstance(other, Unknown):
            return unknown_of([*args, *kwargs.values()])
        why = frame.stage.why
        if frame.stage.abstract and isinstance(other, Array) and why is not None and not why.rests_on_habit:
            self.libraries.setdefault(name.partition(".")[0], why)
        return other

    def as_returned(
        self, name: str, result: Array, args: list[Value], kwargs: dict[str, Value], frame: Frame
    ) -> Value:
        """The result of an array function in the container that the function returns, where that is known."""
        many = isinstance(args[0] if args else None, (TupleValue, ListValue))
        several = name in MANY_IN_MANY_OUT and (many or (".atleast_" in name and len(args) > 1))
        several = several or (name in SEVERAL_BY_MODE and "mode" in kwargs)
        if name in TREES_OF_ARRAYS or several or not SEVERAL_RESULTS.isdisjoint(kwargs):
            result.tree = True
        elif name == "jax.numpy.meshgrid" and not any(isinstance(arg, StarArgument) for arg in args):
            return ListValue(
                [replace(result, origin=Origin("item")) for _ in args], result, stage=frame.stage
            )
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
                TupleValue(items, element, value.cls, value.exact)
                if isinstance(value, TupleValue)
                else ListValue(items, element, stage=frame.stage)
            )
        if isinstance(value, DictValue):
            known = {k: self.collective(name, v, node, frame) for k, v in value.items.items()}
            rest = self.collective(name, value.element, node, frame) if value.element is not None else None
            return DictValue(known, rest, frame.stage)
        if isinstance(value, Static) and (value.const is None or name in NUMBER_KEEPING_COLLECTIVES):
            # `psum(1, axis)` is the axis' size.
            return value if value.const is None else Static(kind=value.kind)
        if not isinstance(value, (Array, NumpyArray, Static)):
            return self.machine.language.opaque_call([value], node, frame)
        result = self.machine.language.array_result(frame, [value], node, name=_short(name), like=value)
        result.tree = isinstance(value, Array) and value.tree
        if not frame.stage.abstract:
            result.certain = False  # what is the same on the whole axis is concrete under an eager vmap
        return result

    def check_shapes(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        """Tells rules of values used as shapes, lengths and counts."""
        wanted = SHAPE_ARGUMENTS.get(name) or STATIC_NUMBERS.get(name)
        if "axis" in kwargs and name not in STATIC_NUMBERS:
            self.shape_argument(kwargs["axis"], name, "`axis`", node, frame)
        sized = SIZED_BY_DATA.get(name)
        if sized is not None and sized[2] not in kwargs and len(args) < 3:
            value = args[sized[0]] if sized[0] < len(args) else kwargs.get(sized[1])
            if isinstance(value, Array) and value.staged:
                self.machine.emit("shape", events.ShapeEvent(node, frame, value, name, "the data", sized[2]))
        if wanted is not None:
            for position, keyword in zip(*wanted, strict=False):
                if position < len(args):
                    called = "stop" if name == "jax.numpy.arange" and len(args) == 1 else keyword
                    self.shape_argument(args[position], name, f"`{called}`", node, frame)
            for keyword in wanted[1]:
                if keyword in kwargs:
                    self.shape_argument(kwargs[keyword], name, f"`{keyword}`", node, frame)
        for option in ("size", sized[2] if sized is not None else ""):
            if option in kwargs and (
                sized is not None or name in DATA_DEPENDENT or name == "jax.numpy.where"
            ):
                self.shape_argument(kwargs[option], name, f"`{option}`", node, frame)
        if (
            name in DATA_DEPENDENT or (name == "jax.numpy.where" and len(args) == 1 and "x" not in kwargs)
        ) and "size" not in kwargs:
            found = find_array(args[0], True) if args else None
            if found is None and frame.stage.abstract and args and isinstance(args[0], (Array, NumpyArray)):
                found = self.machine.language.array_result(
                    frame, [], node, name=_short(name)
                )  # constants are staged out, too
            if found is not None:
                self.machine.emit("shape", events.ShapeEvent(node, frame, found, name, "the data"))

    def shape_argument(self, value: Value, name: str, what: str, node: ast.AST, frame: Frame) -> None:
        parts = value.elements() if isinstance(value, (TupleValue, ListValue)) else [value]
        for part in parts:
            if isinstance(part, (TupleValue, ListValue)):
                self.shape_argument(part, name, what, node, frame)
            elif isinstance(part, Array) and part.staged:
                self.machine.emit("shape", events.ShapeEvent(node, frame, part, name, what))
                return

    # -- external objects

    def external_object_attribute(
        self, base: ExternalObject, name: str, node: ast.AST, frame: Frame
    ) -> Value:
        if base.name == "builtins.super":
            return self.introspection.super_attribute(base, name)
        full = f"{base.name}.{name}"
        model = attributes.get(full)
        if model is None:
            return ExternalMethod(base, name)
        return model(Call(full, [], {}, node, frame, self.machine, self.unmodelled_attribute, base))

    def unmodelled_attribute(self, call: Call) -> Value:
        return ExternalMethod(call.made, call.name.rpartition(".")[2])

    def external_object_method(
        self,
        receiver: ExternalObject,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        if receiver.name.startswith("builtins.super"):
            if name == "__new__":
                return self.machine.language.call_builtin("object.__new__", args, kwargs, node, frame)
            return Static(None) if name == "__init__" else UNKNOWN
        full = f"{receiver.name}.{name}"
        model = methods.get(full)
        if model is None:
            return self.machine.language.opaque_call([*args, *kwargs.values()], node, frame)
        return model(Call(full, args, kwargs, node, frame, self.machine, unknown_result, receiver))

    def call_external_object(
        self,
        callee: ExternalObject,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        if callee.own is None:
            return self.result_of_object(callee, args, kwargs, node, frame)
        own = self.machine.staging.aside(callee.own, args, kwargs, node, frame, odd=True)
        result = self.result_of_object(callee, args, kwargs, node, frame)
        # What it gives may be called in turn, as a decorator that takes options is.
        return (
            replace(result, own=own) if isinstance(result, ExternalObject) and result.own is None else result
        )

    def result_of_object(
        self,
        callee: ExternalObject,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """What calling an object of a library gives, as far as it is known."""
        if args and isinstance(args[0], ClassValue) and redecorates(callee.name, args[0]):
            return decorated(args[0], callee)
        if callee.name == WRITTEN_INIT and isinstance(callee.args[0], ClassValue):
            return self.classes.fill(callee.args[0], args, kwargs, node, frame)
        model = calls_of_made.get(callee.name)
        if model is None:
            return self.machine.language.opaque_call([*args, *kwargs.values()], node, frame)
        return model(Call(callee.name, args, kwargs, node, frame, self.machine, unknown_result, callee))

    # -- conversions

    def convert(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """A value is made a Python number or text, or it is hashed ("hash")."""
        if isinstance(value, AtIndexer):
            value = value.array
        if how == "hash" and not (isinstance(value, Array) and value.staged and not value.tree):
            return
        if isinstance(value, Array):
            needs_number = how in _NEED_NUMBERS or how.startswith("math.")
            carrying = self.machine.tracking.differentiated([value]) if needs_number else None
            if frame.catching and (needs_number or how in ("int", "index", "item")):
                _note_raised(value, frame)
            self.machine.emit(
                "convert", events.ConvertEvent(node, frame, carrying or value, how, carrying is not None)
            )
        elif how in ("print", "str", "format") and isinstance(value, (DictValue, TupleValue, ListValue)):
            found = find_array(value, False, 2)
            if found is not None:
                self.machine.emit("convert", events.ConvertEvent(node, frame, found, how))

    def read_on_host(self, how: str, values: list[Value], node: ast.AST, frame: Frame) -> None:
        """What is handed to `how` is written or sent from the host; of tracers, other events speak."""
        for value in values:
            found = find_array(value, False, 2)
            if found is not None and not found.staged:
                self.machine.emit("convert", events.ConvertEvent(node, frame, found, how))
                return

    def test(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """Python asks for the truth of a value."""
        if type(value) is Array:
            if value.role != "ref":  # a variable of nnx is an object, and true
                if frame.catching and not value.tree:
                    _note_raised(value, frame)
                self.machine.emit("test", events.TestEvent(node, frame, value, how))
        elif type(value) is Instance:
            method = value.cls.lookup("__bool__")
            if type(method) is Function:
                self.machine.language.call_value(BoundMethod(method, value), [], {}, node, frame)


def unknown_result(call: Call) -> Value:
    """Of an object that nothing else is known of."""
    return call.opaque()


def _short(name: str) -> str:
    return name.replace("jax.numpy.", "jnp.")


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


def _note_raised(value: Array, frame: Frame) -> None:
    """In a try: for a tracer what follows in its body is not run, and the handler is."""
    if value.staged and not value.certain:
        frame.perhaps_raised = True
    elif value.staged:
        found = (len(frame.guards) + len(frame.loops), len(frame.returns))
        if frame.raised is None or found < frame.raised:
            frame.raised = found
