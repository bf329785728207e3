"""Optimizers initialized with a model that has functions among its leaves."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import FunctionNode, cache, positional_parameters
from jaxlint.api.tables import OPTIMIZERS_WITH_MOMENTS
from jaxlint.api.values import (
    ExternalMethod,
    ExternalObject,
    Function,
    Static,
    Value,
    constant,
    parts_of,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._pytrees import function_leaf

_TAKE_OTHERS = frozenset({"optax.chain", "optax.apply_if_finite", "optax.MultiSteps"})
_MAPS = ("jax.tree.map", "jax.tree_util.tree_map")
_FILTERS = ("equinox.filter", "equinox.partition")


class OptimizerOfFunctions(Rule):
    """An optimizer, or a map, receives a model that has functions among its leaves.

    ## What it does
    Finds `optim.init(model)` where `model` is an equinox module that holds a function, as
    `eqx.nn.MLP` holds its activation, and the optimizer creates an array for each leaf. Also finds
    `jax.tree.map` with arithmetic on each leaf of such a model, as for an average of weights.

    ## Why is this bad?
    `optax.adam(...).init` calls `zeros_like` on each leaf. On a function that raises
    `TypeError: zeros_like requires ndarray or scalar arguments`. A function times a number raises
    `TypeError` as well.

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
    For a map, split the model by `eqx.partition(model, eqx.is_array)`, map over the arrays, and
    join both by `eqx.combine`.

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

    @concerns(*_FILTERS, *_MAPS, callees=("ExternalMethod",), methods=("init",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if event.name in _FILTERS:
            for part in (event.result, *parts_of(event.result)):
                self.filtered[id(part)] = part
            return
        if event.name in _MAPS:
            self.check_map(event, report)
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

    def check_map(self, event: CallEvent, report: Reporter) -> None:
        """`jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, average, model)`."""
        body = event.args[0] if event.args else None
        if not isinstance(body, Function) or "is_leaf" in event.kwargs or event.is_caught():
            return
        names = [parameter.arg for parameter in positional_parameters(body.node)]
        for name, tree in zip(names, event.args[1:], strict=False):
            held = function_leaf(tree) if id(tree) not in self.filtered else ""
            if held and name in _computed_with(body.node):
                report(
                    event.node,
                    "the map computes with functions, which raises TypeError; map over `eqx.filter(model, eqx.is_array)`",
                    reason=f"{held} is a leaf of the model, and a function is no number",
                    severity=Severity.WARNING,  # something else than a filter may have removed it
                )
                return


@cache
def _computed_with(function: FunctionNode) -> frozenset[str]:
    """The names that are operands of arithmetic in each call of a function, whatever its tests decide."""
    if isinstance(function, ast.Lambda):
        whole: ast.AST = function.body
    elif isinstance(function.body[-1], ast.Return) and len(function.body) == 1:
        whole = function.body[-1]
    else:
        return frozenset()
    if any(isinstance(part, (ast.IfExp, ast.BoolOp, ast.Lambda)) for part in ast.walk(whole)):
        return frozenset()
    return frozenset(
        side.id
        for part in ast.walk(whole)
        if isinstance(part, ast.BinOp)
        for side in (part.left, part.right)
        if isinstance(side, ast.Name)
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
