"""Optimizer updates that are computed and never applied."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.finding import Severity
from jaxlint_rules.api._training import is_optimiser_update, is_read, targets_of


class UpdatesNotApplied(Rule):
    """The updates of an optimizer are never applied to the parameters.

    ## What it does
    Finds `updates, opt_state = optimizer.update(grads, opt_state)` in functions that never read
    `updates`.

    ## Why is this bad?
    The parameters never change, so nothing is learned. No exception is raised.

    ## Example
    ```python
    updates, opt_state = optimizer.update(grads, opt_state)
    return params, opt_state
    ```

    ## Use instead
    ```python
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if you only need the state, as in a warm-up of its statistics.

    ## References
    - [optax.apply_updates](https://optax.readthedocs.io/en/latest/api/apply_updates.html)
    """

    code = "JAX806"
    name = "updates-not-applied"
    category = "api"
    severity = Severity.WARNING

    @concerns(callees=("ExternalMethod", "Unknown"), methods=("update",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if not is_optimiser_update(event) or report.module.is_test or event.frame.function is None:
            return
        targets = targets_of(event.node, report.module)
        first = targets[0] if len(targets) == 2 else None
        if not isinstance(first, ast.Name) or first.id.startswith("_"):
            return
        if not is_read(first.id, event.frame.function.node):
            report(
                event.node,
                f"`{first.id}` is never applied, so the parameters never change; use `optax.apply_updates`",
                reason="`update` returns updates to add to the parameters and changes nothing in place",
            )
