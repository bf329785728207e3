"""flax modules in training mode without the `rngs` or `mutable` that they need."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, ModuleRunEvent, Reporter, Rule, concerns
from jaxlint.api.values import DictValue, ExternalObject, Instance, Value, constant, is_none
from jaxlint.finding import Severity
from jaxlint_rules.api._written_collections import written_collections


class ModuleNeedsStreams(Rule):
    """A flax module is applied in training mode without `rngs` or `mutable`.

    ## What it does
    Finds `model.apply(variables, x, train=True)` if the call runs `nn.Dropout` with
    `deterministic=False` and passes no `rngs`, or runs `nn.BatchNorm` with
    `use_running_average=False` and passes no `mutable`. The layer may be in a submodule: the flag
    is followed through all calls. The same for the dropout of attention, `self.make_rng`,
    `nn.SpectralNorm`, and modules that write a variable of their own (`self.variable`) at each call.

    ## Why is this bad?
    Dropout needs a stream of PRNG keys: without `rngs` it raises `InvalidRngError`. Batch
    normalization writes new statistics: without `mutable` it raises `ModifyScopeVariableError`.

    ## Example
    ```python
    logits = model.apply(variables, x, train=True)
    ```

    ## Use instead
    ```python
    logits, changed = model.apply(
        variables, x, train=True, rngs={"dropout": key}, mutable=["batch_stats"]
    )
    ```

    ## Fix safety
    There is no automatic fix: the call needs a PRNG key.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [flax: dropout](https://flax-linen.readthedocs.io/en/latest/guides/training_techniques/dropout.html)
    """

    code = "JAX808"
    name = "module-needs-streams"
    category = "api"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self.told: set[ast.AST] = set()

    def on_module_run(self, event: ModuleRunEvent, report: Reporter) -> None:
        if event.is_caught() or report.module.is_test or "**" in event.kwargs:
            return
        for demand in event.demands:
            given = event.kwargs.get(demand.option)
            if demand.option == "rngs" and not _lacks_stream(given, demand.name):
                continue
            if demand.option == "mutable" and not _lacks_collections(given):
                continue
            because = f"{demand.switch}, and " if demand.switch else ""
            self.told.add(event.node)
            report(
                event.node,
                f"`{demand.layer}` in `{event.module.cls.name}` raises {demand.error}"
                f"{_MODE if demand.switch else ''}; pass `{demand.option}=`",
                reason=f"{because}the call passes no {_WHAT[demand.option]} `{demand.name}`",
                severity=None if demand.sure else Severity.WARNING,
            )
            return

    @concerns(callees=("ExternalObject",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if (
            not isinstance(callee, ExternalObject)
            or callee.name != "flax.linen.Module.apply"
            or not callee.args
        ):
            return
        module = callee.args[0]
        if not isinstance(module, Instance) or "method" in event.kwargs or "**" in event.kwargs:
            return
        if event.is_caught() or report.module.is_test or event.node in self.told:
            return
        mutable = event.kwargs.get("mutable")
        written = next(written_collections(module.cls), None)
        if written is not None and _lacks_collections(mutable):
            report(
                event.node,
                f"`{module.cls.name}` writes `{written}`: ModifyScopeVariableError; pass `mutable=[{written!r}]`",
                reason="the module assigns the `value` of a variable of that collection at each call",
            )


_MODE = " in training mode"
_WHAT = {"rngs": "stream", "mutable": "collection"}


def _lacks_collections(mutable: Value | None) -> bool:
    """Whether `mutable` lets the module write nothing."""
    return mutable is None or constant(mutable) in (None, False)


def _lacks_stream(rngs: Value | None, stream: str) -> bool:
    """Whether `rngs` certainly has neither the stream nor `params`, which flax takes in place of any other."""
    if rngs is None or is_none(rngs):
        return True
    if not isinstance(rngs, DictValue) or rngs.element is not None:
        return False
    return not {stream, "params"} & rngs.items.keys()
