"""The dtypes of values, and the operators as array functions."""

from __future__ import annotations

import ast

from jaxlint.jaxapi.dtypes import named_dtype, of_python, promote
from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.objects import AtIndexer, External
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import MISSING, DType, Static, Value

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "mod",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "invert",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}


def dtype_of(value: Value) -> str:
    """The dtype with which a value enters an operation: weak for Python numbers, "" if unknown."""
    if isinstance(value, (Array, NumpyArray)):
        return value.dtype
    if type(value) is AtIndexer:
        return value.array.dtype
    if isinstance(value, Static):
        if value.const is not MISSING:
            return of_python(value.const)
        return {"int": "int*", "float": "float*", "bool": "bool"}.get(value.kind, "")
    return ""


def dtype_named(value: Value | None) -> str:
    """The dtype that an argument such as `dtype=jnp.float64` names; "" if unknown."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, External):
        return named_dtype(value.name)
    const = constant(value)
    return named_dtype(const) if isinstance(const, str) else ""


def numpy_result(one: str, two: str) -> str:
    """The dtype that NumPy computes for two operands, of which one is an array; "" if unknown."""
    both = {one, two}
    low = both & _NOT_NUMPYS
    if low and len(both) == 2:  # to NumPy they are no floats, so a Python float is not weak beside them
        other = next(iter(both - low), "")
        return {"float*": "float32", "int*": next(iter(low)), "bool": next(iter(low))}.get(other, "")
    if one == two or one.endswith("*") or two.endswith("*") or both <= _NUMPY_KINDS:
        if both & _LARGE_INTEGERS and both & _NUMPY_FLOATS:
            return "float64"  # the other lattice keeps the dtype of the floats
        found = promote(one, two, wide=True)
        return {"int*": "int64", "float*": "float64", "complex*": "complex128"}.get(found, found)
    return ""


_NOT_NUMPYS = frozenset({"bfloat16"})  # dtypes that a library adds to NumPy
_NUMPY_FLOATS = frozenset({"float16", "float32", "float64"})
_LARGE_INTEGERS = frozenset({"int32", "int64"})
_NUMPY_KINDS = frozenset({"bool", "int8"}) | _NUMPY_FLOATS | _LARGE_INTEGERS
