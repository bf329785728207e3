"""The results of functions without their own model: from the tables of array functions, or unknown."""

from __future__ import annotations

import functools
from dataclasses import replace

from jaxlint.jaxapi.dtypes import TRUTH_FUNCTIONS, canonical_dtype, inexact, strong
from jaxlint.jaxapi.functions import (
    COLLECTIVES,
    LISTS_OF_ARRAYS,
    MANY_IN_MANY_OUT,
    NUMBER_KEEPING_COLLECTIVES,
    SEVERAL_BY_MODE,
    SEVERAL_RESULTS,
    STATIC_FUNCTIONS,
    TREES_OF_ARRAYS,
    TUPLES_OF_ARRAYS,
    TYPES,
    returns_array,
)
from jaxlint.jaxapi.layer_classes import LAYER_LIBRARIES, holds_arrays
from jaxlint.jaxapi.static_arguments import DATA_DEPENDENT, SHAPE_ARGUMENTS, SIZED_BY_DATA, STATIC_NUMBERS
from jaxlint.staging import events
from jaxlint.staging.arrays.questions import LIMITS, answered
from jaxlint.staging.evaluator.classes import decorated, redecorates
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.pytest_names import CASE, FIXTURE, PARAMETRISERS
from jaxlint.staging.shapes.agreement import like_start
from jaxlint.staging.shapes.answers import applied
from jaxlint.staging.shapes.exact import form_of
from jaxlint.staging.tracking.operations import Operations, real_of
from jaxlint.staging.values import (
    Array,
    ClassValue,
    DictValue,
    ExternalObject,
    ListValue,
    NumpyArray,
    Operation,
    Origin,
    StarArgument,
    Static,
    TupleValue,
    Unknown,
    Value,
    find_array,
    unknown_of,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.class_models import decorator_of, is_field_maker
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.parts import map_parts

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


# Functions of linear algebra that return a tuple, and the parts that are real for every matrix.
SEVERAL: dict[str, tuple[int, ...]] = {
    f"jax.{module}.{name}": real
    for module in ("numpy.linalg", "scipy.linalg")
    for name, real in {"svd": (1,), "qr": (), "eigh": (0,), "slogdet": (1,)}.items()
}


# Functions that return several arrays of the dtype of the operand, and the parts that are indices.
_ALIKE: dict[str, tuple[int, ...]] = {
    **{
        f"jax.{name}": ()
        for name in [
            *(f"numpy.{how}" for how in ("split", "array_split", "hsplit", "vsplit", "dsplit", "unstack")),
            "lax.split",
            "lax.unstack",
        ]
    },
    **dict.fromkeys(
        ("jax.lax.top_k", "jax.numpy.top_k", "jax.lax.approx_max_k", "jax.lax.approx_min_k"), (1,)
    ),
}

_MAKING_OBJECTS = ("jax.", "optax.", *LAYER_LIBRARIES)


@functools.cache
def _is_kept_as_object(name: str) -> bool:
    """Whether a call is looked at later: a type, a field of a class, a decorator or a table of test cases."""
    return (
        is_field_maker(name)
        or name in TYPES
        or decorator_of(name) is not None
        or name in PARAMETRISERS
        or name in (FIXTURE, CASE)
    )


class ArrayFunctions(Part):
    """Functions of JAX, optax and layer libraries, from the tables."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.conversions = machine.part(Conversions)
        self.operators = machine.part(Operators)
        self.operations = machine.part(Operations)

    def unmodelled(self, name: str, call: Call) -> Value:
        """The result of a function without a model: from the tables, or unknown."""
        args, kwargs, node, frame = call.args, call.kwargs, call.node, call.frame
        if name in STATIC_FUNCTIONS:
            known = self.machine.exact or name.rpartition(".")[2] in LIMITS
            answer = answered(name, args) if known else None
            if answer is not None:
                return answer
            return ExternalObject(name, args, kwargs, node) if name in _CONTEXTS else Static()
        if _is_kept_as_object(name):
            decorator = ExternalObject(name, args, kwargs, node)
            if args and isinstance(args[0], ClassValue) and redecorates(name, args[0]):
                return decorated(args[0], decorator)
            return decorator
        if name in COLLECTIVES and args:
            return self.collective(name, args[0], call)
        if returns_array(name):
            self.check_shapes(name, call)
            like = args[0] if args and name in _LIKE_THE_FIRST else None
            result = self.operators.array_result(frame, call.inputs, node, name=_short(name), like=like)
            result.tree = name in ("optax.apply_updates", "optax.incremental_update")
            if name.startswith("jax.numpy.") and name.rpartition(".")[2] in TRUTH_FUNCTIONS:
                result.role = "bool"
            self.operations.made_by(result, name, call)
            several = self.several(name, result) if self.machine.exact else None
            if name == "optax.apply_updates" and args:
                return like_start(args[0], result) if self.machine.exact else _strengthened(args[0], result)
            return several or self.as_returned(name, result, args, kwargs, frame)
        made_by_class = name.rpartition(".")[2][:1].isupper()
        if made_by_class or name.startswith(_MAKING_OBJECTS):
            made = ExternalObject(name, args, kwargs, node)
            given = call.inputs
            made.answer = not made_by_class and frame.stage.staged and any(find_array(v, True) for v in given)
            if holds_arrays(name):
                made.staged = next((a for v in call.inputs if (a := find_array(v, True))), None)
                if made.staged is None and frame.stage.abstract:
                    made.staged = Array(True, frame.stage.why, tree=True, certain=False)
            return made
        other = self.machine.language.opaque_call(call.inputs, node, frame)
        if isinstance(other, Unknown):
            return unknown_of(call.inputs)
        why = frame.stage.why
        if frame.stage.abstract and isinstance(other, Array) and why is not None:
            self.machine.reach.gives_tracers(name.partition(".")[0], why)
        return other

    @staticmethod
    def several(name: str, result: Array) -> TupleValue | ListValue | None:
        """The results of `jnp.linalg.svd`, `jnp.split` and the like; None for a function that returns one array."""
        if (name not in SEVERAL and name not in _ALIKE) or result.made is None or not result.made.args:
            return None
        shapes = applied(result.made)
        if not isinstance(shapes, list):
            return None
        first = canonical_dtype(dtype_of(result.made.args[0]))
        parts: list[Value] = []
        for place, shape in enumerate(shapes):
            dtype = first
            if name in SEVERAL:
                dtype = real_of(inexact(first)) if place in SEVERAL[name] else inexact(first)
            elif place in _ALIKE[name]:
                dtype = "int32"
            parts.append(replace(result, origin=Origin("part"), made=None, dtype=dtype, form=form_of(shape)))
        return ListValue(parts, result) if name in LISTS_OF_ARRAYS else TupleValue(parts)

    def as_returned(
        self, name: str, result: Array, args: list[Value], kwargs: dict[str, Value], frame: Frame
    ) -> Value:
        """The result of an array function in the container that the function returns, if known."""
        many = isinstance(args[0] if args else None, (TupleValue, ListValue))
        several = name in MANY_IN_MANY_OUT and (many or (".atleast_" in name and len(args) > 1))
        several = several or (name in SEVERAL_BY_MODE and "mode" in kwargs)
        if name in TREES_OF_ARRAYS or several or not SEVERAL_RESULTS.isdisjoint(kwargs):
            result.tree = True
        elif name == "jax.numpy.meshgrid" and not any(isinstance(arg, StarArgument) for arg in args):
            grids = [replace(result, origin=Origin("item")) for _ in args]
            if self.machine.exact:
                for grid, arg in zip(grids, args, strict=True):
                    grid.dtype = canonical_dtype(strong(dtype_of(arg)))
            return ListValue(list(grids), result, stage=frame.stage)
        elif name in LISTS_OF_ARRAYS:
            return ListValue(None, result, stage=frame.stage)
        elif name in TUPLES_OF_ARRAYS or (name == "jax.numpy.where" and len(args) + len(kwargs) == 1):
            return TupleValue(None, result)
        return result

    def collective(self, name: str, value: Value, call: Call) -> Value:
        """`lax.psum(value, axis)` and the like: each leaf becomes an array, and the tree is unchanged."""
        node, frame = call.node, call.frame
        if isinstance(value, (TupleValue, ListValue)):
            items = [self.collective(name, v, call) for v in value.items] if value.items is not None else None
            element = self.collective(name, value.element, call)
            return (
                TupleValue(items, element, value.cls, value.exact)
                if isinstance(value, TupleValue)
                else ListValue(items, element, stage=frame.stage)
            )
        if isinstance(value, DictValue):
            known = {k: self.collective(name, v, call) for k, v in value.items.items()}
            rest = self.collective(name, value.element, call) if value.element is not None else None
            return DictValue(known, rest, frame.stage)
        if isinstance(value, Static) and (value.const is None or name in NUMBER_KEEPING_COLLECTIVES):
            # `psum(1, axis)` is the size of the axis.
            return value if value.const is None else Static(kind=value.kind)
        if not isinstance(value, (Array, NumpyArray, Static)):
            return self.machine.language.opaque_call([value], node, frame)
        result = self.operators.array_result(frame, [value], node, name=_short(name), like=value)
        result.tree = isinstance(value, Array) and value.tree
        result.made = Operation(_short(name), (value, *call.args[1:]), call.kwargs, node, 0, name)
        if not frame.stage.abstract:
            # a value that is equal along the whole axis is concrete under an eager vmap
            result.certain = False
        return result

    def check_shapes(self, name: str, call: Call) -> None:
        """Emits an event for values used as shapes, lengths and counts."""
        args, kwargs, node, frame = call.args, call.kwargs, call.node, call.frame
        wanted = SHAPE_ARGUMENTS.get(name) or STATIC_NUMBERS.get(name)
        if "axis" in kwargs and name not in STATIC_NUMBERS:
            self.conversions.shape_argument(kwargs["axis"], name, "`axis`", node, frame)
        sized = SIZED_BY_DATA.get(name)
        if sized is not None and sized[2] not in kwargs and len(args) < 3:
            value = args[sized[0]] if sized[0] < len(args) else kwargs.get(sized[1])
            if isinstance(value, Array) and value.staged:
                self.machine.emit("shape", events.ShapeEvent(node, frame, value, name, "the data", sized[2]))
        if wanted is not None:
            for position, keyword in zip(*wanted, strict=False):
                if position < len(args):
                    called = "stop" if name == "jax.numpy.arange" and len(args) == 1 else keyword
                    self.conversions.shape_argument(args[position], name, f"`{called}`", node, frame)
            for keyword in wanted[1]:
                if keyword in kwargs:
                    self.conversions.shape_argument(kwargs[keyword], name, f"`{keyword}`", node, frame)
        for option in ("size", sized[2] if sized is not None else ""):
            if option in kwargs and (
                sized is not None or name in DATA_DEPENDENT or name == "jax.numpy.where"
            ):
                self.conversions.shape_argument(kwargs[option], name, f"`{option}`", node, frame)
        if (
            name in DATA_DEPENDENT or (name == "jax.numpy.where" and len(args) == 1 and "x" not in kwargs)
        ) and "size" not in kwargs:
            found = find_array(args[0], True) if args else None
            if found is None and frame.stage.abstract and args and isinstance(args[0], (Array, NumpyArray)):
                found = self.operators.array_result(
                    frame, [], node, name=_short(name)
                )  # constants become tracers too
            if found is not None:
                self.machine.emit("shape", events.ShapeEvent(node, frame, found, name, "the data"))


def _short(name: str) -> str:
    return name.replace("jax.numpy.", "jnp.")


def _strengthened(params: Value, updated: Array) -> Value:
    """What `optax.apply_updates` makes of parameters: arrays of their dtypes, none of which is weakly typed. A tree without weakly
    typed leaves remains as it is."""
    if isinstance(params, Array):
        weak = not params.tree and not params.mixed and params.dtype in _STRONG
        return replace(updated, tree=False, dtype=_STRONG[params.dtype]) if weak else updated
    if isinstance(params, (DictValue, ListValue, TupleValue)):
        found = map_parts(params, lambda part: _strengthened(part, updated))
        parts = found.elements() if isinstance(found, (DictValue, ListValue, TupleValue)) else []
        return found if any(part is not updated for part in parts) else updated
    return updated


_STRONG = {"float*": "float32", "int*": "int32", "complex*": "complex64"}
