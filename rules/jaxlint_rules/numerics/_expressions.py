"""Expressions in rules on numerics: equality, structure, constants."""

from __future__ import annotations

import ast

from jaxlint.api import Frame, Module
from jaxlint.api.values import (
    MISSING,
    Array,
    NumpyArray,
    Operation,
    Static,
    Value,
    constant,
    same,
    shape_of,
)
from jaxlint_rules._names import last_name

VIEWS = frozenset(
    {"getitem", "reshape", "expand_dims", "squeeze", "transpose", "broadcast_to", "astype", "swapaxes"}
)
DEEP = 8


def made(value: Value | None, *names: str) -> Operation | None:
    """The operation behind a value, if it is one of `names` (any, if none are given)."""
    operation = value.made if isinstance(value, Array) else None
    if operation is None or not operation.args or (names and operation.name not in names):
        return None
    return operation


def without_views(value: Value | None) -> Value | None:
    """The value under operations that only rearrange or cast its elements."""
    for _ in range(DEEP):
        operation = made(value, *VIEWS)
        if operation is None:
            return value
        value = operation.args[0]
    return value


def rows_of(matrix: Value, depth: int = DEEP) -> int | None:
    """The rows of a square matrix, or of each of a batch, where they are known: also from one operand of a sum with it, such
    as `noise * jnp.eye(200)`."""
    shape = shape_of(matrix)
    if shape:
        return shape[-1] if isinstance(shape[-1], int) else None
    operation = made(matrix, "add", "subtract", "multiply", "divide", "true_divide")
    if operation is None or depth == 0:
        return None
    # The last axis of a broadcast has the size of each operand's, except for those of one.
    rows = (rows_of(one, depth - 1) for one in operation.args)
    return next((size for size in rows if size is not None and size > 1), None)


def number(value: Value | None) -> float | None:
    """The known number of a value."""
    const = constant(value) if value is not None else MISSING
    if isinstance(const, bool) or not isinstance(const, (int, float)):
        return None
    return float(const)


def euclidean_vector(operation: Operation) -> Value | None:
    """The vector of a Euclidean norm: `norm(v)`, `sqrt(sum(v**2))` and `sqrt(v @ v)`."""
    if not operation.args:
        return None
    if operation.name == "norm":
        order = operation.operand(1, "ord")
        return operation.args[0] if order is None or constant(order) in (None, 2) else None
    if operation.name != "sqrt":
        return None
    inside = without_views(operation.args[0])
    product = made(inside, "matmul", "dot", "vdot", "inner")
    if product is not None:
        one, other = product.args[0], product.args[-1]
        return one if len(product.args) > 1 and same(one, other) else None
    total = made(inside, "sum")
    squares = made(total.args[0], "power", "square", "multiply") if total is not None else None
    if squares is None:
        return None
    if squares.name == "power" and constant(squares.args[1]) not in (2, 2.0):
        return None
    if squares.name == "multiply" and not same(squares.args[0], squares.args[1]):
        return None
    return squares.args[0]


def is_number(value: Value) -> bool:
    """Some number on the host."""
    return isinstance(value, (Static, NumpyArray))


def is_held_constant(node: ast.AST, module: Module) -> bool:
    """Whether no gradient goes through an expression, since `stop_gradient` is around it."""
    for above in module.ancestors(node):
        if isinstance(above, ast.Call) and last_name(above.func) == "stop_gradient":
            return True
        if isinstance(above, (ast.stmt, ast.Lambda)):
            return False
    return False


def has_own_gradient(frame: Frame) -> bool:
    """Whether the function has its own derivative rules."""
    node = frame.function.node if frame.function is not None else None
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return any("custom_" in ast.unparse(decorator) for decorator in decorators)
