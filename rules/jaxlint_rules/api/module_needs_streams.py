"""flax modules in training mode without the `rngs` or `mutable` that they need."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import MISSING, ClassValue, ExternalObject, Function, Instance, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name
from jaxlint_rules.api._written_collections import written_collections

# The option that switches a layer, the argument that it needs in training mode, and the exception without it.
_LAYERS = {
    "Dropout": ("deterministic", "rngs", "InvalidRngError"),
    "BatchNorm": ("use_running_average", "mutable", "ModifyScopeVariableError"),
}


class ModuleNeedsStreams(Rule):
    """A flax module is applied in training mode without `rngs` or `mutable`.

    ## What it does
    Finds `model.apply(variables, x, train=True)` if the module contains
    `nn.Dropout(deterministic=not train)` and the call passes no `rngs`, or contains
    `nn.BatchNorm(use_running_average=not train)` and the call passes no `mutable`; and modules that
    write a variable of their own (`self.variable`) at each call, without `mutable`.

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
        if event.is_caught() or report.module.is_test:
            return
        for layer, flag, negated in _switched(module.cls):
            value = constant(_argument(event, module.cls, flag))
            if not isinstance(value, bool) or value is MISSING:
                continue
            training = value if negated else not value
            _, needed, error = _LAYERS[layer]
            given = event.kwargs.get(needed)
            if training and (given is None or constant(given) in (None, False)):
                report(
                    event.node,
                    f"`nn.{layer}` in `{module.cls.name}` raises {error} in training mode; pass `{needed}=`",
                    reason=f"`{flag}` is {value}, and the call passes no `{needed}`",
                )
                return
        mutable = event.kwargs.get("mutable")
        written = next(written_collections(module.cls), None)
        if written is not None and (mutable is None or constant(mutable) in (None, False)):
            report(
                event.node,
                f"`{module.cls.name}` writes `{written}`: ModifyScopeVariableError; pass `mutable=[{written!r}]`",
                reason="the module assigns the `value` of a variable of that collection at each call",
            )


def _switched(cls: ClassValue) -> Iterator[tuple[str, str, bool]]:
    """Layers in `__call__` that an argument switches on: the layer, the argument, and whether it is negated."""
    call = cls.lookup("__call__")
    if not isinstance(call, Function):
        return
    for node in ast.walk(call.node):
        if isinstance(node, ast.Call):
            layer = last_name(node.func)
            option = _LAYERS.get(layer, ("", "", ""))[0]
            for keyword in node.keywords:
                value = keyword.value
                negated = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
                inner = value.operand if isinstance(value, ast.UnaryOp) else value
                if option and keyword.arg == option and isinstance(inner, ast.Name):
                    yield layer, inner.id, negated


def _argument(event: CallEvent, cls: ClassValue, name: str) -> Value | None:
    """The argument of an `apply` call for a parameter of `__call__`."""
    if name in event.kwargs:
        return event.kwargs[name]
    call = cls.lookup("__call__")
    if not isinstance(call, Function):
        return None
    names = [parameter.arg for parameter in call.node.args.args]
    position = names.index(name) if name in names else -1
    if 0 < position < len(event.args):
        return event.args[position]
    return call.defaults.get(name)
