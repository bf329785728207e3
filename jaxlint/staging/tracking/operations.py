"""The operation behind each array, under one set of names, and the dtype of its result."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from jaxlint.jaxapi.dtypes import (
    FLAX_MAKERS,
    KINDS,
    LAX_KINDS,
    MAKERS,
    RANDOM_MAKERS,
    STRONG_RESULTS,
    canonical_dtype,
    inexact,
    is_float,
    is_integer,
    named_dtype,
    promote,
    strong,
)
from jaxlint.jaxapi.functions import IN_PLACE_FUNCTIONS
from jaxlint.staging import events
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.listeners import hand
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import form_of
from jaxlint.staging.shapes.known import lacks_rows
from jaxlint.staging.shapes.ranks import rank_of
from jaxlint.staging.tracking.gradients import stops_gradient
from jaxlint.staging.tracking.timing import Timing
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    External,
    ListValue,
    Operation,
    Static,
    TupleValue,
    Value,
    is_none,
    is_text,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.dtypes import dtype_named, dtype_of, numpy_result
from jaxlint.staging.values.sizes import symbol

MAX_DEPTH = 24  # the chain of operations that an array remembers
MANY = 8 * MAX_DEPTH  # for `inspect`, which shows arrays after the evaluation

_COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
_PREFIXES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.special.")
# jax.lax has different names for some of the same functions.
_LAX = {
    "jax.lax.sub": "subtract",
    "jax.lax.mul": "multiply",
    "jax.lax.div": "divide",
    "jax.lax.pow": "power",
    "jax.lax.integer_pow": "power",
    "jax.lax.max": "maximum",
    "jax.lax.min": "minimum",
    "jax.lax.neg": "negative",
    "jax.lax.select": "where",
    "jax.lax.convert_element_type": "astype",
    "jax.lax.reduce_sum": "sum",
    "jax.lax.reduce_max": "max",
    "jax.numpy.true_divide": "divide",
    "jax.numpy.pow": "power",
    "jax.numpy.abs": "absolute",
    "jax.numpy.amax": "max",
    "jax.numpy.amin": "min",
    "jax.numpy.linalg.norm": "norm",
    "jax.nn.identity": "copy",
    "optax.global_norm": "global_norm",
    "optax.safe_norm": "safe_norm",
}


@functools.cache
def short_name(name: str) -> str:
    """The short name of an operation, from its canonical name."""
    found = _LAX.get(name)
    if found is not None:
        return found
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def is_inexact(value: Value, depth: int = 6) -> bool:
    """Whether `value` certainly has a floating or complex dtype, even if the exact dtype is unknown: `t * 0.5`, `jnp.cos(t)`."""
    dtype = dtype_of(value)
    if dtype:
        return is_float(dtype) or dtype.startswith("complex")
    if not isinstance(value, Array) or value.made is None or depth == 0:
        return False
    made = value.made
    kind = KINDS.get(made.name)
    if made.kwargs.get("dtype") is not None:
        return False
    if kind in ("inexact", "inexact promote"):
        return True
    if kind == "promote":
        return any(is_inexact(arg, depth - 1) for arg in made.args[:2])
    taken = kind == "same" or made.name == "getitem"
    return taken and bool(made.args) and is_inexact(made.args[0], depth - 1)


def _sequence_dtype(value: Value) -> str:
    """The dtype of an array created from a list of numbers or arrays: Python numbers in it are not weak."""
    if isinstance(value, (ListValue, TupleValue)):
        items = value.elements()
        return strong(promote(*(_sequence_dtype(item) for item in items))) if items else "float32"
    return dtype_of(value)


def result_dtype(name: str, args: tuple[Value, ...], kwargs: dict[str, Value], full: str = "") -> str:
    """The dtype of the operation `name` on these operands; "" if unknown. `full`: the full name, as in `Operation`."""
    if _has_own_dtype(name):
        if name in MAKERS or name.startswith("jax.random."):
            maker = MAKERS.get(name) or RANDOM_MAKERS.get(name.removeprefix("jax.random."))
            return "" if maker is None else _made(maker, args, kwargs)
        return canonical_dtype(named_dtype(name))  # `jnp.float32(2)`
    if name in FLAX_MAKERS:
        return _made(FLAX_MAKERS[name], args, kwargs)
    if kwargs:
        wanted = kwargs.get("dtype") or kwargs.get("preferred_element_type")
        if wanted is not None and not is_none(wanted):
            return canonical_dtype(dtype_named(wanted))
    if name in _ALONE or name.startswith("jax.scipy.stats."):
        found = _dtype_alone(name, args, kwargs, full)
        if found is not None:
            return found
    kind = LAX_KINDS.get(full) or KINDS.get(name)
    return "" if kind is None or not args else _dtype_of_kind(kind, name, args, kwargs, full)


# Operands of functions, by the names under which programs pass them.
_OPERANDS = frozenset(
    """a ar arr array arrays ary lhs lhs_operand logits m operand query rhs tensors tup x x1 x2 xs y""".split()  # noqa: SIM905
)


@functools.cache
def _has_own_dtype(name: str) -> bool:
    """Whether the function creates an array or converts to a dtype: its operands do not decide the dtype."""
    if name in MAKERS or name.startswith("jax.random."):
        return True
    return bool(named_dtype(name)) and name not in ("float", "int", "complex")


# Operations with special rules for the dtype of their result.
_ALONE = _COMPARISONS | frozenset(
    [
        "astype",
        "view",
        "bitcast_convert_type",
        "invert",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "getitem",
        "positive",
        "at",
        "where",
        "einsum",
        "iota",
        "broadcasted_iota",
        "block",
        "select",
    ]
)


def _dtype_alone(name: str, args: tuple[Value, ...], kwargs: dict[str, Value], full: str) -> str | None:
    """The dtype of an operation in `_ALONE`; None if the general rule applies to this call."""
    if name in _COMPARISONS:
        return "bool"
    if name in ("getitem", "positive", "at", "invert"):
        return dtype_of(args[0]) if args else ""
    if name in ("astype", "view", "bitcast_convert_type"):
        asked = args[1] if len(args) > 1 else kwargs.get("new_dtype")
        return canonical_dtype(dtype_named(asked)) if name == "astype" else ""
    if name in ("bitwise_and", "bitwise_or", "bitwise_xor") and len(args) == 2:
        return promote(dtype_of(args[0]), dtype_of(args[1]))
    if name == "where" and len(args) == 3:
        return promote(dtype_of(args[1]), dtype_of(args[2]))
    if name == "einsum":
        return promote(*map(dtype_of, args[1:]))
    if name in ("iota", "broadcasted_iota"):
        return canonical_dtype(dtype_named(args[0])) if args else ""
    if name == "block" and args:
        return promote(*map(dtype_of, _nested(args[0])))
    if full == "jax.numpy.select" and len(args) > 1:
        default = args[2] if len(args) > 2 else kwargs.get("default") or Static(0)
        return promote(*map(dtype_of, (*_nested(args[1]), default)))
    if name.startswith("jax.scipy.stats."):
        common = promote(*map(dtype_of, (*args, *kwargs.values())))
        return "" if common == "bool" else inexact(common)
    return None


def _dtype_of_kind(kind: str, name: str, args: tuple[Value, ...], kwargs: dict[str, Value], full: str) -> str:
    """The dtype of an operation of this kind (`KINDS`)."""
    if kind == "promote":
        return promote(*map(dtype_of, args[:2]))
    if kind == "inexact promote":
        result = inexact(promote(*map(dtype_of, args[:2])))
        return strong(result) if name == "hypot" else result
    first = canonical_dtype(dtype_of(args[0]))
    if name in STRONG_RESULTS and not full.startswith("jax.lax."):
        first = strong(first)
    if kind == "floats":
        return first if is_float(first) else ""
    if kind == "same":
        if name in ("maximum", "clip") or isinstance(args[0], (ListValue, TupleValue)):
            return promote(*(dtype_of(arg) for arg in args if not is_none(arg)))
        return first
    if kind == "inexact":
        return inexact(first)
    if kind == "elements":
        parts = args[0].elements() if isinstance(args[0], (ListValue, TupleValue)) else [args[0]]
        return promote(*map(dtype_of, parts))
    if kind == "sum":
        return _sum_of(first)
    if kind == "tally":  # weighted counts have the dtype of their weights
        return "" if len(args) > 1 or "weights" in kwargs else "int32"
    if kind == "running sum":
        return "int32" if first == "bool" else first
    if kind in _OF_THE_FIRST:
        return _OF_THE_FIRST[kind](first)
    if kind in _BY_PROMOTION:
        return _BY_PROMOTION[kind](promote(*map(dtype_of, _operands(args))))
    return _FIXED_KINDS.get(kind, kind)


def _nested(value: Value) -> list[Value]:
    """The items of nested lists."""
    if not isinstance(value, (TupleValue, ListValue)):
        return [value]
    return [part for item in value.elements() for part in _nested(item)]


def _operands(args: tuple[Value, ...]) -> list[Value]:
    """The positional operands of an operation that are arrays or numbers."""
    return [
        arg for arg in args if not (isinstance(arg, (TupleValue, ListValue)) or is_none(arg) or is_text(arg))
    ]


def _sum_of(dtype: str) -> str:
    """The dtype of a sum: small integers are summed in 32 bits."""
    if dtype.startswith("uint"):
        return "uint32"
    return "int32" if dtype == "bool" or is_integer(dtype) else dtype


def _complex_of(dtype: str) -> str:
    return dtype if dtype.startswith("complex") else "complex64" if dtype else ""


def real_of(dtype: str) -> str:
    """The dtype of a number's absolute value."""
    return "float32" if dtype.startswith("complex") else dtype


