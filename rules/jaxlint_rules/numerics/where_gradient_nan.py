"""A branch of `where` that is not chosen makes the gradient NaN."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Severity
from jaxlint.jaxapi.dtypes import is_integer
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import OperationEvent
from jaxlint.staging.operations import dtype_of
from jaxlint.staging.syntax_facts import all_parameters, dotted
from jaxlint.staging.values import Array, Value
from jaxlint_rules.numerics._expressions import DEEP, VIEWS, is_number, made, number, same, unviewed

# Operations whose derivative is not finite at 0, or left of it.
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
    """A branch of `where` that is not chosen makes the gradient NaN.

    ## What it does
    Finds `jnp.where(x > 0, jnp.log(x), 0.0)` and its like: a logarithm, root, division, power or inverse function of the
    value that the condition tests, in the branch that the condition is meant to protect, in functions that a gradient is
    taken of. And a quotient, logarithm or root whose NaN is taken away afterwards, by `jnp.nan_to_num` or `where(jnp.isnan(y), 0.0, y)`.

    ## Why is this bad?
    Both branches are computed, and differentiated. At the points that the condition leaves out the derivative is
    infinite or NaN; multiplied by the zero with which `where` drops the branch, it is NaN. The value is right, the
    gradient is NaN, and one such element spoils all parameters.

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
    When the value never reaches the protected points, or no gradient flows here. Functions that nothing differentiates
    in the project are not reported.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where)
    """

    code = "JAX1101"
    name = "where-gradient-nan"
    category = "numerics"
    severity = Severity.WARNING
    examples = (
        Example(
            "logarithm, root, division, power, through variables and calls",
            """
import jax
import jax.numpy as jnp

def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0))  # finding

def distance(d2):
    root = jnp.sqrt(d2)
    return jnp.where(d2 == 0, 0.0, root).sum()  # finding

def ratio(x, y):
    return jnp.where(jnp.abs(y) > 1e-6, x / y, 0.0).sum()  # finding

def sinc(x):
    near = x == 0.0
    return jnp.where(near, 1.0, jnp.sin(x) / x).sum()  # finding

def gamma(x):
    return jax.lax.select(x > 0.0, x**0.5, jnp.zeros_like(x)).sum()  # finding

def softplus(x):
    return jnp.where(x > 20.0, x, jnp.log1p(jnp.exp(x))).sum()  # finding

def angle(c):
    return jnp.where(jnp.abs(c) < 1.0, jnp.arccos(c), 0.0).sum()  # finding

TOLERANCE = float(input())

def far(r):
    return jnp.where(r > TOLERANCE, 1 / r, 0.0).sum()  # finding

def loss(w, x):
    return far(w) + entropy(w) + distance(x @ w) + ratio(w, x) + sinc(w) + gamma(w) + softplus(w) + angle(w)

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)
""",
        ),
        Example(
            "at the end of a long computation",
            """
import jax
import jax.numpy as jnp

def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0), axis=-1)  # finding

def information(scale, values, centers):
    distance = jnp.abs((scale * values)[:, None] - centers[None, :])
    counts = jax.nn.relu(1.0 - distance / 0.2).sum(axis=0)
    return entropy(counts / counts.sum())

@jax.jit
def ascend(scale, values, centers):
    value, grad = jax.value_and_grad(information)(scale, values, centers)
    return scale + 0.05 * grad, value
""",
        ),
        Example(
            "NaN that is taken away afterwards",
            """
import jax
import jax.numpy as jnp

def ratio(x, n):
    return jnp.nan_to_num(x / n).sum()  # finding

def entropy(p):
    terms = p * jnp.log(p)
    return -jnp.where(jnp.isnan(terms), 0.0, terms).sum()  # finding

def finite(p):
    y = jnp.sqrt(p)
    return jnp.where(jnp.isfinite(y), y, 0.0).sum()  # finding

def loss(w, n):
    return ratio(w, n) + entropy(w) + finite(w)

def data(w, x, n):
    return jnp.sum(w * jnp.nan_to_num(x / n)) + jnp.nan_to_num(w / 2.0).sum() + jnp.nan_to_num(w).sum()

def step(w, x, n):
    return w - 0.1 * jax.grad(loss)(w, n) - 0.1 * jax.grad(data)(w, x, n)

def metric(x, n):
    return jnp.nan_to_num(x / n).mean()

x = jnp.arange(3.0)
print(step(x, x, x), metric(x, x))
""",
        ),
        Example(
            "a mask that is a factor of what the logarithm takes",
            """
import jax
import jax.numpy as jnp

def entropy(params, obs, legal):
    probs = jax.nn.softmax(obs @ params) * legal
    probs = probs / probs.sum(-1, keepdims=True)
    return -jnp.sum(jnp.where(legal > 0, probs * jnp.log(probs), 0.0))  # finding

