"""Gradient transformations in an order that defeats their purpose."""

from __future__ import annotations

import re

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import OPTIMIZERS
from jaxlint.api.values import ExternalObject, Value, constant
from jaxlint.finding import Severity

_SCHEDULE = re.compile(r"^optax\.(schedules\.)?\w*(schedule|_decay)$")
_CLIPS = ("optax.clip", "optax.clip_by_global_norm", "optax.adaptive_grad_clip", "optax.clip_by_block_rms")


class OptaxChainOrder(Rule):
    """The parts of `optax.chain` are in the wrong order.

    ## What it does
    Finds `optax.chain(optax.adam(lr), optax.clip_by_global_norm(1.0))`, which clips after the
    optimizer, and chains of `scale_by_...` whose `optax.scale` or `optax.scale_by_schedule` has a
    positive factor.

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
                    reason=f"a chain applies its parts in order, so `{before[0][0]}` receives unclipped gradients",
                )
                return
        scales = [
            part
            for part in event.args
            if isinstance(part, ExternalObject) and part.name in ("optax.scale", "optax.scale_by_schedule")
        ]
        adaptive = (
            any(n.startswith("optax.scale_by_") for n in names)
            and "optax.scale_by_learning_rate" not in names
        )
        plain = all(
            n.startswith(("optax.scale", "optax.clip", "optax.add_", "optax.trace", "optax.centralize"))
            for n in names
        )
        if adaptive and scales and all(map(_is_positive, scales)) and plain:
            report(
                event.node,
                "this chain never negates its updates, so the loss grows; scale by a negative learning rate",
                reason=f"`{scales[0].name}` has a positive factor; `optax.adam` and the like negate the learning rate",
            )


def _is_positive(scale: ExternalObject) -> bool:
    """Whether a factor is a number above zero, or a schedule of optax from numbers that are not below."""
    given = [*scale.args, *scale.kwargs.values()]
    factor = given[0] if len(given) == 1 else None
    if scale.name == "optax.scale":
        number = constant(factor)
        return isinstance(number, (int, float)) and number > 0
    if not isinstance(factor, ExternalObject) or not _SCHEDULE.search(factor.name):
        return False
    numbers = [constant(part) for part in (*factor.args, *factor.kwargs.values())]
    return all(isinstance(number, (int, float)) and number >= 0 for number in numbers) and any(numbers)


def _makes_steps(name: str, value: Value) -> bool:
    if name in OPTIMIZERS or name == "optax.scale_by_learning_rate":
        return True
    if name == "optax.scale" and isinstance(value, ExternalObject) and value.args:
        factor = constant(value.args[0])
        return isinstance(factor, (int, float)) and abs(factor) < 0.5
    return False
