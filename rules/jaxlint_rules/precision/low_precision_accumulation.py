"""Running sums in 16 bits."""

from __future__ import annotations

import ast
import math

from jaxlint.api import CallEvent, CarryEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import (
    Array,
    AtIndexer,
    DictValue,
    ExternalMethod,
    ListValue,
    Operation,
    Static,
    TupleValue,
    Value,
    bounds_of,
    constant,
    dtype_named,
    dtype_of,
    least_size,
    same,
    shape_of,
)
from jaxlint.finding import Severity
from jaxlint_rules._loops import host_loops
from jaxlint_rules._names import names_in

_LOW = ("bfloat16", "float16")
_ZEROS = ("zeros", "zeros_like")
_SUMS = frozenset({"sum", "cumsum", "nansum"})
# How far numbers are apart, relative to their size, at most. An average that takes a smaller share of each value stops
# where it is off by a quarter, or earlier: half of that distance is rounded away.
_SPACING = {"bfloat16": 2.0**-7, "float16": 2.0**-10}
_MANY_TERMS = 1 << 14  # terms that average 4 are too many for float16
_SEGMENTS = ("jax.ops.segment_sum",)


class LowPrecisionAccumulation(Rule):
    """A running sum or average accumulates in bfloat16 or float16.

    ## What it does
    Finds 16-bit sums: totals that a host loop adds to, carries of `lax.scan`, `fori_loop` and
    `while_loop` that start from zeros and are added to, `.at[...].add` and `segment_sum` on a
    16-bit array, and sums with `dtype=float16`. Also finds float16 sums of many squares, and norms,
    where the number of terms is known, and moving averages in 16 bits whose decay is so near to 1
    that each change is rounded away: above 0.992 in bfloat16, 0.999 in float16.

    ## Why is this bad?
    bfloat16 has 8 bits of precision: from 256 on, adding 1 changes nothing. Summing 70,000 numbers
    this way gives 1% of the sum (measured). A moving average of bfloat16 weights with a decay of
    0.999 never moves. float16 also overflows to infinity beyond 65504.
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
                self.tell(event, dtype_of(start), f"the carry of `{event.api}`", report, _start(event, start))
                return

    @concerns("add", "subtract", "astype", "norm", *_SUMS)
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
        if event.operation.name in ("add", "subtract", "astype") and event.result.dtype in _LOW:
            share = _share(event)
            if 0 < share < _SPACING[event.result.dtype] and event.frame.module.reported:
                self.tell_average(event, share, report)
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

    @staticmethod
    def tell_average(event: OperationEvent, share: float, report: Reporter) -> None:
        if report.module.is_test:
            return
        dtype = event.result.dtype
        report(
            event.node,
            f"a moving average that takes {share:.2g} of each value stands still in {dtype}; keep it in float32",
            reason=f"numbers in {dtype} are {_SPACING[dtype]:.2g} apart, relative to their size: a smaller change is rounded away",
        )

    def tell(
        self,
        event: CallEvent | CarryEvent | OperationEvent,
        dtype: str,
        what: str,
        report: Reporter,
        place: ast.AST | None = None,
    ) -> None:
        if not report.module.is_test:
            report(
                place or event.node,
                f"{what} accumulates in {dtype}, which drops small terms; accumulate in float32",
                reason=f"{dtype} has {8 if dtype == 'bfloat16' else 11} bits of precision; cast the result, not the terms",
            )


def _start(event: CarryEvent, start: Value) -> ast.AST:
    """Where a carry is made, in the function of the loop; otherwise the loop."""
    function = event.frame.function
    made = start.made if isinstance(start, Array) else None
    if made is None or function is None or not any(made.node is part for part in ast.walk(function.node)):
        return event.node
    return made.node


def _share(event: OperationEvent) -> float:
    """How much of each value a moving average takes; 0 if the operation is none. It may be computed in float32, and
    stored in 16 bits."""
    operation = event.operation
    if operation.name != "astype":
        return _average(operation)
    computed = operation.args[0]
    made = computed.made if isinstance(computed, Array) else None
    if made is None or made.name not in ("add", "subtract"):
        return 0.0
    stored = [part for part in _parts(made) if part.dtype == event.result.dtype]
    return _average(made) if stored else 0.0


def _parts(made: Operation) -> list[Array]:
    """The arrays that a moving average reads, as they were before they were scaled or converted."""
    found: list[Array] = []
    for value in made.args:
        scaled = _scaled(value)
        inner = scaled[1] if scaled is not None else value
        cast = inner.made if isinstance(inner, Array) else None
        if cast is not None and cast.name == "astype":
            inner = cast.args[0]
        if isinstance(inner, Array):
            found.append(inner)
    return found


def _average(operation: Operation) -> float:
    """How much of the difference a moving average adds: the `k` of `(1 - k) * mean + k * x` and of `mean + k * (x - mean)`;
    0 if it is another operation."""
    if len(operation.args) != 2:
        return 0.0
    for one, two in (operation.args, operation.args[::-1]):
        kept, taken = _scaled(one), _scaled(two)
        if kept is not None and taken is not None and 0 < taken[0] < kept[0]:
            if operation.name == "add" and math.isclose(kept[0] + taken[0], 1.0, rel_tol=1e-9):
                return taken[0]
    mean, step = operation.args
    moved = _scaled(step)
    made = moved[1].made if moved is not None and isinstance(moved[1], Array) else None
    if moved is None or made is None or made.name != "subtract" or len(made.args) != 2:
        return 0.0
    toward = made.args[1] if operation.name == "add" else made.args[0]
    return moved[0] if same(toward, mean) and 0 < moved[0] < 1 else 0.0


def _scaled(value: Value) -> tuple[float, Value] | None:
    """The number and the array of a product."""
    made = value.made if isinstance(value, Array) else None
    if made is None or made.name != "multiply" or len(made.args) != 2:
        return None
    for number, array in (made.args, made.args[::-1]):
        given = constant(number) if isinstance(number, Static) else None
        if isinstance(given, float):
            return given, array
    return None


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


def _leaves(*values: Value, depth: int = 4) -> list[tuple[Value, ...]]:
    """Corresponding leaves of tuples, lists and dicts of the same structure."""
    if depth and all(isinstance(value, DictValue) for value in values):
        items = [value.items for value in values if isinstance(value, DictValue)]
        if all(part.keys() == items[0].keys() for part in items):
            rows = zip(*([part[name] for name in items[0]] for part in items), strict=True)
            return [leaf for row in rows for leaf in _leaves(*row, depth=depth - 1)]
    parts = [v.items if isinstance(v, (TupleValue, ListValue)) else None for v in values]
    if depth and all(part is not None for part in parts):
        lengths = {len(part or ()) for part in parts}
        if len(lengths) == 1:
            rows = zip(*(list(part or ()) for part in parts), strict=True)
            return [leaf for row in rows for leaf in _leaves(*row, depth=depth - 1)]
    return [values]


def _is_zero(value: Value) -> bool:
    made = value.made if isinstance(value, Array) else None
    return made is not None and made.name in _ZEROS and isinstance(value, Array) and value.dtype in _LOW


def _adds_to(end: Value, carry: Value) -> bool:
    made = end.made if isinstance(end, Array) else None
    if made is None or made.name != "add" or not isinstance(carry, Array):
        return False
    return any(isinstance(part, Array) and _is_same(part, carry) for part in made.args)


def _is_same(one: Array, other: Array) -> bool:
    """Whether they are one array under two names."""
    if one.origin is not None and one.origin is other.origin:
        return True
    return one.form is not None and one.form is other.form and one.made is other.made
