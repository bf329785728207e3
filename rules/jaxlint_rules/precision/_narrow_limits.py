"""The limits of narrow dtypes: integers out of range, products and running sums, numbers that overflow to infinity."""

from __future__ import annotations

import ast
import math

from jaxlint.api.tables import INTEGER_ENDS, strong
from jaxlint.api.values import (
    Array,
    Operation,
    Range,
    Static,
    Value,
    constant,
    dtype_named,
    dtype_of,
    range_of,
    range_of_result,
    shape_of,
)
from jaxlint_rules.numerics._expressions import made

ENDS = {dtype: INTEGER_ENDS[dtype] for dtype in ("int8", "uint8", "int16", "uint16")}
_EXACT = {"bfloat16": 256, "float16": 2048}  # the bound up to which the dtype represents each integer
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}
PRODUCTS = frozenset({"matmul", "dot", "vdot", "inner", "tensordot", "einsum", "dot_general", "batch_matmul"})
RUNNING = frozenset({"cumsum", "cumprod"})
CASTS = frozenset({"astype", "arange", "iota", "broadcasted_iota"})
COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
_SHRINKING = ("right_shift", "floor_divide", "bitwise_and", "mod", "remainder", "astype", "minimum", "clip")
MIXING = frozenset({"add", "subtract", "multiply", "where"})


def wrapping(operation: Operation, dtype: str) -> str:
    """What is wrong with a product or running sum in a narrow integer type; "" if nothing is."""
    if dtype not in ENDS or operation.kwargs.get("preferred_element_type") is not None:
        return ""
    if operation.kwargs.get("dtype") is not None or _stays_small(operation, dtype):
        return ""
    of_lax = operation.full.startswith("jax.lax.")  # `lax.cumsum` and `lax.batch_matmul` take no dtype
    if operation.name in RUNNING:
        longest = max(shape_of(operation.args[0]) or (0,), default=0)
        if not dtype.startswith("u") and longest <= ENDS[dtype][1]:
            return ""  # the operand has both signs, and perhaps a short axis
        use = "cast to int32 first" if of_lax else "pass `dtype=jnp.int32`"
        return f"`{operation.name}` of {dtype} wraps around beyond {ENDS[dtype][1]:,}; {use}"
    if not _adds_up(operation):
        return ""
    use = "pass `preferred_element_type=jnp.int32`"
    if isinstance(operation.node, ast.BinOp):
        use = "use `jnp.matmul(..., preferred_element_type=jnp.int32)`"
    elif operation.name == "batch_matmul":
        use = "cast to int32 first"
    return f"a product of {dtype} arrays accumulates in {dtype} and wraps around; {use}"


def _adds_up(operation: Operation) -> bool:
    """Whether a product sums over an axis: not an `einsum` whose axes are all in the result, as in `is,js->ijs`."""
    node = operation.node
    written = (
        node.args[0] if operation.name == "einsum" and isinstance(node, ast.Call) and node.args else None
    )
    if not isinstance(written, ast.Constant) or not isinstance(written.value, str):
        return True
    given, arrow, result = written.value.partition("->")
    axes = [axis for axis in given if axis.isalpha()]
    return bool(set(axes) - set(result)) if arrow else len(set(axes)) < len(axes)


def wraps_above(operation: Operation, dtype: str) -> bool:
    """Whether a sum of two arrays of pixels or the like exceeds its unsigned type: nothing shows that they are small."""
    if operation.name != "add" or dtype not in ("uint8", "uint16") or len(operation.args) != 2:
        return False
    if not all(
        isinstance(value, Array) and value.certain and value.dtype == dtype for value in operation.args
    ):
        return False
    parts = [range_of(value) or _of_truth(value) for value in operation.args]
    most = [ENDS[dtype][1] if part is None else part.high for part in parts]
    halved = any(made(value, *_SHRINKING) is not None for value in operation.args)
    return sum(most) > ENDS[dtype][1] and not halved


def _stays_small(operation: Operation, dtype: str) -> bool:
    """Whether the numbers are known, and too few to reach the limit of the type."""
    parts = [range_of(value) or _of_truth(value) for value in operation.args[:2] if isinstance(value, Array)]
    if operation.name == "cumprod" or not parts or any(part is None for part in parts):
        return False
    shapes = [shape for value in operation.args if (shape := shape_of(value)) is not None]
    if not shapes or not shapes[0]:
        return False
    largest = math.prod(abs(part.farthest) for part in parts if part is not None)
    return largest * max(shapes[0]) <= ENDS[dtype][1]


def _of_truth(value: Value) -> Range | None:
    """A cast mask."""
    cast = made(value, "astype")
    return Range(0, 1, None) if cast is not None and dtype_of(cast.args[0]) == "bool" else None


def cast(operation: Operation, dtype: str) -> str:
    """What is wrong with integers that a cast, or a counting function, puts into a narrow type; "" if nothing is."""
    if operation.name == "astype":
        found = range_of(operation.args[0]) if operation.args else None
    else:
        found = (
            range_of_result(operation)
            if dtype_named(operation.kwargs.get("dtype")) or operation.args[3:]
            else None
        )
    if found is None:
        return ""
    if dtype in ENDS:
        low, high = ENDS[dtype]
        if found.low >= low and found.high <= high:
            return ""
        reached = found.high if found.high > high else found.low
        return f"integers that reach {reached:,} wrap around in {dtype}, which holds {low:,} to {high:,}; use a wider dtype"
    exact = _EXACT.get(dtype, 0)
    evenly = found.step & -found.step  # the power of two that divides all of them
    if not exact or not found.direction or abs(found.farthest) <= exact * max(evenly, 1):
        return ""
    return f"{dtype} is exact for integers up to {exact:,}, and these reach {found.farthest:,}; keep them int32 or float32"


def unfit(operation: Operation, dtype: str) -> tuple[str, str]:
    """A number that a narrow type cannot represent, as written and as stored; two empty texts if all fit."""
    given = operation.args[1:] if operation.name == "where" else operation.args
    if operation.name in COMPARISONS:
        dtype = next((d for value in given if (d := dtype_of(value)) in ENDS), "")
    for value in given:
        number = constant(value) if isinstance(value, Static) else None
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            continue
        if isinstance(number, int) and dtype in ENDS:
            low, high = ENDS[dtype]
            if not low <= number <= high:
                return str(number), str((number - low) % (high - low + 1) + low)
        largest = LARGEST.get(strong(dtype))
        if largest is not None and largest < abs(number) < math.inf:
            return f"{number:g}", "inf" if number > 0 else "-inf"
    return "", ""
