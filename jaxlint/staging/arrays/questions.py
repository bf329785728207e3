"""Functions that query known shapes and dtypes: `jnp.issubdtype`, `jnp.result_type`, `jnp.ndim`."""

from __future__ import annotations

from collections.abc import Callable

from jaxlint.jaxapi.dtypes import canonical_dtype, is_float, is_integer, promote, strong
from jaxlint.staging.shapes.exact import measured_in_numbers
from jaxlint.staging.values import (
    Array,
    DType,
    External,
    ExternalObject,
    ListValue,
    NumpyArray,
    Static,
    TupleValue,
    Value,
    constant,
    is_number,
)
from jaxlint.staging.values.dtypes import dtype_named, dtype_of

LIMITS = frozenset({"finfo", "iinfo"})
_KINDS: dict[object, Callable[[str], bool]] = {
    "integer": is_integer,
    "signedinteger": lambda dtype: is_integer(dtype) and not dtype.startswith("uint"),
    "unsignedinteger": lambda dtype: dtype.startswith("uint"),
    "floating": is_float,
    "complexfloating": lambda dtype: dtype.startswith("complex"),
    "inexact": lambda dtype: is_float(dtype) or dtype.startswith("complex"),
    "number": lambda dtype: dtype != "bool",
    "generic": lambda dtype: True,
}


def answered(name: str, args: list[Value]) -> Value | None:
    """The result of a query in `jax.numpy`, `jax.dtypes` or `numpy`; None if unknown."""
    short = name.rpartition(".")[2]
    if not args:
        return None
    if short == "issubdtype" and len(args) == 2:
        return _truth(_is_of_kind(_dtype_in(args[0]), args[1]))
    if short in ("isrealobj", "iscomplexobj"):
        dtype = _dtype_in(args[0])
        return _truth(None if not dtype else dtype.startswith("complex") == (short == "iscomplexobj"))
    if short in ("dtype", "canonicalize_dtype"):
        found = dtype_named(args[0])
        return _dtype(canonical_dtype(found) if short == "canonicalize_dtype" else found)
    if short in ("result_type", "promote_types"):
        return _dtype(strong(promote(*map(_dtype_in, args), wide=name.startswith("numpy."))))
    if short in LIMITS:
        found = _dtype_in(args[0])
        return ExternalObject(f"jax.numpy.{short}", [DType(kind="dtype", name=found)]) if found else None
    if isinstance(args[0], (Array, NumpyArray, Static, TupleValue, ListValue)):
        return measured_in_numbers(args[0], short)
    return None


def _truth(answer: bool | None) -> Static | None:
    return None if answer is None else Static(answer)


def _dtype(name: str) -> DType | None:
    return DType(kind="dtype", name=name) if name else None


def _dtype_in(value: Value) -> str:
    """The dtype that a value is, or has."""
    if isinstance(value, (Array, NumpyArray)) or (isinstance(value, Static) and is_number(value)):
        return dtype_of(value)
    return dtype_named(value)


def _is_of_kind(dtype: str, kind: Value) -> bool | None:
    """Whether a dtype belongs to `jnp.floating`, `np.integer` and the like, or equals the named dtype."""
    if not dtype:
        return None
    name = kind.name.rpartition(".")[2] if isinstance(kind, External) else constant(kind)
    test = _KINDS.get(name)
    if test is not None:
        return test(strong(dtype))
    other = dtype_named(kind)
    return strong(dtype) == other if other else None
