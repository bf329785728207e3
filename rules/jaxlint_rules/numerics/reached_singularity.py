"""Logarithms, divisions and roots whose argument reaches the number where they are not finite."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, name_loads, nodes_of
from jaxlint.api.values import External, ModuleValue, Operation, Value, bounds_of, constant, same, starts_at
from jaxlint.finding import Severity
from jaxlint_rules._names import bound_by, last_name, names_in
from jaxlint_rules.numerics._expressions import made, number, without_views
from jaxlint_rules.numerics._masks import hides_rows

# The arguments at which they are not finite.
_EDGES = {
    "log": (0.0,),
    "log2": (0.0,),
    "log10": (0.0,),
    "reciprocal": (0.0,),
    "rsqrt": (0.0,),
    "log1p": (-1.0,),
    "arctanh": (-1.0, 1.0),
    "logit": (0.0, 1.0),
}
_ROOTS = frozenset({"sqrt", "rsqrt", "log"})
_SQUASHING = ("sigmoid", "logistic", "softmax")  # whose logarithms have a rule
_ROWS = ("softmax", "log_softmax")
_CHOOSING = frozenset({"where", "select", "cond", "nan_to_num", "piecewise"})


class ReachedSingularity(Rule):
    """An argument reaches the number where the function is not finite.

    ## What it does
    Finds logarithms, divisions, `arctanh` and similar functions whose argument certainly gets to
    the point where they are infinite or NaN:

    - because a function rounds to its limit, as in `jnp.log(1 - jnp.tanh(x) ** 2)`;
    - because a segment may be empty: `total / jax.ops.segment_sum(jnp.ones(n), ids, k)`;
    - because a loop begins with zero: `total / count` in a `scan` whose count starts at 0;
    - because a mask hides a whole row: `softmax(jnp.where(valid[:, None], scores, -jnp.inf))`.

    Also finds roots and logarithms of `mean(x**2) - mean(x)**2`, which rounds below zero.

    ## Why is this bad?
    The result is infinite or NaN for ordinary inputs, and its gradient is NaN. In float32,
    `jnp.tanh(9.1)` is exactly 1. One such element makes the mean of a batch, and the gradient of all
    parameters, NaN. JAX raises no exception.

    ## Example
    ```python
    action = jnp.tanh(x)
    log_prob -= jnp.log(1 - action**2)
    ```

    ## Use instead
    ```python
    log_prob -= 2 * (jnp.log(2.0) - x - jax.nn.softplus(-2 * x))
    ```
    Divide by `jnp.maximum(count, 1)`, use `jnp.var`, or add an epsilon.

    ## Fix safety
    There is no automatic fix: you must choose the formula or the epsilon.

    ## When not to fix
    Keep it if the inputs are too small to get there, or if you replace infinities and NaN later
    and take no gradient.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html)
    """

    code = "JAX1116"
    name = "reached-singularity"
    category = "numerics"
    severity = Severity.WARNING
    needs_whole_program = True

    @concerns("divide", "sqrt", *_EDGES, *_ROWS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if not operation.args or event.frame.is_in_test():
            return
        if operation.name in _ROWS:
            if hides_rows(operation) and (event.result.flow is not None or not _is_replaced(event)):
                report(
                    event.node,
                    f"`{operation.name}` of a fully masked row is NaN; mask with a finite number",
                    reason="a factor of the mask is constant along the row; where it is false, the whole row is -inf",
                )
            return
        name, argument = operation.name, operation.args[-1 if operation.name == "divide" else 0]
        if name in _ROOTS and _is_difference_of_moments(argument):
            self.tell(
                event,
                report,
                "a variance computed from moments",
                "rounding can make it negative; use `jnp.var`",
            )
            return
        reason = _reached(operation, argument)
        if not reason or _is_chosen(event) or _is_gathered(event):
            return
        report(
            event.node,
            "the divisor reaches zero; use `jnp.maximum` with a positive number"
            if name == "divide"
            else f"the argument of `{name}` reaches a point where `{name}` is not finite; use another formula or clamp it",
            reason=reason,
        )

    @staticmethod
    def tell(event: OperationEvent, report: Reporter, what: str, why: str) -> None:
        report(
            event.node,
            f"`{event.operation.name}` of {what} may be NaN: {why}",
            reason="both moments are rounded, and their difference can be much smaller than they are",
        )


def _reached(operation: Operation, argument: Value) -> str:
    """Why the argument reaches an edge; "" if it is not known to."""
    name = operation.name
    if name == "divide":
        if len(operation.args) != 2:
            return ""
        start = starts_at(argument)
        return "it is 0 in the first step of the loop" if start == 0 else bounds_of(argument).why_at(0.0)
    bare = without_views(argument)
    rest = made(bare, "subtract")
    if rest is not None and number(rest.args[0]) == 1.0:
        bare = without_views(rest.args[-1])
    if name.startswith("log") and made(bare, *_SQUASHING) is not None:
        return ""
    found = bounds_of(argument)
    return next((why for edge in _EDGES.get(name, ()) if (why := found.why_at(edge))), "")


def _is_difference_of_moments(value: Value) -> bool:
    """`mean(x**2) - mean(x)**2`, of one array."""
    difference = made(without_views(value), "subtract")
    if difference is None or len(difference.args) != 2:
        return False
    total, square = (
        made(without_views(difference.args[0]), "mean"),
        _squared(without_views(difference.args[1])),
    )
    inner = _squared(total.args[0]) if total is not None else None
    mean = made(without_views(square), "mean") if square is not None else None
    return inner is not None and mean is not None and same(inner, mean.args[0])


def _squared(value: Value | None) -> Value | None:
    """`x` in `x**2`, `jnp.square(x)` and `x * x`."""
    operation = made(value, "power", "square", "multiply")
    if operation is None:
        return None
    base = operation.args[0]
    if operation.name == "power":
        return base if constant(operation.args[1]) in (2, 2.0) else None
    return base if operation.name == "square" or same(base, operation.args[-1]) else None


def _is_chosen(event: OperationEvent) -> bool:
    """Whether a `where` or `cond` nearby tests the argument, or replaces the result; or only a comparison reads it."""
    owner = event.frame.owner
    node = event.node
    operand: ast.AST = node.right if isinstance(node, ast.BinOp) else node
    tested = names_in(operand)
    for above in event.frame.module.ancestors(node):
        if isinstance(above, ast.Assign):
            tested |= bound_by(above)
        if isinstance(above, ast.Compare):
            return True  # infinity is on the right side of a limit
        if isinstance(above, ast.stmt):
            break
    libraries = (External, ModuleValue)
    return any(
        not isinstance(event.frame.value_of(name), libraries) for name in tested & _names_chosen(owner)
    )


def _is_replaced(event: OperationEvent) -> bool:
    """Whether a `where` or `nan_to_num` takes the result directly."""
    above = event.frame.module.parents.get(event.node)
    return isinstance(above, ast.Call) and last_name(above.func) in _CHOOSING


def _is_gathered(event: OperationEvent) -> bool:
    """Whether the result is only read at indices, as in `mean[ids]`, which passes over empty segments."""
    parents, statement = event.frame.module.parents, event.node
    while not isinstance(statement, ast.stmt):
        statement = parents[statement]
    if not isinstance(statement, ast.Assign):
        return False
    bound = bound_by(statement)
    reads = [parents[part] for part in name_loads(event.frame.owner) if part.id in bound]
    return bool(reads) and all(
        isinstance(read, ast.Subscript)
        and isinstance(read.value, ast.Name)
        and read.value.id in bound
        and isinstance(read.slice, (ast.Name, ast.Attribute))
        for read in reads
    )


@cache
def _names_chosen(owner: ast.AST) -> set[str]:
    """The names in calls of `where`, `cond` and the like."""
    found: set[str] = set()
    for call in nodes_of(owner, ast.Call):
        if last_name(call.func) in _CHOOSING:
            found |= names_in(call)
    return found
