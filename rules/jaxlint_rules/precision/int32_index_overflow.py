"""Index arithmetic beyond 32 bits."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._x64 import may_have_x64

_DEEPEST = 4096
_LIMIT = 2**31 - 1
_LARGE = 2**26  # a factor that leaves room for next to nothing


class Int32IndexOverflow(Rule):
    """Index arithmetic overflows int32.

    ## What it does
    Finds `jnp.arange(n)` beyond 2,147,483,647, and products of an `arange` of known length and a number that exceed it, without
    a 64-bit dtype; products of 32-bit integers and a number that leaves no room, as nanoseconds do; and powers of an integer, as in
    `256 ** jnp.arange(1, 9)`.

    ## Why is this bad?
    Integers are 32 bits unless x64 is enabled. Products wrap around silently, and flat indices into a large array become negative;
    a gather with a negative index reads from the end.

    ## Example
    ```python
    offsets = jnp.arange(100_000) * 50_000
    ```

    ## Use instead
    Keep row and column apart (`table[row, column]`), compute the offset in NumPy with `np.int64` where it is static, or enable
    x64: `jax.config.update("jax_enable_x64", True)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    When the wrap-around is wanted, as in a hash.

    ## References
    - [JAX: 64-bit precision](https://docs.jax.dev/en/latest/default_dtypes.html)
    """

    code = "JAX1004"
    name = "int32-index-overflow"
    category = "precision"
    severity = Severity.WARNING

    @concerns("multiply", "power")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name == "power":
            self.check_power(event, report)
            return
        if operation.name != "multiply" or len(operation.args) != 2 or report.module.is_test:
            return
        if event.result.dtype not in ("int32", "uint32", "int*"):
            return
        for one, two in (operation.args, operation.args[::-1]):
            length, factor = _length(one), constant(two)
            if event.result.dtype == "int32" and type(factor) is int and _LARGE <= abs(factor) <= _LIMIT:
                if not may_have_x64(report, report.module):
                    report(
                        event.node,
                        f"int32 times {factor:,} overflows from {_LIMIT // abs(factor) + 1} on; use float32 or enable x64",
                        reason=f"int32 ends at {_LIMIT:,}, and without x64 the product stays int32",
                    )
                return
            if length is not None and type(factor) is int and abs(length * factor) > _LIMIT + abs(factor):
                if report.project and "jax_enable_x64" in report.module.source.text:
                    return
                report(
                    event.node,
                    f"the indices reach {abs((length - 1) * factor):,} and overflow int32; enable x64 or use smaller indices",
                    reason=f"int32 ends at {_LIMIT:,}, and without x64 the product stays int32",
                )
                return

    def check_power(self, event: OperationEvent, report: Reporter) -> None:
        """`256 ** jnp.arange(1, 9)`: powers of an integer that are integers as well."""
        base, exponent = event.operation.args[0], _last(event.operation.args[-1])
        number = constant(base)
        if type(number) is not int or exponent is None or report.module.is_test or exponent > _DEEPEST:
            return
        if abs(number) ** max(exponent, 0) <= _LIMIT or may_have_x64(report, report.module):
            return
        report(
            event.node,
            f"`{number} ** {exponent}` overflows int32; use a float, `{number}.0`",
            reason=f"int32 ends at {_LIMIT:,}, and without x64 the power stays int32",
        )


def _last(value: Value) -> int | None:
    """The largest number of an `arange`, where it is known."""
    made = value.made if isinstance(value, Array) else None
    if made is None or made.name != "arange" or not 1 <= len(made.args) <= 2 or made.kwargs:
        return None
    stop = constant(made.args[-1])
    return stop - 1 if type(stop) is int else None


def _length(value: Value) -> int | None:
    """How many numbers the `arange` behind a value counts, where that is known."""
    for _ in range(4):
        made = value.made if isinstance(value, Array) else None
        if made is None or not made.args:
            return None
        if made.name == "arange":
            count = constant(made.args[0])
            return count if len(made.args) == 1 and type(count) is int else None
        if made.name not in ("getitem", "reshape", "expand_dims"):
            return None
        value = made.args[0]
    return None