_FIXED_KINDS = {"bool": "bool", "index": "int32"}
# The common dtype of all operands.
_BY_PROMOTION: dict[str, Callable[[str], str]] = {
    "promote all": lambda dtype: dtype,
    "count": lambda dtype: "int32" if dtype == "bool" else dtype,
    "inexact all": inexact,
    "strong inexact": lambda dtype: strong(inexact(dtype)),
    "complex": lambda dtype: _complex_of(inexact(dtype)),
}
# The dtype of the first operand.
_OF_THE_FIRST: dict[str, Callable[[str], str]] = {
    "inexact measure": lambda dtype: real_of(inexact(dtype)),
    "measure": real_of,
}


def _made(maker: tuple[int, str], args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    position, default = maker
    asked = kwargs.get("dtype", args[position] if position < len(args) else None)
    if asked is not None and not is_none(asked):
        return canonical_dtype(dtype_named(asked))
    if default == "second":
        return canonical_dtype(strong(_sequence_dtype(args[1]))) if len(args) > 1 else ""
    if default == "value":
        return canonical_dtype(_sequence_dtype(args[0])) if args else ""
    if default == "fill":
        filler = args[1] if len(args) > 1 else kwargs.get("fill_value", UNKNOWN)
        return canonical_dtype(dtype_of(filler))
    if default == "numbers":
        numbers = _bounds_of(args, kwargs)
        if any(number in ("float*", "float32") for number in numbers):
            return "float32"
        return "int32" if numbers and all(number in ("int*", "int32") for number in numbers) else ""
    return default


def _bounds_of(args: Sequence[Value], kwargs: dict[str, Value]) -> list[str]:
    """The dtypes of `start`, `stop` and `step` of `arange`, by position or by name."""
    named = [kwargs[name] for name in ("start", "stop", "step") if name in kwargs]
    return [dtype_of(arg) for arg in [*args[:3], *named]]


_NUMPY_FLOATS = frozenset(
    f"numpy.{name}"
    for name in ("sqrt", "exp", "log", "sin", "cos", "tanh", "log2", "log10", "log1p", "expm1")
)


def numpy_dtype(name: str, args: list[Value], kwargs: dict[str, Value]) -> str:
    """The dtype of a NumPy result: `np.float32(2)`, `np.zeros(3)`, `np.sqrt(2)`; "" if unknown."""
    last = name.rpartition(".")[2]
    scalar = named_dtype(last)
    if scalar and name.count(".") == 1:
        return scalar
    if last in MAKERS and name.count(".") == 1:
        position, default = MAKERS[last]
        asked = kwargs.get("dtype", args[position] if position < len(args) else None)
        if asked is not None and not is_none(asked):
            return _numpy_default(dtype_named(asked), asked)
        if default == "value":
            return _numpy_value(args[0]) if args else ""
        if default == "fill":
            return _numpy_value(args[1] if len(args) > 1 else kwargs.get("fill_value", UNKNOWN))
        if default == "numbers":
            numbers = _bounds_of(args, kwargs)
            if not numbers or not all(numbers):
                return ""
            return "int64" if all(map(is_integer, numbers)) else "float64"
        return "float64"
    if name in _NUMPY_FLOATS and args and "dtype" not in kwargs:
        inner = _numpy_value(args[0])
        return "float64" if is_integer(inner) else inner
    return ""


def numpy_kind(name: str, args: Sequence[Value], kwargs: dict[str, Value]) -> str:
    """The dtype of a NumPy function on arrays of one dtype; "" if unknown. `name`: "sum", "random.normal"."""
    wanted = kwargs.get("dtype")
    if name == "astype":
        wanted = args[1] if len(args) > 1 else wanted
    if wanted is not None and not is_none(wanted):
        return _numpy_default(dtype_named(wanted), wanted)
    if name.startswith("random."):
        return _dtype_drawn(name.removeprefix("random."), args)
    kind = "same" if name in ("getitem", "copy", "T") else KINDS.get(name, "")
    operands = [arg for value in args for arg in (value.elements() if _is_sequence(value) else [value])]  # type: ignore[attr-defined]
    first = _numpy_value(operands[0]) if operands else ""
    if kind == "bool" or not first:
        return "bool" if kind == "bool" else ""
    if kind == "index":
        return "int64"
    if kind in ("promote", "inexact promote", "elements", "count"):
        first = numpy_result(*map(dtype_of, args)) if len(args) == 2 and kind != "elements" else first
        alike = kind != "elements" or all(_numpy_value(part) == first for part in operands)
        first = _numpy_strong(first) if alike else ""
    elif kind == "sum" and (is_integer(first) or first == "bool"):
        return "uint64" if first.startswith("uint") else "int64"
    elif kind not in ("same", "inexact", "sum", "running sum", "inexact measure", "measure"):
        return ""
    whole = is_integer(first) or first == "bool"
    return (
        ("float64" if first in ("int64", "int32") else "") if kind.startswith("inexact") and whole else first
    )


def _is_sequence(value: Value) -> bool:
    return isinstance(value, (ListValue, TupleValue))


_NUMPY_DRAWS = {
    **dict.fromkeys(
        (
            "normal",
            "uniform",
            "rand",
            "randn",
            "random",
            "random_sample",
            "standard_normal",
            "exponential",
            "beta",
            "gamma",
        ),
        "float64",
    ),
    **dict.fromkeys(("randint", "integers", "poisson", "binomial"), "int64"),
}


def _dtype_drawn(name: str, args: Sequence[Value]) -> str:
    if name in ("permutation", "permuted", "choice"):  # of an array, or of the numbers up to one
        return _numpy_value(args[0]) if args else ""
    return _NUMPY_DRAWS.get(name, "")


def _numpy_default(dtype: str, asked: Value) -> str:
    """`dtype=float` means 64 bits to NumPy."""
    if isinstance(asked, External) and asked.name.startswith("builtins."):
        return {"float32": "float64", "int32": "int64"}.get(dtype, dtype)
    return dtype


def _numpy_value(value: Value) -> str:
    if isinstance(value, (ListValue, TupleValue)):
        kinds = {_numpy_value(item) for item in value.elements()}
        return kinds.pop() if len(kinds) == 1 else "float64" if kinds == {"float64", "int64"} else ""
    return _numpy_strong(dtype_of(value))


def _numpy_strong(dtype: str) -> str:
    """The NumPy dtype of a Python number."""
    return {"float*": "float64", "int*": "int64"}.get(dtype, dtype)


_SAVERS = frozenset({"numpy.savez", "numpy.savez_compressed"})  # their keywords name arrays


def changed_in_place(name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The argument that a NumPy or Python function writes its result into."""
    if name in IN_PLACE_FUNCTIONS:
        return args[0] if args else None
    if name in _SAVERS or not name.startswith("numpy."):
        return None
    return kwargs.get("out")


class Operations(Part):
    """Records the operations that created arrays."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.timing = machine.part(Timing)

    def made_by(self, result: Array, name: str, call: Call) -> None:
        """Records in `result` the operation `name` (canonical, or an operator) and its operands, and emits an event."""
        node, frame = call.node, call.frame
        full = name if "." in name else f"jax.numpy.{name}"
        name = short_name(name)
        depth = 0
        for value in call.args:
            parts = value.elements() if isinstance(value, (TupleValue, ListValue)) else (value,)
            for part in parts:
                if type(part) is Array and part.made is not None and part.made.depth >= depth:
                    depth = part.made.depth + 1
        operation = Operation(name, tuple(call.args), call.kwargs, node, depth, full)
        operands = operation.args
        if self.machine.exact and not operands:
            operands = tuple(value for option, value in call.kwargs.items() if option in _OPERANDS)
        result.dtype = result_dtype(name, operands, call.kwargs, full)
        result.rowless = lacks_rows(operation)
        if result.flow is not None and stops_gradient(name, result.dtype):
            result.flow = None
        result.made = operation
        if self.machine.exact and not result.tree and symbolic_shape(result) is None:
            rank = rank_of(operation)
            if rank is not None:
                result.form = form_of(tuple(symbol("?") for _ in range(rank)))
                result.made = replace(operation, args=(), name=f"{name} of unknown sizes")
        if self.machine.wants_operations and self.machine.reports(frame):
            hearers = self.machine.listeners.of("operation", name)
            if hearers:
                hand(hearers, events.OperationEvent(node, frame, operation, result))
        self.timing.dispatch_operation(name, result, node, frame)
        if depth > (MAX_DEPTH if self.machine.arrays_seen is None else MANY):
            symbolic_shape(result)  # while its operands are available
            result.made = Operation(name, (), {}, node)
