"""A module that is set to evaluation in a training loop, and never back."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, walk
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, passed

_TRAINING = re.compile(r"train|update|fit|optimi[sz]e|learn|backward|step$|^step")
_EVALUATING = re.compile(r"eval|test|valid|infer|predict|sample|acc")


class ModeLeftOn(Rule):
    """A model stays in evaluation mode while it is trained.

    ## What it does
    Finds `model.eval()` of an nnx module in a loop that also trains the model, and never calls `model.train()`.

    ## Why is this bad?
    `eval` sets `deterministic` of dropout and `use_running_average` of batch normalization in the module itself. It stays so: from the second iteration on
    the model is trained without dropout, and its statistics no longer change.

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
    Or evaluate another view of it: `nnx.view(model, deterministic=True, use_running_average=True)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Where the training step sets the mode itself, nothing is reported.

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
        if not _has_nnx(report.module) or _says_train(report.module.tree):
            return
        for loop in frame.loops:
            trained = _trains(loop.node, model)
            if trained is not None and not _ends_after(loop.node, node):
                report(
                    node,
                    f"`{model}` is still in evaluation mode when `{last_name(trained.func)}` trains it next; call `{model}.train()` before",
                    reason=f"the loop at line {getattr(loop.node, 'lineno', '?')} sets the mode once and never back",
                )
                return


def _has_nnx(module: Module) -> bool:
    return any(
        isinstance(statement, (ast.Import, ast.ImportFrom)) and "nnx" in ast.unparse(statement)
        for statement in walk(module.tree)
    )


def _says_train(tree: ast.AST) -> bool:
    """Whether a program sets the mode of training anywhere in a loop or a function that a loop may call."""
    calls = [
        node
        for node in walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "train"
        and not node.args
    ]
    repeated: set[int] = set()
    for owner in walk(tree):
        if isinstance(owner, (ast.For, ast.While)) or (
            isinstance(owner, ast.FunctionDef)
            and _TRAINING.search(owner.name.lower())
            and "main" not in owner.name
        ):
            if isinstance(owner, ast.FunctionDef) and any(
                isinstance(part, (ast.For, ast.While)) for part in walk(owner)
            ):
                continue  # before its loops it may be called once
            repeated.update(id(part) for part in walk(owner) if isinstance(part, ast.Call))
    return any(id(call) in repeated for call in calls)


def _trains(loop: ast.AST, model: str) -> ast.Call | None:
    """The call in a loop that trains the model."""
    for statement in getattr(loop, "body", []):
        for call in walk(statement):
            if not isinstance(call, ast.Call) or not any(
                dotted(argument) == model for argument in passed(call)
            ):
                continue
            name = last_name(call.func).lower()
            if _TRAINING.search(name) and not _EVALUATING.search(name):
                return call
    return None


def _ends_after(loop: ast.AST, node: ast.AST) -> bool:
    """Whether the loop is left where the mode is set: the statements after it end in `break` or `return`."""
    for statement in walk(loop):
        for body in (getattr(statement, "body", None), getattr(statement, "orelse", None)):
            if not isinstance(body, list) or statement is loop:
                continue
            if any(node is part for each in body for part in walk(each)):
                if isinstance(body[-1], (ast.Break, ast.Return, ast.Raise)):
                    return True
    return False