def unmasked(params, obs, legal):
    probs = jax.nn.softmax(obs @ params)
    return -jnp.sum(jnp.where(legal > 0, probs * jnp.log(probs), 0.0))

def pooled(params, nodes, segments, n):
    total = jax.ops.segment_sum(nodes @ params, segments, n)
    return jnp.sum(jnp.nan_to_num(total / jax.ops.segment_sum(jnp.ones(3), segments, n)[:, None]))

x = jnp.ones((3, 3))
jax.grad(entropy)(x, x, x)
jax.grad(unmasked)(x, x, x)
jax.grad(pooled)(x, x, jnp.array([0, 0, 2]), 3)
""",
        ),
        Example(
            "guarded inside, another condition, or never differentiated",
            """
import jax
import jax.numpy as jnp

def entropy(p):
    safe = jnp.where(p > 0, p, 1.0)
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(safe), 0.0))

def undefined(x):
    return jnp.where(x > 0, jnp.log(x), jnp.nan).sum() + jnp.where(x > 0, 1.0 / x, float("nan")).sum()

def clipped(x):
    return jnp.where(x > 0, jnp.log(jnp.maximum(x, 1e-6)), 0.0).sum() + jnp.where(x > 0, jnp.sqrt(x + 1e-6), 0.0).sum()

def masked(logits, mask):
    p = jax.nn.softmax(logits)
    return jnp.where(mask, jnp.log(p + 1e-9), 0.0).sum()

def huber(x):
    return jnp.where(jnp.abs(x) < 1.0, 0.5 * x**2, jnp.abs(x) - 0.5).sum()

def upwind(p):
    eps = 1e-3
    p = jnp.where(jnp.abs(p) < eps, eps, p)
    return jnp.where(p > eps, (p - 1) / p, 0.5).sum()

def mean(x, mask):
    total, count = jnp.sum(x * mask), jnp.sum(mask)
    total = jnp.where(count == 0, jnp.zeros_like(total), total)
    return jnp.where(count == 0, total, total / count)

CUTOFF = float(input())

def cut_off(x, r, keep):
    r = jnp.where(keep, r, 0)
    pairs = jnp.where(keep, jnp.exp(-r) / r, 0)
    return jnp.where(r < CUTOFF, pairs, 0).sum() + jnp.where(x < CUTOFF, 1 / x, 0).sum()

def loss(w, mask):
    return cut_off(w, w, mask) + entropy(w) + clipped(w) + masked(w, mask) + huber(w) + upwind(w) + undefined(w) + mean(w, mask)

def step(w, mask):
    return w - 0.1 * jax.grad(loss)(w, mask)

def metric(x):
    return jnp.where(x > 0, jnp.log(x), 0.0).sum()

def kernel(x_ref, o_ref):
    def scale(x):
        return jnp.where(x == 0, 0.0, 1 / x)

    o_ref[...] = scale(x_ref[...])
    return scale(x_ref[...]).sum()

def through_kernel(w, out):
    return jax.grad(lambda w: kernel(w, out))(w)
