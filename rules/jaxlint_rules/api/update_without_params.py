"""Updates of optimizers that need the parameters, without them."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import OPTIMIZERS_OF_PARAMETERS
from jaxlint.api.values import ExternalMethod, ExternalObject, Value, is_none
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument

_NO_DEFAULT = frozenset({"optax.add_decayed_weights", "optax.scale_by_trust_ratio"})


class UpdateWithoutParams(Rule):
    """An optimizer that needs the parameters does not get them.

    ## What it does
    Finds `tx.update(grads, state)` where `tx` is an optimizer of optax that reads the parameters,
    such as `adamw`, `lion`, `lamb` or a `chain` with `add_decayed_weights`.

    ## Why is this bad?
    Weight decay and trust ratios are computed from the parameters. Without them `update` raises
    `ValueError` or `TypeError`.

    ## Example
    ```python
    tx = optax.adamw(1e-3)
    state = tx.init(params)
    updates, state = tx.update(grads, state)
    ```

    ## Use instead
    ```python
    tx = optax.adamw(1e-3)
    state = tx.init(params)
    updates, state = tx.update(grads, state, params)
    ```

    ## Fix safety
    There is no automatic fix: only you know where the parameters are.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [optax.add_decayed_weights](https://optax.readthedocs.io/en/latest/api/transformations.html#optax.add_decayed_weights)
    """

    code = "JAX821"
    name = "update-without-params"
    category = "api"
    severity = Severity.ERROR
    follows_calls = True

    @concerns(callees=("ExternalMethod",), methods=("update",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if not isinstance(callee, ExternalMethod) or callee.name != "update" or "**" in event.kwargs:
            return
        if event.is_caught() or event.is_guarded(convention=False) or not isinstance(event.node, ast.Call):
            return
        if any(isinstance(given, ast.Starred) for given in event.node.args) or len(event.args) < 2:
            return
        given = event.args[2] if len(event.args) > 2 else event.kwargs.get("params")
        if given is not None and not is_none(given):
            return
        reader = _reader_of_parameters(callee.receiver)
        if reader:
            # Of these alone, the third argument has no default.
            bare = given is None and getattr(callee.receiver, "name", "") in _NO_DEFAULT
            error = "TypeError" if bare else "ValueError"
            report(
                event.node,
                f"`{reader}` needs the parameters: `update` raises {error}; pass them as its third argument",
                reason="it decays or scales by the parameters themselves",
            )


def _reader_of_parameters(optimiser: Value, depth: int = 4) -> str:
    """The transformation in an optimizer that certainly reads the parameters; "" if there is none."""
    if not isinstance(optimiser, ExternalObject) or depth == 0:
        return ""
    if optimiser.name in OPTIMIZERS_OF_PARAMETERS:
        return optimiser.name
    if optimiser.name == "optax.chain":
        return next(filter(None, (_reader_of_parameters(part, depth - 1) for part in optimiser.args)), "")
    if optimiser.name == "optax.apply_if_finite":
        inner = argument(optimiser, 0, "inner")
        return _reader_of_parameters(inner, depth - 1) if inner is not None else ""
    return ""
