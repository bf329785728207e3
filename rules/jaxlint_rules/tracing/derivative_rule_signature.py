"""Derivative rules that do not accept what JAX passes, or do not return what JAX needs."""

from __future__ import annotations

import ast

from jaxlint.api import DerivativeRulesEvent, ForwardResultEvent, Reporter, Rule
from jaxlint.api.syntax import nodes_of
from jaxlint.api.values import Array, Function, Transformed, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._signatures import Signature, signature_of


class DerivativeRuleSignature(Rule):
    """A custom derivative rule does not match its function.

    ## What it does
    Compares the rules of `jax.custom_vjp` and `jax.custom_jvp` with their function. It finds:

    - rules that do not accept the arguments that JAX passes: `fwd` gets those of the function,
      `bwd` gets the arguments in `nondiff_argnums`, the residuals and the cotangent, and a jvp rule
      gets the arguments in `nondiff_argnums`, the primals and the tangents;
    - a `fwd` that returns a tuple of another length than two, or an array alone;
    - a `bwd` that returns a tuple without one cotangent for each differentiated argument.

    ## Why is this bad?
    The function itself works, and so do its tests. The first gradient raises `TypeError` or
    `ValueError`.

    ## Example
    ```python
    @jax.custom_vjp
    def clip(x, low):
        return jnp.maximum(x, low)

    def clip_fwd(x, low):
        return clip(x, low), (x, low)

    def clip_bwd(residuals, g):
        x, low = residuals
        return (g * (x > low),)

    clip.defvjp(clip_fwd, clip_bwd)
    ```

    ## Use instead
    ```python
    @jax.custom_vjp
    def clip(x, low):
        return jnp.maximum(x, low)

    def clip_fwd(x, low):
        return clip(x, low), (x, low)

    def clip_bwd(residuals, g):
        x, low = residuals
        return g * (x > low), g * (x <= low)

    clip.defvjp(clip_fwd, clip_bwd)
    ```
    Return None for an argument without a gradient.

    ## Fix safety
    There is no automatic fix: only you know the missing gradient.

    ## When not to fix
    Always fix it: the gradient raises. Rules that are decorated, or take `*args`, are not compared.

    ## References
    - [JAX: custom derivative rules](https://docs.jax.dev/en/latest/notebooks/Custom_derivative_rules_for_Python_code.html)
    """

    code = "JAX125"
    name = "derivative-rule-signature"
    category = "tracing"
    severity = Severity.ERROR

    def on_derivative_rules(self, event: DerivativeRulesEvent, report: Reporter) -> None:
        t = event.transformed
        # The decorator that registers the rule does not change its signature.
        primal = signature_of(t.target, _decorators(t.target) - 1 if _is_decorated_by(t) else 0)
        fixed = _not_differentiated(t, primal) if primal is not None else None
        if primal is None or primal.more or fixed is None or event.is_caught():
            return
        count = len(primal.positional)
        wrong: tuple[Function, ast.AST, str] | None
        if "jvp" in event.rules:
            wrong = _uncallable(event.rules["jvp"], fixed + 2)
        else:
            fwd, bwd = event.rules.get("fwd"), event.rules.get("bwd")
            wrong = (
                _uncallable(fwd, count)
                or _uncallable(bwd, fixed + 2)
                or (None if event.symbolic else _returned(fwd, 2, "`(result, residuals)`"))
                or _returned(
                    bwd, count - fixed, f"a tuple of {count - fixed} cotangent{'s' * (count - fixed != 1)}"
                )
            )
        if wrong is not None:
            rule, place, message = wrong
            report(
                place if rule.module is event.frame.module else event.node,
                message,
                reason=f"it is a rule of `{t.label}`, which has {count} argument{'s' * (count != 1)}"
                + (f", {fixed} of them not differentiated" if fixed else ""),
            )

    def on_forward_result(self, event: ForwardResultEvent, report: Reporter) -> None:
        """A single array is neither a pair nor a tuple, whatever its length."""
        rule, result = event.rule, event.result
        if not isinstance(result, Array) or not result.certain or result.tree:
            return
        is_one = result.made is not None or bool(result.dtype)  # a tree has none itself
        if not is_one or not isinstance(rule, Function) or event.is_caught():
            return
        wanted = "a tuple with a cotangent for each argument" if event.backward else "`(result, residuals)`"
        report(
            rule.node if rule.module is event.frame.module else event.node,
            f"`{rule.name}` returns an array, which raises TypeError; return {wanted}",
            reason=f"it is a rule of `{event.transformed.label}`, for which JAX needs a {'tuple' if event.backward else 'pair'}",
        )


def _function(rule: Value | None) -> Function | None:
    return rule if isinstance(rule, Function) else None


def _decorators(value: Value) -> int:
    return (
        len(value.node.decorator_list)
        if isinstance(value, Function) and not isinstance(value.node, ast.Lambda)
        else 0
    )


def _is_decorated_by(t: Transformed) -> bool:
    """Whether the function gets its derivative rules from its only decorator."""
    return _decorators(t.target) == 1


def _not_differentiated(t: Transformed, primal: Signature) -> int | None:
    """How many arguments are passed to the rules apart from the others; None if unknown."""
    found: set[str] = set()
    for name in ("nondiff_argnums", "nondiff_argnames"):
        if name not in t.options:
            continue
        const = constant(t.options[name])
        entries = const if isinstance(const, (tuple, list)) else (const,)
        for entry in entries:
            if not isinstance(entry, (int, str)) or not primal.name_of(entry):
                return None
            found.add(primal.name_of(entry))
    return len(found) if found <= set(primal.positional) else None


def _uncallable(rule: Value | None, count: int) -> tuple[Function, ast.AST, str] | None:
    """The error that a rule cannot be called with as many arguments as JAX passes."""
    function = _function(rule)
    if function is None or _decorators(function) > 1:
        return None
    signature = signature_of(function, 0)
    wrong = signature.objection_to_count(count) if signature is not None else ""
    if not wrong:
        return None
    message = f"`{function.name}` gets {count} argument{'s' * (count != 1)} from JAX, which raises TypeError: it {wrong}"
    return function, function.node, message


def _returned(rule: Value | None, count: int, what: str) -> tuple[Function, ast.AST, str] | None:
    """The error that a rule returns tuples of another length than JAX needs."""
    function = _function(rule)
    if function is None or isinstance(function.node, ast.Lambda) or _decorators(function):
        return None
    statements = list(nodes_of(function.node, ast.Return))
    lengths = {
        len(value.elts)
        if isinstance(value, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in value.elts)
        else None
        for value in (statement.value for statement in statements)
    }
    length = lengths.pop() if len(lengths) == 1 else None
    if length is None or length == count:
        return None
    message = f"`{function.name}` returns a tuple of {length}, which raises TypeError; return {what}"
    return function, statements[0], message
