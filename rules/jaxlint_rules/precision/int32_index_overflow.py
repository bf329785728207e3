"""Integer arithmetic that exceeds 32 bits."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule, TracedArgumentEvent, concerns
from jaxlint.api.tables import INTEGER_ENDS, JIT_KINDS
from jaxlint.api.values import (
    Array,
    ListValue,
    Operation,
    Range,
    Reading,
    Static,
    TupleValue,
    Value,
    constant,
    dtype_named,
    range_of,
    range_of_result,
)
from jaxlint.finding import Severity
from jaxlint_rules._x64 import may_have_x64

_LEAST, _MOST = INTEGER_ENDS["int32"]
_LARGE = 2**26  # a factor that leaves almost no room
_ARITHMETIC = frozenset(
    "add subtract multiply negative power left_shift sum prod cumsum cumprod arange iota".split()  # noqa: SIM905
)
# Functions that convert a Python integer to an int32 array, whatever the dtype of the other operands.
_TAKING = frozenset(
    """add subtract multiply divide floor_divide mod remainder power maximum minimum where clip bitwise_and bitwise_or
    bitwise_xor equal not_equal less less_equal greater greater_equal""".split()  # noqa: SIM905
)
_MAKING = frozenset({"array", "asarray", "full"})
_OF_CONSTANTS = frozenset({"arange", "iota", "prod", "cumprod"})
_TOTALS = frozenset({"sum", "cumsum"})


class Int32IndexOverflow(Rule):
    """Integer arithmetic overflows int32.

    ## What it does
    Finds integers that certainly exceed int32:

    - `jnp.arange(n)` beyond 2,147,483,647;
    - products, sums and powers of such ranges, of draws of `jax.random.randint` and of constants,
      as in `rows[:, None] * width + columns`;
    - `jnp.prod` of known sizes;
    - products of 32-bit integers and a number that leaves no room, such as nanoseconds per second;
    - Python integers that do not fit int32 in an array operation or as an argument of a jitted
      function: `cells * 2654435761`, `ids != 1 << 40`.

    ## Why is this bad?
    Integers are 32 bits unless x64 is enabled. Arithmetic wraps around without an exception, so
    flat indices into a large array become negative, and a negative index reads from the end. A
    Python integer that does not fit raises `OverflowError`, also beside an array of floats or of
    `uint32`.

    ## Example
    ```python
    offsets = jnp.arange(100_000) * 50_000
    hashed = cells * 2654435761
    ```

    ## Use instead
    Keep row and column apart (`table[row, column]`), compute a static offset in NumPy with
    `np.int64`, use `math.prod` for sizes, or enable x64 with
    `jax.config.update("jax_enable_x64", True)`. Compute hashes in `uint32`:
    `cells.astype(jnp.uint32) * jnp.uint32(2654435761)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if you want the wrap-around, as in a hash; arithmetic on `uint32` is not reported.

    ## References
    - [JAX: 64-bit precision](https://docs.jax.dev/en/latest/default_dtypes.html)
    """

    code = "JAX1004"
    name = "int32-index-overflow"
    category = "precision"
    severity = Severity.WARNING
    needs_whole_program = True
    follows_calls = True

    @concerns(*_ARITHMETIC, *_TAKING, *_MAKING, "at")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if report.module.is_test:
            return
        operation = event.operation
        if operation.name in _ARITHMETIC and event.result.dtype in ("int32", "int*"):
            if self.check_range(event, report):
                return
        number = _too_large(operation)
        if number:
            self.tell_raised(event, number, report)

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        if (
            event.transformed.kind not in JIT_KINDS
            or report.module.is_test
            or event.transformed.kind == "filter_jit"
        ):
            return
        number = _unfit(event.value)
        if number:
            self.tell_raised(event, number, report)

    def tell_raised(self, event: OperationEvent | TracedArgumentEvent, number: str, report: Reporter) -> None:
        if event.is_caught() or _is_expected(event) or may_have_x64(report, report.module):
            return
        report(
            event.node,
            f"`{number}` does not fit int32, which raises OverflowError; enable x64, or pass another dtype",
            reason=f"JAX converts a Python integer to int32, whose maximum is {_MOST:,}; nothing that runs with this file enables x64",
            severity=Severity.ERROR,
        )

    def check_range(self, event: OperationEvent, report: Reporter) -> bool:
        """Whether the range of an operation's integers is known, and too large."""
        operation = event.operation
        found = range_of_result(operation)
        if found is not None and (found.high > _MOST or found.low < _LEAST):
            if operation.name not in _OF_CONSTANTS and not all(map(_fits, operation.args)):
                return False  # reported where they became too large
            if not may_have_x64(report, report.module):
                report(
                    event.node,
                    _words(operation, found),
                    reason=f"the maximum of int32 is {_MOST:,}, and without x64 the result stays int32",
                )
            return True
        return operation.name == "multiply" and self.check_factor(event, report)

    @staticmethod
    def check_factor(event: OperationEvent, report: Reporter) -> bool:
        """A product with a number that leaves no room."""
        for value in event.operation.args:
            factor = constant(value)
            if event.result.dtype != "int32" or type(factor) is not int or not _LARGE <= abs(factor) <= _MOST:
                continue
            if not may_have_x64(report, report.module):
                report(
                    event.node,
                    f"int32 times {factor:,} overflows from {_MOST // abs(factor) + 1} on; use float32 or enable x64",
                    reason=f"the maximum of int32 is {_MOST:,}, and without x64 the product stays int32",
                )
            return True
        return False


def _is_expected(event: OperationEvent | TracedArgumentEvent) -> bool:
    """Whether an enclosing `try` handles an OverflowError."""
    return any(
        isinstance(above, ast.Try)
        and any(h.type is not None and "OverflowError" in ast.unparse(h.type) for h in above.handlers)
        for above in event.frame.module.ancestors(event.node)
    )


def _words(operation: Operation, found: Range) -> str:
    reached = f"{found.farthest:,}"
    if operation.name in ("power", "left_shift"):
        base = constant(operation.args[0])
        use = f"use a float, `{base}.0`" if operation.name == "power" and type(base) is int else "use a float"
        return (
            f"the powers reach {reached} and overflow int32; {use}"
            if len(reached) < 40
            else f"the powers overflow int32; {use}"
        )
    if operation.name in _TOTALS:
        return f"the sum is about {reached} and overflows int32; sum in float32 or enable x64"
    if operation.name in ("prod", "cumprod"):
        return (
            f"the product is {reached} and overflows int32; use `math.prod` or a float"
            if len(reached) < 40
            else "the product overflows int32; use a float"
        )
    return f"the integers reach {reached} and overflow int32; enable x64 or use smaller integers"


def _fits(value: Value) -> bool:
    found = range_of(value)
    return found is None or (found.high <= _MOST and found.low >= _LEAST)


def _unfit(value: Value | None) -> str:
    """The Python integer, in a number or a list, that int32 cannot represent; "" if there is none."""
    if isinstance(value, Reading) and value.clock.endswith("_ns"):
        return f"{value.clock}()"
    return _unfit_in(constant(value)) if isinstance(value, (Static, ListValue, TupleValue)) else ""


def _unfit_in(number: object) -> str:
    if isinstance(number, tuple):
        return next((found for part in number if (found := _unfit_in(part))), "")
    return str(number) if type(number) is int and not _LEAST <= number <= _MOST else ""


def _is_array(value: Value) -> bool:
    """Whether it certainly is a JAX array, to which NumPy's rules do not apply."""
    return isinstance(value, Array) and value.certain and not (value.tree or value.mixed or value.role)


def _too_large(operation: Operation) -> str:
    """A Python integer argument of an operation that int32 cannot represent."""
    name, args = operation.name, operation.args
    if name in _MAKING:
        position = int(name == "full")
        asked = operation.operand(position + 1, "dtype")
        if asked is not None and (name == "full" or dtype_named(asked) not in ("int32", "int64")):
            return ""
        return _unfit(args[position]) if len(args) > position else ""
    if (name in _TAKING or name == "at") and any(map(_is_array, args)):
        return next((found for value in args if (found := _unfit(value))), "")
    return ""
