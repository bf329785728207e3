"""Custom derivative rules that ignore the cotangent or the tangents."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of, positional_parameters, walk
from jaxlint.api.values import ExternalMethod, Function, Transformed
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._names import last_name, unpacked

_ZEROS = frozenset(
    {"zeros", "zeros_like", "float0", "Zero", "instantiate_zeros", "stop_gradient", "tree_zeros_like"}
)
_RULES = {
    "defvjp": (1, "bwd", "is the cotangent of the result"),
    "defjvp": (0, "jvp", "holds the tangents of the arguments"),
}


class UnusedCotangent(Rule):
    """A custom derivative rule ignores the cotangent or the tangents.

    ## What it does
    Finds backward functions of `jax.custom_vjp` that never read their last parameter, the
    cotangent, and rules of `jax.custom_jvp` that never read the tangents, if they return something
    other than zeros.

    ## Why is this bad?
    A backward function must return the cotangent times the derivative. Without it the chain rule
    stops there: the gradient is the same, and wrong, however the result of the function is scaled
    or used. It is correct only if the result is the loss itself.

    ## Example
    ```python
    def clip_bwd(res, g):
        x, = res
        return (jnp.where(jnp.abs(x) < 1, 1.0, 0.1),)
    ```

    ## Use instead
    ```python
    def clip_bwd(res, g):
        x, = res
        return (g * jnp.where(jnp.abs(x) < 1, 1.0, 0.1),)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    If the gradient should be the same for every use, name the parameter `_`. Rules that return
    zeros or None are not reported.

    ## References
    - [JAX: custom derivative rules](https://docs.jax.dev/en/latest/notebooks/Custom_derivative_rules_for_Python_code.html)
    """

    code = "JAX1114"
    name = "unused-cotangent"
    category = "numerics"
    severity = Severity.WARNING

    @concerns(callees=("ExternalMethod",), methods=_RULES)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if not isinstance(callee, ExternalMethod) or callee.name not in _RULES or event.frame.is_in_test():
            return
        position, keyword, what = _RULES[callee.name]
        receiver = callee.receiver
        if not isinstance(receiver, Transformed):
            return
        rule = argument(event, position, keyword)
        if (
            not isinstance(rule, Function)
            or isinstance(rule.node, ast.Lambda)
            or rule.module is not event.frame.module
        ):
            return
        names = [parameter.arg for parameter in positional_parameters(rule.node)]
        if not names or rule.node.args.vararg is not None or names[-1].startswith("_"):
            return
        used = {node.id for node in walk(rule.node) if isinstance(node, ast.Name)}
        if names[-1] in used or "locals" in used:
            return
        gradient = _some_gradient(rule.node, takes_pair=callee.name == "defjvp")
        if gradient is not None:
            report(
                gradient,
                f"`{rule.name}` never reads `{names[-1]}`, so the gradient is wrong; multiply by it",
                reason=f"`{names[-1]}` {what} of `{receiver.label}`",
            )


def _some_gradient(function: ast.FunctionDef | ast.AsyncFunctionDef, takes_pair: bool) -> ast.AST | None:
    """The first `return` of a gradient that is not zero."""
    given = {
        dotted(target): statement.value
        for statement in nodes_of(function, ast.Assign)
        for target in statement.targets
    }
    for statement in nodes_of(function, ast.Return):
        if statement.value is None:
            continue
        parts = unpacked(statement.value)
        if takes_pair:
            parts = parts[1:]  # the value itself comes first
        if not all(_is_zero(part, given) for part in parts):
            return statement
    return None


def _is_zero(part: ast.expr, given: dict[str, ast.expr]) -> bool:
    """None, a zero, or what is made of zeros."""
    if isinstance(part, ast.Name):
        return part.id in given and _is_zero(given[part.id], {})
    if isinstance(part, ast.Constant):
        return not part.value
    if isinstance(part, (ast.Tuple, ast.List)):
        return all(_is_zero(each, given) for each in part.elts)
    return any(
        last_name(node) in _ZEROS for node in walk(part) if isinstance(node, (ast.Name, ast.Attribute))
    ) or (
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Mult)
        and any(_is_zero(side, given) for side in (part.left, part.right))
    )
