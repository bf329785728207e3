"""Conditionals whose two branches are the same."""

from __future__ import annotations

import ast

from jaxlint.api import BranchesEvent, Reporter, Rule
from jaxlint.api.values import Function, Value
from jaxlint.finding import Severity
from jaxlint_rules._purpose import FOR_NOW, says


class SameBranches(Rule):
    """Both branches of `lax.cond` are the same function.

    ## What it does
    Finds `lax.cond(p, f, f, x)`, and `lax.cond` with two lambdas of the same text.

    ## Why is this bad?
    The predicate has no effect. Probably one branch was meant to be another function.

    ## Example
    ```python
    u = jax.lax.cond(t % 2 == 0, relax, relax, u)
    ```

    ## Use instead
    ```python
    u = jax.lax.cond(t % 2 == 0, relax, sharpen, u)
    ```

    ## Fix safety
    There is no automatic fix: only you know which branch is wrong.

    ## When not to fix
    A branch may be a placeholder for now; a comment that says so (`for now`, `TODO`) silences the
    rule. Repeated branches of `lax.switch` are not reported, nor are two that only return what they
    get: the case for which there is nothing to do.

    ## References
    - [jax.lax.cond](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html)
    """

    code = "JAX120"
    name = "same-branches"
    category = "tracing"
    severity = Severity.WARNING

    def on_branches(self, event: BranchesEvent, report: Reporter) -> None:
        if not event.api.endswith("cond") or len(event.functions) != 2 or event.frame.is_in_test():
            return
        one, other = event.functions
        if _same(one, other) and not _does_nothing(one) and not says(event.frame, event.node, FOR_NOW):
            report(
                event.node,
                f"both branches of `{event.api}` are the same, so its predicate has no effect",
                reason="they are the same function, or lambdas with the same text",
            )


def _does_nothing(value: Value) -> bool:
    """Whether a function only returns what it gets: the case for which there is nothing to do, written down."""
    if not isinstance(value, Function):
        return False
    body = value.node.body
    if isinstance(body, list):
        last = body[-1]
        if not isinstance(last, ast.Return) or len(body) > 2:
            return False
        kept = last.value
    else:
        kept = body
    arguments = value.node.args
    return isinstance(kept, ast.Name) and kept.id in {
        one.arg for one in arguments.posonlyargs + arguments.args
    }


def _is_lambda(value: Value) -> bool:
    return isinstance(value, Function) and isinstance(value.node, ast.Lambda)


def _same(one: Value, other: Value) -> bool:
    if not isinstance(one, Function) or not isinstance(other, Function):
        return False
    if one.node is other.node:
        return one.scope is other.scope and not _is_lambda(one)
    return _is_lambda(one) and one.scope is other.scope and ast.dump(one.node) == ast.dump(other.node)
