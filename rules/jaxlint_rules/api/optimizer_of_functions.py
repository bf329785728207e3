"""Optimizers initialized with a model that has functions among its leaves."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import OPTIMIZERS_WITH_MOMENTS
from jaxlint.api.values import (
    ExternalMethod,
    ExternalObject,
    Static,
    Value,
    constant,
    parts_of,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._pytrees import function_leaf

_TAKE_OTHERS = frozenset({"optax.chain", "optax.apply_if_finite", "optax.MultiSteps"})
_FILTERS = ("equinox.filter", "equinox.partition")


class OptimizerOfFunctions(Rule):
    """An optimizer receives a model that has functions among its leaves.

    ## What it does
    Finds `optim.init(model)` where `model` is an equinox module that holds a function, as
    `eqx.nn.MLP` holds its activation, and the optimizer creates an array for each leaf.

    ## Why is this bad?
    `optax.adam(...).init` calls `zeros_like` on each leaf. On a function that raises
    `TypeError: zeros_like requires ndarray or scalar arguments`.

    ## Example
    ```python
    model = eqx.nn.MLP(2, 1, 32, 2, key=key)
    opt_state = optim.init(model)
    ```

    ## Use instead
    ```python
    model = eqx.nn.MLP(2, 1, 32, 2, key=key)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [Equinox: training](https://docs.kidger.site/equinox/examples/mnist/)
    """

    code = "JAX816"
    name = "optimizer-of-functions"
    category = "api"
    severity = Severity.ERROR
    follows_calls = True

    def __init__(self) -> None:
        self.filtered: dict[int, Value] = {}  # models without their functions, by identity

    @concerns(*_FILTERS, callees=("ExternalMethod",), methods=("init",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if event.name in _FILTERS:
            for part in (event.result, *parts_of(event.result)):
                self.filtered[id(part)] = part
            return
        if not isinstance(callee, ExternalMethod) or callee.name != "init" or event.is_caught():
            return
        if not _has_moments(callee.receiver):
            return
        model = argument(event, 0, "params")
        if model is None or id(model) in self.filtered:
            return
        held = function_leaf(model)
        if held:
            report(
                event.node,
                "the optimizer gets functions, which raises TypeError; pass `eqx.filter(model, eqx.is_inexact_array)`",
                reason=f"{held} is a leaf of the model, and `zeros_like` accepts arrays only",
            )


def _has_moments(optimiser: Value) -> bool:
    if not isinstance(optimiser, ExternalObject):
        return False
    if optimiser.name == "optax.sgd":
        momentum = argument(optimiser, 1, "momentum")
        return isinstance(momentum, Static) and isinstance(constant(momentum), float)
    if optimiser.name in _TAKE_OTHERS:
        return any(_has_moments(part) for part in optimiser.args)
    return optimiser.name in OPTIMIZERS_WITH_MOMENTS
