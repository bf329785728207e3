"""Models that stay in evaluation mode in a training loop."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, passed
from jaxlint_rules._slices import calls_in

_TRAINING = re.compile(r"train|update|fit|optimi[sz]e|learn|backward|step$|^step")
_EVALUATING = re.compile(r"eval|test|valid|infer|predict|sample|acc")


class ModeLeftOn(Rule):
    """A model stays in evaluation mode while it is trained.

    ## What it does
    Finds `model.eval()` of an nnx module in a loop that also trains the model and never calls
    `model.train()`.

    ## Why is this bad?
    `eval` sets `deterministic` of dropout and `use_running_average` of batch normalization in the
    module itself. From the second iteration on, the model trains without dropout, and its
    statistics no longer change.

    ## Example
    ```python
    for epoch in range(epochs):
        for batch in train_set:
            train_step(model, optimizer, batch)
        model.eval()
        evaluate(model, test_set)
    ```

    ## Use instead
    ```python
    for epoch in range(epochs):
        model.train()
        for batch in train_set:
            train_step(model, optimizer, batch)
        model.eval()
        evaluate(model, test_set)
    ```
    Or evaluate a view of the model:
    `nnx.view(model, deterministic=True, use_running_average=True)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it. Loops whose training step sets the mode itself are not reported.

    ## References
    - [nnx.Module.eval](https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/module.html)
    """

    code = "JAX820"
    name = "mode-left-on"
    category = "api"
    severity = Severity.WARNING

    @concerns(where=lambda name: not name or name.startswith("flax."), methods=("eval",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node, frame = event.node, event.frame
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
            return
        model = dotted(node.func.value)
        if node.func.attr != "eval" or not model or frame.stage.staged or frame.is_in_test():
            return
        if not _has_nnx(report.module) or _says_train(report.module):
            return
        for loop in frame.loops:
            trained = _trains(loop.node, model)
            if trained is not None and not _ends_after(loop.node, node, report.module):
                report(
                    node,
                    f"`{model}` is still in evaluation mode when `{last_name(trained.func)}` trains it next; call `{model}.train()` before",
                    reason=f"the loop at line {getattr(loop.node, 'lineno', '?')} never switches back to training mode",
                )
                return


def _has_nnx(module: Module) -> bool:
    imports = [*nodes_of(module.tree, ast.Import), *nodes_of(module.tree, ast.ImportFrom)]
    return any("nnx" in ast.unparse(statement) for statement in imports)


def _says_train(module: Module) -> bool:
    """Whether a program sets the mode of training anywhere in a loop or a function that a loop may call."""
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "train"
        and not call.args
        and any(map(_may_repeat, module.ancestors(call)))
        for call in nodes_of(module.tree, ast.Call)
    )


def _may_repeat(around: ast.AST) -> bool:
    """A loop, or a function that trains; one that has loops may be called once, before which it sets the mode."""
    if not isinstance(around, ast.FunctionDef):
        return isinstance(around, (ast.For, ast.While))
    named = _TRAINING.search(around.name.lower()) and "main" not in around.name
    return bool(named) and not nodes_of(around, ast.For) and not nodes_of(around, ast.While)


def _trains(loop: ast.AST, model: str) -> ast.Call | None:
    """The call in a loop that trains the model."""
    for call in calls_in(loop):
        name = last_name(call.func).lower()
        if _TRAINING.search(name) and not _EVALUATING.search(name):
            if any(dotted(argument) == model for argument in passed(call)):
                return call
    return None


def _ends_after(loop: ast.AST, node: ast.AST, module: Module) -> bool:
    """Whether the loop is left where the mode is set: the statements after it end in `break` or `return`."""
    inner = node
    for above in module.ancestors(node):
        if above is loop:
            return False
        for block in (getattr(above, "body", None), getattr(above, "orelse", None)):
            if isinstance(block, list) and inner in block:
                if isinstance(block[-1], (ast.Break, ast.Return, ast.Raise)):
                    return True
        inner = above
    return False
