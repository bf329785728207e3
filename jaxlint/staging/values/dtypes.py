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
    """The dtype that NumPy computes for two operands if one is weak or both agree; "" otherwise."""
    weak = one.endswith("*") or two.endswith("*") or one == two
    return promote(one, two, wide=True) if weak else ""