""",
        ),
    )

    def __init__(self) -> None:
        self.found: list[tuple[OperationEvent, str, str]] = []

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
        if not tested or _leaves_nan(event.node):
            return
        for chosen, branch in zip((True, False), operation.args[1:], strict=True):
            for name, operand in _unsafe(branch, DEEP):
                if is_integer(dtype_of(operand)) or _made_safe(operand):
                    continue
                limit = next((bound for value, bound in tested if same(value, operand)), None)
                if limit == "" and _is_below(operation.args[0], operand) is chosen:
                    continue  # a cutoff: the branch is for what is small
                if limit is None and name in _AT_ZERO | {"divide"}:
                    limit = next(
                        (0.0 for value, at in tested if at == 0.0 and _vanishes_with(operand, value)), None
                    )
                if limit is not None and _protects(name, limit):
                    self.found.append((event, name, ""))
                    return

    def check_cleaned(self, event: OperationEvent, value: Value) -> None:
        """A value that a gradient flows through, whose NaN is taken away after it was computed."""
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
            self.found.append((event, name, "cleaned"))
            return

    def finish(self, report: Reporter) -> None:
        for event, name, how in self.found:
            report.event = event
            if _in_kernel(event) or not report.differentiated(event.frame):
                continue  # a kernel has a gradient of its own, if any
            what = {"divide": "the division", "power": "the power"}.get(name, f"`{name}`")
            if how:
                report(
                    event.node,
                    f"NaN that {what} gives is taken away here, and stays in the gradient: make its argument safe with a `where` before it",
                    reason=f"the derivative of {what} is multiplied by zero there, and is not finite",
                )
                continue
            report(
                event.node,
                f"the gradient is NaN where the condition leaves {what} out: make its argument safe with a `where` inside",
                reason=f"both branches are differentiated, and the derivative of {what} is not finite at the points that the condition tests for",
            )


def _asked_for_nan(condition: Value, depth: int) -> Value | None:
    """What a condition asks to be a number, or finite, or not."""
    operation = made(condition, *_ASKS_FOR_NAN, *_CONNECTIVES)
    if operation is None or depth == 0:
        return None
    if operation.name in _CONNECTIVES:
        asked = (_asked_for_nan(part, depth - 1) for part in operation.args)
        return next((value for value in asked if value is not None), None)
    return operation.args[0]


def _sums_of_segments(value: Value) -> bool:
    """A ratio of sums of segments: those that are empty are zero over zero, and nothing has a gradient from them."""
    quotient = made(value, "divide")
    total = made(unviewed(quotient.args[0])) if quotient is not None else None
    return total is not None and total.name.rpartition(".")[2].startswith("segment_")


def _vanishes_with(operand: Value, value: Value, depth: int = 4) -> bool:
    """Whether `operand` has a factor `value`, and is zero where that is."""
    if same(operand, value):
        return True
    operation = made(operand, "multiply", "divide", *VIEWS)
    if operation is None or depth == 0:
        return False
    factors = operation.args if operation.name == "multiply" else operation.args[:1]
    return any(_vanishes_with(factor, value, depth - 1) for factor in factors)


def _leaves_nan(call: ast.AST) -> bool:
    """Whether the other branch is NaN itself, so that the value is no number there either."""
    given = call.args if isinstance(call, ast.Call) else []
    return any(
        dotted(part).rpartition(".")[2].lower() == "nan" or ast.unparse(part) == "float('nan')"
        for part in given
    )


def _in_kernel(event: OperationEvent) -> bool:
    """In a kernel of Pallas: it runs as one, or takes references by the names that they have by convention."""
    if event.frame.home.within("pallas"):
        return True
    for around in event.frame.module.ancestors(event.node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [parameter.arg for parameter in all_parameters(around)]
            if sum(name.endswith("_ref") for name in names) > 1:
                return True
    return False


def _protects(name: str, limit: float | str) -> bool:
    """Whether a comparison with this limit keeps the operation away from where its derivative is not finite."""
    if isinstance(limit, str):
        return name not in _OVERFLOWS  # a tolerance that is not known
    if name in _AT_ONE:
        return 0.5 < abs(limit) <= 1.0
    if name in _OVERFLOWS:
        return limit >= _LARGE
    return abs(limit) <= _NEAR_ZERO


def _tested(condition: Value, depth: int) -> Iterator[tuple[Value, float | str]]:
    """The values that a condition compares with numbers, and these numbers."""
    operation = made(condition, *_COMPARISONS, *_CONNECTIVES)
    if operation is None or depth == 0:
        return
    if operation.name in _CONNECTIVES:
        for part in operation.args:
            yield from _tested(part, depth - 1)
        return
    if len(operation.args) != 2:
        return
    left, right = operation.args
    for value, other in ((left, right), (right, left)):
        if not is_number(other):
            continue
        limit = number(other)
        yield value, "" if limit is None else limit
        inner = made(value, "absolute", "abs")
        if inner is not None:
            yield inner.args[0], "" if limit is None else limit


def _is_below(condition: Value, operand: Value) -> bool | None:
    """True for `operand < limit`, False for `operand > limit`; None for anything else."""
    operation = made(condition, *_COMPARISONS)
    if operation is None or len(operation.args) != 2 or "equal" in (operation.name, operation.name[4:]):
        return None
    return operation.name.startswith("less") is same(operation.args[0], operand)


def _made_safe(value: Value) -> bool:
    """Whether a number stands in for some of its elements, as `where(y == 0, 1.0, y)` has it, or a bound other than zero.

    `where` leaves out what comes back from the elements that a number stands for, NaN or not.
    """
    operation = value.made if isinstance(value, Array) else None
    if operation is None or operation.name not in ("where", "select", "maximum", "clip"):
        return False
    if operation.name in ("where", "select"):
        return not operation.args or any(is_number(part) for part in operation.args[1:])
    return not operation.args or any(is_number(part) and number(part) != 0 for part in operation.args)


def _zero_beside(dividend: Value, divisor: Value) -> bool:
    """Whether an earlier `where` on the divisor takes the gradient out of the dividend, as of a sum that a mask counts.

    `total = where(count == 0, 0, total)`, `where(count == 0, total, total / count)`: who writes that differentiates the total alone.
    """
    operation = made(dividend, "where")
    if operation is None or len(operation.args) != 3:
        return False
    return any(same(value, divisor) for value, _ in _tested(operation.args[0], DEEP))


def _unsafe(value: Value, depth: int) -> Iterator[tuple[str, Value]]:
    """The operations in a branch whose derivative is not finite everywhere, and what they are applied to."""
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
