"""Gradient transformations in an order that defeats their purpose."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import OPTIMIZERS
from jaxlint.api.values import ExternalObject, Value, constant
from jaxlint.finding import Severity

_CLIPS = ("optax.clip", "optax.clip_by_global_norm", "optax.adaptive_grad_clip", "optax.clip_by_block_rms")


class OptaxChainOrder(Rule):
    """The parts of `optax.chain` are in the wrong order.

    ## What it does
    Finds `optax.chain(optax.adam(lr), optax.clip_by_global_norm(1.0))`, which clips after the
    optimizer, and chains of `scale_by_...` whose `optax.scale` has a positive factor.

    ## Why is this bad?
    After the optimizer the chain holds updates, already scaled by the learning rate, not gradients:
    large gradients reach the moments unclipped. `apply_updates` adds the updates, so a chain
    without a negative factor increases the loss.

    ## Example
    ```python
    optimizer = optax.chain(optax.adam(1e-3), optax.clip_by_global_norm(1.0))
    ```

    ## Use instead
    ```python
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    ```

    ## Fix safety
    There is no automatic fix: it changes the training.

    ## When not to fix
    Keep it if you want to clip the updates.

    ## References
    - [optax.chain](https://optax.readthedocs.io/en/latest/api/combining_optimizers.html)
    """

    code = "JAX809"
    name = "optax-chain-order"
    category = "api"
    severity = Severity.WARNING

    @concerns("optax.chain")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name != "optax.chain" or report.module.is_test:
            return
        names = [part.name if isinstance(part, ExternalObject) else "" for part in event.args]
        for position, name in enumerate(names):
            before = [
                (n, v) for n, v in zip(names[:position], event.args, strict=False) if _makes_steps(n, v)
            ]
            if name in _CLIPS and before:
                report(
                    event.node,
                    f"`{name}` after `{before[0][0]}` clips the updates, not the gradients; put it first",
                    reason="a chain applies its parts in order, so large gradients reach the moments unclipped",
                )
                return
        scales = [
            part for part in event.args if isinstance(part, ExternalObject) and part.name == "optax.scale"
        ]
        factors = [constant(part.args[0]) if part.args else None for part in scales]
        adaptive = (
            any(n.startswith("optax.scale_by_") for n in names)
            and "optax.scale_by_learning_rate" not in names
        )
        known = all(isinstance(f, (int, float)) and f > 0 for f in factors)
        plain = all(
            n.startswith(("optax.scale", "optax.clip", "optax.add_", "optax.trace", "optax.centralize"))
            for n in names
        )
        if adaptive and factors and known and plain and "optax.scale_by_schedule" not in names:
            report(
                event.node,
                "this chain never negates its updates, so the loss grows; scale by a negative learning rate",
                reason="`optax.scale` has a positive factor; `optax.adam` and the like negate the learning rate",
            )


def _makes_steps(name: str, value: Value) -> bool:
    if name in OPTIMIZERS or name == "optax.scale_by_learning_rate":
        return True
    if name == "optax.scale" and isinstance(value, ExternalObject) and value.args:
        factor = constant(value.args[0])
        return isinstance(factor, (int, float)) and abs(factor) < 0.5
    return False
