"""Running sums in 16 bits."""

from __future__ import annotations

import ast
import math

from jaxlint.api import CallEvent, CarryEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import (
    Array,
    AtIndexer,
    ExternalMethod,
    ListValue,
    TupleValue,
    Value,
    bounds_of,
    constant,
    dtype_named,
    dtype_of,
    least_size,
    shape_of,
)
from jaxlint.finding import Severity
from jaxlint_rules._loops import host_loops
from jaxlint_rules._names import names_in

_LOW = ("bfloat16", "float16")
_ZEROS = ("zeros", "zeros_like")
_SUMS = frozenset({"sum", "cumsum", "nansum"})
_MANY_TERMS = 1 << 14  # terms that average 4 are too many for float16
_SEGMENTS = ("jax.ops.segment_sum",)


class LowPrecisionAccumulation(Rule):
    """A running sum accumulates in bfloat16 or float16.

    ## What it does
    Finds 16-bit sums: totals that a host loop adds to, carries of `lax.scan`, `fori_loop` and
    `while_loop` that start from zeros and are added to, `.at[...].add` and `segment_sum` on a
    16-bit array, and sums with `dtype=float16`. Also finds float16 sums of many squares, and norms,
    where the number of terms is known.

    ## Why is this bad?
    bfloat16 has 8 bits of precision: from 256 on, adding 1 changes nothing. Summing 70,000 numbers
    this way gives 1% of the sum (measured). float16 also overflows to infinity beyond 65504.
    `jnp.sum` and `jnp.mean` are safe, because JAX accumulates them in float32. A sum with
    `dtype=float16` is infinite beyond 65504.

    ## Example
    ```python
    total = jnp.zeros((), jnp.bfloat16)
    total, _ = jax.lax.scan(lambda t, x: (t + x, None), total, xs)
    ```

    ## Use instead
    ```python
    total = jnp.zeros((), jnp.float32)
    total, _ = jax.lax.scan(lambda t, x: (t + x.astype(jnp.float32), None), total, xs)
    ```

    ## Fix safety
    There is no automatic fix: the dtype of the result changes.

    ## When not to fix
    Keep it if you add only a few numbers of similar size.

    ## References
    - [JAX: precision of sums](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.sum.html)
    """

    code = "JAX1003"
    name = "low-precision-accumulation"
    category = "precision"
    severity = Severity.WARNING

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        result = event.result
        if event.api.endswith("scan"):
            result = result.items[0] if isinstance(result, TupleValue) and result.items else result
        for start, carry, end in _leaves(event.init, event.carry, result):
            if _is_zero(start) and _adds_to(end, carry):
                self.tell(event, dtype_of(start), f"the carry of `{event.api}`", report)
                return

    @concerns("add", "norm", *_SUMS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        count = _terms(event)
        if count >= _MANY_TERMS and event.frame.module.reported and not report.module.is_test:
            average = 65504 / count
            report(
                event.node,
                f"this float16 sum of {count:,} terms is inf once they average {average:.2g}; use `mean`, or float32",
                reason="float16 ends at 65504: `sum` accumulates in float32, and its result is float16 again",
            )
            return
        if event.operation.name == "norm":
            return
        if event.operation.name == "add":
            total = _running(event)
            if total:
                self.tell(event, event.result.dtype, f"`{total}`", report)
            return
        if event.operation.name in _SUMS and event.frame.module.reported:
            asked = event.operation.kwargs.get("dtype")
            if asked is not None and dtype_named(asked) == "float16":
                self.tell(event, "float16", f"`{event.operation.name}`", report)

    @concerns(*_SEGMENTS, callees=("ExternalMethod",), methods=("add",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name in _SEGMENTS and event.args:
            dtype = dtype_of(event.args[0])
            if dtype in _LOW:
                self.tell(event, dtype, "`segment_sum`", report)
        elif isinstance(event.callee, ExternalMethod) and event.callee.name == "add":
            base = event.callee.receiver
            if isinstance(base, AtIndexer) and _is_zero(base.array):
                self.tell(event, base.array.dtype, "`.at[...].add`", report)

    def tell(
        self, event: CallEvent | CarryEvent | OperationEvent, dtype: str, what: str, report: Reporter
    ) -> None:
        if not report.module.is_test:
            report(
                event.node,
                f"{what} accumulates in {dtype}, which drops small terms; accumulate in float32",
                reason=f"{dtype} has {8 if dtype == 'bfloat16' else 11} bits of precision; cast the result, not the terms",
            )


def _terms(event: OperationEvent) -> int:
    """How many numbers above zero a float16 sum adds up, at least: those of a sum of squares, or of a norm."""
    operation = event.operation
    if event.result.dtype != "float16" or not operation.args or "dtype" in operation.kwargs:
        return 0
    terms = operation.args[0]
    if operation.name == "norm":
        if not {"ord", "axis"}.isdisjoint(operation.kwargs) or len(operation.args) > 1:
            return 0
    elif operation.name != "sum" or bounds_of(terms).low < 0:
        return 0
    given = operation.operand(1, "axis")
    axis = None if given is None else constant(given)
    if axis is None:
        return least_size(terms)
    shape = shape_of(terms)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if shape is None or not all(type(one) is int and -len(shape) <= one < len(shape) for one in axes):
        return 0
    return math.prod(shape[one] for one in axes)


def _running(event: OperationEvent) -> str:
    """The name of a 16-bit total that starts at zero and that a host loop adds to."""
    frame, operation = event.frame, event.operation
    if frame.stage.staged or event.result.dtype not in _LOW or not host_loops(frame):
        return ""
    loop = frame.loops[-1].node
    parent = frame.module.parents.get(operation.node)
    if isinstance(operation.node, ast.AugAssign):
        name = dotted(operation.node.target)
    else:
        name = dotted(parent.targets[0]) if isinstance(parent, ast.Assign) else ""
        if name not in names_in(operation.node):
            return ""
    start = operation.args[0]
    made = start.made if isinstance(start, Array) and _is_zero(start) else None
    if not name or made is None or any(made.node is part for part in ast.walk(loop)):
        return ""
    return name


def _leaves(*values: Value, depth: int = 3) -> list[tuple[Value, ...]]:
    """Corresponding leaves of tuples of the same structure."""
    parts = [v.items if isinstance(v, (TupleValue, ListValue)) else None for v in values]
    if depth and all(part is not None for part in parts):
        lengths = {len(part or ()) for part in parts}
        if len(lengths) == 1:
            rows = zip(*(part or () for part in parts), strict=True)
            return [leaf for row in rows for leaf in _leaves(*row, depth=depth - 1)]
    return [values]


def _is_zero(value: Value) -> bool:
    made = value.made if isinstance(value, Array) else None
    return made is not None and made.name in _ZEROS and isinstance(value, Array) and value.dtype in _LOW


def _adds_to(end: Value, carry: Value) -> bool:
    made = end.made if isinstance(end, Array) else None
    if made is None or made.name != "add" or not isinstance(carry, Array) or carry.origin is None:
        return False
    return any(isinstance(part, Array) and part.origin is carry.origin for part in made.args)
