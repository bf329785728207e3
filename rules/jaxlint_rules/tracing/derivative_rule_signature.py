"""Derivative rules that do not accept what JAX passes, or do not return what JAX needs."""

from __future__ import annotations

import ast
import itertools
import math
from dataclasses import dataclass
from typing import TypeGuard

from jaxlint.api import DerivativeRulesEvent, ForwardResultEvent, Reporter, Rule
from jaxlint.api.syntax import nodes_of
from jaxlint.api.values import (
    Array,
    Function,
    Point,
    StarArgument,
    Transformed,
    TupleValue,
    UnclearNumberError,
    Value,
    constant,
    identity_of,
    shape_text,
    shapes_differ,
    symbolic_shape,
)
from jaxlint.finding import Severity
from jaxlint_rules._signatures import Signature, signature_of

_POINTS = 3


class DerivativeRuleSignature(Rule):
    """A custom derivative rule does not match its function.

    ## What it does
    Compares the rules of `jax.custom_vjp` and `jax.custom_jvp` with their function. It finds:

    - rules that do not accept the arguments that JAX passes: `fwd` gets those of the function,
      `bwd` gets the arguments in `nondiff_argnums`, the residuals and the cotangent, and a jvp rule
      gets the arguments in `nondiff_argnums`, the primals and the tangents;
    - a `fwd` that returns a tuple of another length than two, or an array alone;
    - a `bwd` that returns a tuple without one cotangent for each differentiated argument;
    - a `bwd` that returns a cotangent of another shape than its argument;
    - a `bwd` that returns the cotangents of two arguments in the wrong order: for random numbers
      each is the derivative by the other argument.

    ## Why is this bad?
    The function itself works, and so do its tests. The first gradient raises `TypeError` or
    `ValueError`. Cotangents of equal shapes in the wrong order give wrong gradients, and nothing
    raises.

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
        apart = _not_differentiated(t, primal) if primal is not None else None
        if primal is None or primal.more or apart is None or event.is_caught():
            return
        fixed = len(apart)
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
        rule, result = event.rule, event.result
        if event.backward and isinstance(rule, Function) and isinstance(result, TupleValue):
            self.check_cotangents(event, rule, result, report)
            return
        # A single array is neither a pair nor a tuple, whatever its length.
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

    def check_cotangents(
        self, event: ForwardResultEvent, rule: Function, result: TupleValue, report: Reporter
    ) -> None:
        """Compares each cotangent with its argument."""
        t = event.transformed
        primal = signature_of(t.target, _decorators(t.target) - 1 if _is_decorated_by(t) else 0)
        fixed = _not_differentiated(t, primal) if primal is not None else None
        primals, items = event.primals, result.items
        if primal is None or fixed is None or primals is None or items is None or event.is_caught():
            return
        names = [name for name in primal.positional if name not in fixed]
        if not len(names) == len(primals) == len(items) or any(isinstance(v, StarArgument) for v in items):
            return
        found = _misshapen(names, primals, items) or _swapped(event, names, primals, items)
        if found is not None:
            message, reason = found
            report(
                _place(rule) if rule.module is event.frame.module else event.node,
                f"`{rule.name}` {message}",
                reason=reason,
            )


def _place(rule: Function) -> ast.AST:
    """The only `return` of a rule, or the rule."""
    if isinstance(rule.node, ast.Lambda):
        return rule.node
    statements = list(nodes_of(rule.node, ast.Return))
    return statements[0] if len(statements) == 1 else rule.node


def _misshapen(names: list[str], primals: list[Value], items: list[Value]) -> tuple[str, str] | None:
    """The error that a cotangent certainly has another shape than its argument."""
    for name, argument, cotangent in zip(names, primals, items, strict=True):
        if not (_is_one(argument) and _is_one(cotangent)):
            continue
        wanted, given = symbolic_shape(argument), symbolic_shape(cotangent)
        if wanted is None or given is None or not shapes_differ(argument, cotangent):
            continue
        return (
            f"returns a cotangent of shape {shape_text(given)} for `{name}` of shape {shape_text(wanted)},"
            " which raises ValueError",
            f"a cotangent has the shape of its argument: sum it over the axes that broadcast `{name}`",
        )
    return None


def _is_one(value: Value) -> bool:
    """Whether it certainly is one array, whose shape can be compared."""
    return isinstance(value, Array) and value.certain and not (value.tree or value.mixed or value.role)


def _swapped(
    event: ForwardResultEvent, names: list[str], primals: list[Value], items: list[Value]
) -> tuple[str, str] | None:
    """The error that two cotangents are each the derivative by the other argument.

    The numbers are those of arrays with one element, at several random points. A rule may approximate a derivative on
    purpose, but not by that of another argument.
    """
    result, incoming = event.primal, event.cotangent
    if not (_may_be_one(result) and _may_be_one(incoming)):
        return None
    rows = [
        _Row(name, argument, cotangent)
        for name, argument, cotangent in zip(names, primals, items, strict=True)
        if _may_be_one(argument) and _may_be_one(cotangent)
    ]
    if len({identity_of(row.argument) for row in rows}) < len(rows):
        return None  # one array for two arguments: which of them a number belongs to is unknown
    pairs = list(itertools.combinations(rows, 2))
    for seed in range(_POINTS):
        point = Point(seed)
        for value in (incoming, *(row.argument for row in rows)):
            point.at(identity_of(value))
        pairs = [pair for pair in pairs if _is_swapped_at(point, result, incoming, *pair)]
    if not pairs:
        return None
    first, second = pairs[0]
    return (
        f"returns the cotangents of `{first.name}` and `{second.name}` in the wrong order; swap them",
        f"for random numbers, each is the derivative of `{event.transformed.label}` by the other argument",
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """An argument and its cotangent."""

    name: str
    argument: Array
    cotangent: Array


def _may_be_one(value: Value) -> TypeGuard[Array]:
    return isinstance(value, Array) and not (value.mixed or value.role)


def _is_swapped_at(point: Point, result: Array, incoming: Array, one: _Row, two: _Row) -> bool:
    try:
        scale = point.value(incoming)
        right = [scale * point.derivative(result, row.argument) for row in (one, two)]
        given = [point.value(row.cotangent) for row in (one, two)]
    except UnclearNumberError:
        return False
    return _close(given[0], right[1]) and _close(given[1], right[0]) and not _close(*right)


def _close(one: float, two: float) -> bool:
    return math.isclose(one, two, rel_tol=1e-4, abs_tol=1e-6)


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


def _not_differentiated(t: Transformed, primal: Signature) -> set[str] | None:
    """The arguments that are passed to the rules apart from the others; None if unknown."""
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
    return found if found <= set(primal.positional) else None


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
