"""Trained parameters stored in bfloat16 or float16."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.values import dtype_named
from jaxlint.finding import Severity

_LOW = frozenset({"bfloat16", "float16"})
_GRADIENTS = frozenset({"grad", "value_and_grad"})


class LowPrecisionParameters(Rule):
    """Trained parameters are stored in bfloat16 or float16.

    ## What it does
    Finds flax layers created with `param_dtype=jnp.bfloat16` (or float16) in a program that takes
    gradients.

    ## Why is this bad?
    bfloat16 has 8 bits of precision: near 1.0 its numbers are 0.0078 apart, so an update of less
    than half of that is rounded away. After 1,000 updates of 0.001 a parameter that started at 1.0
    was still 1.0, where float32 gave 2.0. `dtype=jnp.bfloat16` computes in bfloat16 and keeps the
    parameters in float32.

    ## Example
    ```python
    nn.Dense(256, param_dtype=jnp.bfloat16)
    ```

    ## Use instead
    ```python
    nn.Dense(256, dtype=jnp.bfloat16)
    ```

    ## Fix safety
    There is no automatic fix: the dtypes of checkpoints change.

    ## When not to fix
    Keep it if the optimizer holds a float32 copy of the parameters, if it rounds stochastically, or
    if the model is only evaluated. The rule is in preview: it has had too few findings in open
    repositories to know how often it is right.

    ## References
    - [Micikevicius et al.: mixed precision training](https://arxiv.org/abs/1710.03740)
    """

    code = "JAX1006"
    name = "low-precision-parameters"
    category = "precision"
    severity = Severity.WARNING
    preview = True

    def __init__(self) -> None:
        self.found: list[tuple[CallEvent, str]] = []
        self.trains = False

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        self.trains = self.trains or event.transformed.kind in _GRADIENTS

    @concerns("flax.linen.", "flax.nnx.")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if "param_dtype" in event.kwargs and not event.frame.module.is_test:
            dtype = dtype_named(event.kwargs["param_dtype"])
            if dtype in _LOW:
                self.found.append((event, dtype))

    def finish(self, report: Reporter) -> None:
        for event, dtype in self.found if self.trains else ():
            report.event = event
            report(
                event.node,
                f"parameters in {dtype} lose small updates; use `param_dtype=float32` and compute in `dtype={dtype}`",
                reason=f"the program takes gradients, and {dtype} rounds the updates away",
            )
