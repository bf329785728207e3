"""`module.apply(..., mutable=...)` whose pair is used as the output."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import MISSING, constant
from jaxlint.finding import Severity
from jaxlint_rules.api._training import targets_of

_ARRAY = (
    "shape",
    "dtype",
    "ndim",
    "mean",
    "sum",
    "argmax",
    "astype",
    "reshape",
    "max",
    "min",
    "T",
    "at",
    "squeeze",
)


class ApplyResultNotUnpacked(Rule):
    """The pair from `module.apply(..., mutable=...)` is used as an array.

    ## What it does
    Finds `y = model.apply(variables, x, mutable=["batch_stats"])` where `y` is then used as an
    array.

    ## Why is this bad?
    With `mutable`, `apply` returns the output and the updated collections. Arithmetic on the tuple
    raises `TypeError`, and the new statistics are lost.

    ## Example
    ```python
    logits = model.apply(variables, x, mutable=["batch_stats"])
    loss = (logits - y) ** 2
    ```

    ## Use instead
    ```python
    logits, changed = model.apply(variables, x, mutable=["batch_stats"])
    loss = (logits - y) ** 2
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the code raises.

    ## References
    - [flax: batch normalization](https://flax-linen.readthedocs.io/en/latest/guides/training_techniques/batch_norm.html)
    """

    code = "JAX807"
    name = "apply-result-not-unpacked"
    category = "api"
    severity = Severity.ERROR

    @concerns(
        where=lambda name: name.endswith("apply"),
        callees=(
            "BoundMethod",
            "ExternalMethod",
            "ExternalObject",
            "Unknown",
            "Array",
            "Choice",
            "Transformed",
        ),
        methods=("apply",),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
            or node.func.attr != "apply"
        ):
            return
        mutable = constant(event.kwargs.get("mutable"))
        if mutable is MISSING or not mutable or event.frame.function is None:
            return
        targets = targets_of(node, report.module)
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            return
        name, parents = targets[0].id, report.module.parents
        stores = 0
        used = False
        for part in ast.walk(event.frame.function.node):
            if isinstance(part, ast.Name) and part.id == name:
                parent = parents.get(part)
                stores += isinstance(part.ctx, ast.Store)
                used = used or isinstance(parent, (ast.BinOp, ast.UnaryOp))
                used = used or (isinstance(parent, ast.Attribute) and parent.attr in _ARRAY)
                if isinstance(parent, ast.Call) and parent.args and parent.args[0] is part:
                    used = used or dotted(parent.func).startswith(("jnp.", "jax.numpy.", "jax.nn."))
        if used and stores == 1:
            report(
                node,
                f"`{name}` is a pair: `apply` with `mutable` returns (output, variables); unpack it",
                reason="the call passes `mutable`",
            )
