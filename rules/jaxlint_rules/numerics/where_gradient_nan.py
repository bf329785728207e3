"""`where` branches that make the gradient NaN although they are not selected."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import DifferentiatedEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters
from jaxlint.api.tables import is_integer
from jaxlint.api.values import Array, Value, dtype_of, same
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name
from jaxlint_rules.numerics._expressions import DEEP, VIEWS, is_number, made, number, without_views
from jaxlint_rules.numerics._needs import Needs

# Operations whose derivative is not finite at 0, or below it.
_AT_ZERO = frozenset({"log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "cbrt"})
_AT_ONE = frozenset({"arccos", "arcsin", "arctanh", "arccosh", "acos", "asin", "atanh", "acosh"})
_OVERFLOWS = frozenset({"exp", "expm1", "exp2", "sinh", "cosh"})
_COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")
_CONNECTIVES = ("bitwise_and", "bitwise_or", "invert", "logical_and", "logical_or", "logical_not")
_THROUGH = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "negative",
        "power",
        "sum",
        "mean",
        "square",
        "sin",
        "cos",
        "tanh",
        "exp",
        "log",
        "sqrt",
        "reshape",
        "getitem",
        "astype",
        "expand_dims",
        "matmul",
        "maximum",
        "minimum",
        "absolute",
        "stack",
        "concatenate",
        "transpose",
        "log1p",
        "expm1",
        "arctan2",
        "where",
    ]
)
_CLEANED = ("nan_to_num", "jax.numpy.nan_to_num")
_ASKS_FOR_NAN = tuple(
    f"{prefix}{name}" for prefix in ("", "jax.numpy.") for name in ("isnan", "isinf", "isfinite", "is_finite")
)
_NEAR_ZERO = 0.1
_LARGE = 5.0


class WhereGradientNan(Rule):
    """The branch that `where` does not select makes the gradient NaN.

    ## What it does
    Finds `jnp.where(x > 0, jnp.log(x), 0.0)` and similar guards in differentiated functions: a
    logarithm, root, division, power or inverse function of the tested value, in the branch that the
    condition should protect. Also finds a quotient, logarithm or root whose NaN is replaced
    afterwards, with `jnp.nan_to_num` or `where(jnp.isnan(y), 0.0, y)`.

    ## Why is this bad?
    JAX computes and differentiates both branches. At the points that the condition excludes, the
    derivative is infinite or NaN. `where` multiplies it by zero, which is NaN. The value is right
    and the gradient is NaN, and one such element makes the gradient of all parameters NaN.

    ## Example
    ```python
    def f(x):
        return jnp.where(x > 0, jnp.log(x), 0.0).sum()

    jax.grad(f)(jnp.array([0.0, 1.0]))  # [nan, 1.]
    ```

    ## Use instead
    ```python
    def f(x):
        safe = jnp.where(x > 0, x, 1.0)
        return jnp.where(x > 0, jnp.log(safe), 0.0).sum()

    jax.grad(f)(jnp.array([0.0, 1.0]))  # [0., 1.]
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if the value never reaches the excluded points, or if no gradient flows through it.
    Functions that nothing in the project differentiates are not reported.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where)
    """

    code = "JAX1101"
    name = "where-gradient-nan"
    category = "numerics"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.found: list[tuple[OperationEvent, str, str]] = []
        self.needs = Needs()

    @concerns("where", *_CLEANED)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if event.frame.module.is_test or not operation.args:
            return
        if operation.name in _CLEANED:
            self.check_cleaned(event, operation.args[0])
            return
        if operation.name != "where" or len(operation.args) != 3:
            return
        cleaned = _asked_for_nan(operation.args[0], DEEP)
        if cleaned is not None and any(same(cleaned, branch) for branch in operation.args[1:]):
            self.check_cleaned(event, cleaned)
            return
        tested = list(_tested(operation.args[0], DEEP))
        compared = list(_compared(operation.args[0], DEEP))
        if not (tested or compared) or _leaves_nan(event.node):
            return
        for chosen, branch in zip((True, False), operation.args[1:], strict=True):
            if not isinstance(branch, Array) or branch.flow is None:
                continue  # no gradient reaches it
            for name, operand in _unsafe(branch, DEEP):
                if is_integer(dtype_of(operand)) or _made_safe(operand):
                    continue
                limit = next((bound for value, bound in tested if same(value, operand)), None)
                if limit == "" and _is_below(operation.args[0], operand) is chosen:
                    continue  # a cutoff: the branch is for small values
                if limit is None and _is_difference(operand, compared):
                    limit = 0.0
                if limit is None and name in _AT_ZERO | {"divide"}:
                    limit = next(
                        (0.0 for value, at in tested if at == 0.0 and _vanishes_with(operand, value)), None
                    )
                if limit is not None and _protects(name, limit):
                    self.found.append((event, name, ""))
                    return

    def check_cleaned(self, event: OperationEvent, value: Value) -> None:
        """A value under a gradient whose NaN is replaced after its computation."""
        if not isinstance(value, Array) or value.flow is None or _sums_of_segments(value):
            return
        for name, operand in _unsafe(value, DEEP):
            if (
                name in _OVERFLOWS
                or is_number(operand)
                or is_integer(dtype_of(operand))
                or _made_safe(operand)
            ):
                continue
            self.found.append((event, name, event.operation.name.rpartition(".")[2]))
            return

    def on_differentiated(self, event: DifferentiatedEvent, report: Reporter) -> None:
        self.needs.add(event)

    def finish(self, report: Reporter) -> None:
        for event, name, how in self.found:
            report.event = event
            if _in_kernel(event) or not report.differentiated(event.frame):
                continue  # a kernel defines its own gradient, if it has one
            if self.needs.are_none_for(event.operation):
                continue
            what = {"divide": "the division", "power": "the power"}.get(name, f"`{name}`")
            if how:
                report(
                    event.node,
                    f"`{how}` removes the NaN of {what}, but not of its gradient; guard its argument with `where`",
                    reason=f"the derivative of {what} is not finite there, and zero times it is NaN",
                )
                continue
            report(
                event.node,
                f"the gradient is NaN where the condition excludes {what}; guard its argument with `where` too",
                reason=f"`where` differentiates both branches, and the derivative of {what} is not finite there",
            )


def _asked_for_nan(condition: Value, depth: int) -> Value | None:
    """The values that a condition tests for NaN or infinity."""
    operation = made(condition, *_ASKS_FOR_NAN, *_CONNECTIVES)
    if operation is None or depth == 0:
        return None
    if operation.name in _CONNECTIVES:
        asked = (_asked_for_nan(part, depth - 1) for part in operation.args)
        return next((value for value in asked if value is not None), None)
    return operation.args[0]


def _sums_of_segments(value: Value) -> bool:
    """A ratio of segment sums: empty segments are zero over zero, and nothing receives a gradient from them."""
    quotient = made(value, "divide")
    total = made(without_views(quotient.args[0])) if quotient is not None else None
    return total is not None and total.name.rpartition(".")[2].startswith("segment_")


def _vanishes_with(operand: Value, value: Value, depth: int = 4) -> bool:
    """Whether `operand` has a factor `value`, and so is zero where that is."""
    if same(operand, value):
        return True
    operation = made(operand, "multiply", "divide", *VIEWS)
    if operation is None or depth == 0:
        return False
    factors = operation.args if operation.name == "multiply" else operation.args[:1]
    return any(_vanishes_with(factor, value, depth - 1) for factor in factors)


def _leaves_nan(call: ast.AST) -> bool:
    """Whether the other branch is NaN itself, so that the value is not a number there either."""
    given = call.args if isinstance(call, ast.Call) else []
    return any(last_name(part).lower() == "nan" or ast.unparse(part) == "float('nan')" for part in given)


def _in_kernel(event: OperationEvent) -> bool:
    """In a Pallas kernel: it runs as one, or its parameters have the customary names of references."""
    if event.frame.home.within("pallas"):
        return True
    for around in event.frame.module.ancestors(event.node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [parameter.arg for parameter in all_parameters(around)]
            if sum(name.endswith("_ref") for name in names) > 1:
                return True
    return False


def _protects(name: str, limit: float | str) -> bool:
    """Whether a comparison with this limit keeps the operation away from the point where its derivative is not
    finite."""
    if isinstance(limit, str):
        return name not in _OVERFLOWS  # an unknown tolerance
    if name in _AT_ONE:
        return 0.5 < abs(limit) <= 1.0
    if name in _OVERFLOWS:
        return limit >= _LARGE
    return abs(limit) <= _NEAR_ZERO


def _tested(condition: Value, depth: int) -> Iterator[tuple[Value, float | str]]:
    """The values that a condition compares with numbers, and these numbers."""
    for left, right in _compared(condition, depth):
        for value, other in ((left, right), (right, left)):
            if not is_number(other):
                continue
            limit = number(other)
            yield value, "" if limit is None else limit
            inner = made(value, "absolute", "abs")
            if inner is not None:
                yield inner.args[0], "" if limit is None else limit


def _compared(condition: Value, depth: int) -> Iterator[tuple[Value, Value]]:
    """The pairs of values that a condition compares: `r2 < radius**2`, `x > 1`."""
    operation = made(condition, *_COMPARISONS, *_CONNECTIVES)
    if operation is None or depth == 0:
        return
    if operation.name in _CONNECTIVES:
        for part in operation.args:
            yield from _compared(part, depth - 1)
    elif len(operation.args) == 2:
        yield operation.args[0], operation.args[1]


def _is_difference(operand: Value, compared: list[tuple[Value, Value]]) -> bool:
    """Whether it is the difference of two values that the condition compares, and so has one sign where that holds."""
    operation = made(operand, "subtract")
    if operation is None or len(operation.args) != 2:
        return False
    left, right = operation.args
    return any(
        (same(left, one) and same(right, other)) or (same(left, other) and same(right, one))
        for one, other in compared
    )


def _is_below(condition: Value, operand: Value) -> bool | None:
    """True for `operand < limit`, False for `operand > limit`; None for anything else."""
    operation = made(condition, *_COMPARISONS)
    if operation is None or len(operation.args) != 2 or "equal" in (operation.name, operation.name[4:]):
        return None
    return operation.name.startswith("less") is same(operation.args[0], operand)


def _made_safe(value: Value) -> bool:
    """Whether a number replaces some of its elements, as in `where(y == 0, 1.0, y)`, or it has a bound other than
    zero.

    `where` drops the gradient of the replaced elements, NaN or not.
    """
    operation = value.made if isinstance(value, Array) else None
    if operation is None or operation.name not in ("where", "select", "maximum", "clip"):
        return False
    if operation.name in ("where", "select"):
        return not operation.args or any(is_number(part) for part in operation.args[1:])
    return not operation.args or any(is_number(part) and number(part) != 0 for part in operation.args)


def _zero_beside(dividend: Value, divisor: Value) -> bool:
    """Whether an earlier `where` on the divisor blocks the gradient of the dividend, as for a sum with a count.

    In `total = where(count == 0, 0, total)`, `where(count == 0, total, total / count)`, only the total is
    differentiated.
    """
    operation = made(dividend, "where")
    if operation is None or len(operation.args) != 3:
        return False
    return any(same(value, divisor) for value, _ in _tested(operation.args[0], DEEP))


def _unsafe(value: Value, depth: int) -> Iterator[tuple[str, Value]]:
    """The operations in a branch whose derivative is not finite everywhere, with their operands."""
    operation = made(value)
    if operation is None or depth == 0:
        return
    name, args = operation.name, operation.args
    if name in _AT_ZERO or name in _AT_ONE or name in _OVERFLOWS:
        yield name, args[0]
    elif name == "divide" and len(args) == 2:
        if not _zero_beside(*args):
            yield name, args[1]
    elif name == "power" and len(args) == 2:
        exponent = number(args[1])
        if exponent is not None and (exponent < 0 or (exponent < 1 and exponent != 0)):
            yield name, args[0]
    if name in _THROUGH:
        for operand in args:
            if isinstance(operand, Array):
                yield from _unsafe(operand, depth - 1)
