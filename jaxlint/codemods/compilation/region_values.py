"""What the variables of a region hold: arrays, objects that a function closes over, NumPy's results."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMPY,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Method,
    Unknown,
    Value,
    Whole,
    Wrapped,
    leaves_of,
)

# Neither arrays nor containers of them: a jitted function closes over them.
_OBJECTS = (Fn, Cls, Ext, Whole, Wrapped, Method)
_OPTIMISERS = ("optax.", "jax.example_libraries.optimizers.")


def is_object(value: Value) -> bool:
    """Whether a value neither is nor holds an array: a function, a module of layers, an optimiser."""
    if isinstance(value, Made):
        return value.name.startswith(_OPTIMISERS) and not value.name.endswith("State")
    return isinstance(value, _OBJECTS)


def only_unknown(values: frozenset[Value]) -> bool:
    return not values or all(isinstance(value, (Unknown, Inst, Made)) for value in values)


def is_of_numpy(node: ast.expr, possible: PossibleValues, file: File) -> bool:
    """Whether an expression only computes with NumPy arrays, which a jitted function would compute on the device."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)) or not isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        return False
    values = leaves_of(possible.of(file.same(node), file))
    return NUMPY in values and ARRAY not in values
