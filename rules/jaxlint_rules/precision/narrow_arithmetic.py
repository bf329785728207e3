"""Arithmetic in a dtype that cannot represent the result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.tables import EPSILONS, is_integer, strong
from jaxlint.api.values import (
    Array,
    ExternalMethod,
    ExternalObject,
    Operation,
    Static,
    Value,
    constant,
    dtype_of,
    is_inexact,
    leaves_in,
)
from jaxlint.finding import Severity
from jaxlint_rules.numerics._expressions import made, number, without_views
from jaxlint_rules.precision._narrow_limits import (
    CASTS,
    COMPARISONS,
    ENDS,
    MIXING,
    PRODUCTS,
    RUNNING,
    cast,
    unfit,
    wrapping,
    wraps_above,
)

_SMALLEST = 2.0**-25  # half of the smallest positive float16: numbers up to this round to zero
_UNSIGNED = frozenset({"uint8", "uint16"})
_MEETING = MIXING | COMPARISONS  # where a Python number takes the dtype of the array beside it
# Queries about a difference that may be negative; indices and masks are not among them.
_OF_DIFFERENCES = frozenset(
    {"square", "power", "absolute", "divide", "multiply", "astype", "mean", "norm", "std", "var"}
)
_WRITING = frozenset({"set", "add", "multiply", "mul", "divide", "min", "max"})
_ROUNDING = ("floor", "ceil", "round", "rint", "trunc", "fix")


class NarrowArithmetic(Rule):
    """Arithmetic wraps around or truncates in a narrow dtype.

    ## What it does
    Finds:

    - Python numbers that the dtype of the array cannot represent: `-1e9` beside a float16 array is
      minus infinity, `image > 256` on `uint8` wraps around, and `1e-8` added to a float16 array, or
      as its lower bound, is zero;
    - optimizers like `optax.adam` with float16 parameters, whose `eps` is zero in that dtype;
    - integers that are too large for a cast, or for the dtype of `arange` (bfloat16 counts exactly
      only up to 256);
    - matrix products, `einsum` and `cumsum` of `int8`, `uint8` and 16-bit integers, whose result
      keeps that dtype;
    - differences and sums of `uint8` and `uint16` arrays that are then squared, averaged, divided or
      cast to floats;
    - fractions written to an integer array (`counts.at[i].set(0.5)`);
    - minus on boolean arrays: `-mask`, `mask - other`.

    ## Why is this bad?
    A Python number takes the dtype of the array. The smallest float16 above zero is 6e-8, so an
    epsilon of 1e-8 rounds to zero, and the division that it guards is 0/0. Unsigned integers wrap
    around without an exception: `3 - 5` is 254, and so is the difference of two images where the
    second is brighter. `jnp.sum` widens small integers; `cumsum` and products do not, so a product
    of quantized `int8` matrices is noise. Positions in bfloat16 beyond 256 are no longer distinct.
    `.at[...]` casts to the dtype of the array: 0.5 becomes 0, with a warning at most. Booleans have
    no minus: it raises `TypeError`; use `~mask` for the opposite.

    ## Example
    ```python
    x = x.astype(jnp.float16)
    y = x / jnp.sqrt(jnp.mean(x * x) + 1e-8)
    error = jnp.mean((image - other) ** 2)  # both uint8
    product = jnp.dot(a, b)  # both int8
    ```

    ## Use instead
    ```python
    x32 = x.astype(jnp.float32)
    y = (x32 / jnp.sqrt(jnp.mean(x32 * x32) + 1e-8)).astype(x.dtype)
    error = jnp.mean((image.astype(jnp.float32) - other.astype(jnp.float32)) ** 2)
    product = jnp.dot(a, b, preferred_element_type=jnp.int32)
    ```

    ## Fix safety
    There is no automatic fix: only you know which dtype the computation should have.

    ## When not to fix
    Keep it if you want the wrap-around, as in checksums.

    ## References
    - [JAX: type promotion](https://docs.jax.dev/en/latest/type_promotion.html)
    """

    code = "JAX1007"
    name = "narrow-arithmetic"
    category = "precision"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.told: set[ast.AST] = set()  # differences; one finding for each

    @concerns(
        "at", "maximum", "negative", *_OF_DIFFERENCES, *PRODUCTS, *RUNNING, *CASTS, *COMPARISONS, *MIXING
    )
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if report.module.is_test or not operation.args:
            return
        if self.check_limits(event, report):
            return
        if operation.name in ("add", "maximum"):
            self.check_epsilon(event, report)
            return
        if operation.name == "at":
            self.check_written(event, report)
            return
        if operation.name in ("negative", "subtract"):
            self.check_truth(event, report)
            return
        wrapped = without_views(operation.args[0]) if operation.name in _OF_DIFFERENCES else None
        if not isinstance(wrapped, Array) or not _may_be_float(operation, event.result):
            return
        made_by = wrapped.made
        if made_by is None or made_by.node in self.told:
            return
        if _wraps(wrapped):
            self.told.add(made_by.node)
            report(
                event.node,
                f"a difference of `{wrapped.dtype}` numbers wraps around below zero; cast them to a signed type or float",
                reason=f"`{wrapped.dtype}` starts at 0, so `3 - 5` is {ENDS[wrapped.dtype][1] - 1}",
            )
        elif wraps_above(made_by, wrapped.dtype):
            self.told.add(made_by.node)
            report(
                made_by.node if made_by.node in event.frame.module.parents else event.node,
                f"a sum of `{wrapped.dtype}` numbers wraps around above {ENDS[wrapped.dtype][1]:,}; cast them to float first",
                reason=f"the addition runs in `{wrapped.dtype}`, and only its result becomes a float",
            )

    @concerns(callees=("ExternalMethod",), methods=("init",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """An optimizer's `eps` in the dtype of its parameters."""
        callee = event.callee
        if report.module.is_test or not isinstance(callee, ExternalMethod) or not event.args:
            return
        leaves = leaves_in(event.args[0]) or ()
        if not any(
            isinstance(leaf, Array) and not leaf.tree and dtype_of(leaf) == "float16" for leaf in leaves
        ):
            return
        for made_by, given in _epsilons(callee.receiver):
            if 0 < given <= _SMALLEST:
                place = made_by.node if made_by.node in event.frame.module.parents else event.node
                report(
                    place or event.node,
                    f"`eps` of `{made_by.name}`, {given:g}, is zero in float16: a zero gradient gives NaN; use float32 or a larger one",
                    reason="the moments of float16 parameters are float16, and a Python number takes their dtype",
                )

    @staticmethod
    def check_limits(event: OperationEvent, report: Reporter) -> bool:
        """Whether a narrow type certainly cannot represent the result of an operation."""
        operation, dtype = event.operation, event.result.dtype
        if operation.name in PRODUCTS or operation.name in RUNNING:
            wrong = wrapping(operation, dtype)
            reason = f"JAX accumulates in the dtype of the arrays here; `jnp.sum` would widen {dtype}"
        elif operation.name in CASTS:
            wrong = cast(operation, dtype)
            reason = "the values follow from how the integers are created"
        else:
            written, there = unfit(operation, dtype) if operation.name in _MEETING else ("", "")
            wrong = (
                f"{written} becomes {there} in the dtype of the array; use a wider dtype or another number"
                if written
                else ""
            )
            reason = "a Python number takes the dtype of the array operand"
        if wrong:
            report(event.node, wrong, reason=reason)
        return bool(wrong)

    @staticmethod
    def check_written(event: OperationEvent, report: Reporter) -> None:
        """Fractions that an update writes into an integer array."""
        operation, node = event.operation, event.node
        if (
            len(operation.args) != 2
            or not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
        ):
            return
        array, value = operation.args
        dtype = dtype_of(array)
        if node.func.attr not in _WRITING or not is_integer(dtype) or not _is_fraction(value):
            return
        report(
            node,
            f"writing floats to an array of `{strong(dtype)}` truncates them; make the array a float array",
            reason="`.at[...]` casts to the dtype of the array, with a warning at most",
        )

    @staticmethod
    def check_truth(event: OperationEvent, report: Reporter) -> None:
        """Subtraction of truth values."""
        if event.is_caught() or not all(map(_is_truth, event.operation.args)):
            return
        opposite = "`~`" if event.operation.name == "negative" else "`^` or `& ~`"
        report(
            event.node,
            f"minus on a boolean array raises TypeError; use {opposite}, or cast to numbers",
            reason="JAX and NumPy define no minus for booleans",
            severity=Severity.ERROR,
        )

    @staticmethod
    def check_epsilon(event: OperationEvent, report: Reporter) -> None:
        """A number that is zero in the dtype of the array that it should keep away from zero."""
        if event.result.dtype != "float16" or len(event.operation.args) != 2:
            return
        for value in event.operation.args:
            given = number(value) if isinstance(value, Static) else None
            if given is not None and 0 < abs(given) <= _SMALLEST:
                report(
                    event.node,
                    f"{given:g} is zero in float16, whose smallest positive number is 6e-8; use float32 or a larger number",
                    reason="the array is `float16`, and a Python number takes its dtype",
                )
                return


def _epsilons(optimizer: Value, depth: int = 4) -> Iterator[tuple[ExternalObject, float]]:
    """The parts of an optimizer that divide by a moment, and what they add to it."""
    if not isinstance(optimizer, ExternalObject) or depth == 0:
        return
    if optimizer.name == "optax.chain":
        for part in optimizer.args:
            yield from _epsilons(part, depth - 1)
    if (
        optimizer.name not in EPSILONS
        or len(optimizer.args) > 1
        or not {"**", "eps_root"}.isdisjoint(optimizer.kwargs)
    ):
        return  # a second number may be `eps`
    given = number(optimizer.kwargs["eps"]) if "eps" in optimizer.kwargs else EPSILONS[optimizer.name]
    if given is not None:
        yield optimizer, given


def _may_be_float(operation: Operation, result: Array) -> bool:
    """Whether an operation needs its value as a number, instead of staying in integers."""
    return operation.name in ("square", "power", "absolute", "norm") or result.dtype.startswith(
        ("float", "bfloat")
    )


def _is_fraction(value: Value) -> bool:
    """Whether numbers are floats, without prior rounding."""
    if not is_inexact(value):
        return False
    given = number(value) if isinstance(value, Static) else None
    return (given is None or not float(given).is_integer()) and made(without_views(value), *_ROUNDING) is None


def _is_truth(value: Value) -> bool:
    known = isinstance(value, Array) and value.certain and not value.tree and not value.mixed
    return known and isinstance(value, Array) and "bool" in (value.dtype, value.role)


def _wraps(value: Array) -> bool:
    """Whether an array is a difference of unsigned numbers, and nothing shows that the second is smaller."""
    difference = made(value, "subtract")
    if difference is None or value.dtype not in _UNSIGNED or len(difference.args) != 2:
        return False
    left, right = difference.args
    if isinstance(left, Static) or made(left, "maximum", "max", "cummax") or made(right, "minimum", "min"):
        return False  # `255 - image`, and values known to be larger
    return not isinstance(right, Static) or constant(right) not in (0, 1)
