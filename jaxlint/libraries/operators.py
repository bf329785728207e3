"""The module `operator`: Python's operators as functions, which maps over trees receive. In an exact analysis only."""

from __future__ import annotations

import ast

from jaxlint.staging.evaluator.external_models import LibraryCall, calls
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.values import Array, NumpyArray, Static, Value
from jaxlint.staging.values.dtypes import OPERATORS

_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "truediv": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "pow": ast.Pow,
    "matmul": ast.MatMult,
    "and_": ast.BitAnd,
    "or_": ast.BitOr,
    "xor": ast.BitXor,
    "lshift": ast.LShift,
    "rshift": ast.RShift,
}
_UNARY: dict[str, type[ast.AST]] = {"neg": ast.USub, "pos": ast.UAdd, "invert": ast.Invert, "inv": ast.Invert}
_COMPARING: dict[str, type[ast.AST]] = {
    "eq": ast.Eq,
    "ne": ast.NotEq,
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
}
_OPERANDS = (Array, NumpyArray, Static)


@calls(*(f"operator.{name}" for name in _BINARY))
def binary(call: LibraryCall) -> Value:
    if not call.machine.exact or len(call.args) != 2:
        return call.otherwise()
    kind = _BINARY[call.name.rpartition(".")[2]]
    return call.machine.part(Operators).binary(call.args[0], call.args[1], kind(), call.node, call.frame)


@calls(*(f"operator.{name}" for name in (*_UNARY, *_COMPARING)))
def elementwise(call: LibraryCall) -> Value:
    operands = call.args
    if not call.machine.exact or not any(isinstance(one, Array) and not one.tree for one in operands):
        return call.otherwise()
    if not all(isinstance(one, _OPERANDS) for one in operands):
        return call.otherwise()
    name = call.name.rpartition(".")[2]
    result = call.array(operands)
    call.machine.tracking.made_by(result, OPERATORS[_UNARY.get(name) or _COMPARING[name]], call)
    return result
