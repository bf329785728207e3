"""Optimizer states that are discarded or reset at every step."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import FunctionNode, all_parameters, dotted, nodes_of, unread_results
from jaxlint.api.values import ExternalMethod, ExternalObject
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, names_in, passed, unpacked
from jaxlint_rules.api._training import is_optimiser_update, is_read, targets_of

_COUNTED = re.compile(r"epoch|step|iter|batch|^_$|^i$|^t$")
_STATELESS = (
    "optax.sgd",
    "optax.scale",
    "optax.clip",
    "optax.clip_by_global_norm",
    "optax.set_to_zero",
    "optax.identity",
)


class OptimizerStateDropped(Rule):
    """The new optimizer state is discarded or reset at every step.

    ## What it does
    Finds `updates, _ = optimizer.update(grads, opt_state)` in a loop, in a function that returns
    the old state, and in a step that gets the state, applies the updates and returns no state,
    also where the step binds its own name for the state to the new one, `updates, opt_state = ...`.
    Also finds `opt_state = optimizer.init(params)` in a loop over epochs or steps that keeps
    updating `params`.

    ## Why is this bad?
    Momentum, moments and step counts keep their initial values: Adam repeats its first step, and
    schedules do not advance. No exception is raised; training is only worse.

    ## Example
    ```python
    for batch in batches:
        updates, _ = optimizer.update(grad(params, batch), opt_state)
        params = optax.apply_updates(params, updates)
    ```

    ## Use instead
    ```python
    for batch in batches:
        updates, opt_state = optimizer.update(grad(params, batch), opt_state)
        params = optax.apply_updates(params, updates)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if there is only one step. Optimizers without state are not reported.

    ## References
    - [optax: getting started](https://optax.readthedocs.io/en/latest/getting_started.html)
    """

    code = "JAX805"
    name = "optimizer-state-dropped"
    category = "api"
    severity = Severity.WARNING

    @concerns(callees=("ExternalMethod", "Unknown"), methods=("update", "init"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        self.check_init(event, report)
        if not is_optimiser_update(event) or report.module.is_test or event.frame.function is None:
            return
        if isinstance(event.callee, ExternalMethod) and isinstance(event.callee.receiver, ExternalObject):
            if _is_stateless(event.callee.receiver):
                return
        targets = targets_of(event.node, report.module)
        if len(targets) != 2 or not isinstance(targets[1], ast.Name) or not isinstance(event.node, ast.Call):
            return
        function, new = event.frame.function.node, targets[1].id
        known = isinstance(event.callee, ExternalMethod)
        given = event.node.args[1] if len(event.node.args) > 1 else None
        if isinstance(given, ast.Name) and new == given.id:
            if known and _is_lost(event.node, new, function):
                self.tell(event.node, new, report)
            return
        if not isinstance(given, ast.Name) or is_read(new, function):
            return
        stores = [
            part.lineno
            for part in ast.walk(function)
            if isinstance(part, ast.Name) and part.id == given.id and isinstance(part.ctx, ast.Store)
        ]
        loop = event.frame.in_loop()
        inside = loop is not None and not any(
            getattr(loop.node, "lineno", 0) < line <= (getattr(loop.node, "end_lineno", 0) or 0)
            for line in stores
        )
        returned = any(
            isinstance(part, ast.Return) and part.value is not None and given.id in _names(part.value)
            for part in ast.walk(function)
        )
        step = known and not stores and given.id in _parameters(function) and _applies(function)
        if inside or (returned and not stores) or step:
            self.tell(event.node, given.id, report)

    def tell(self, node: ast.AST, old: str, report: Reporter) -> None:
        report(
            node,
            f"the new optimizer state is discarded, so `{old}` never changes; keep it for the next step",
            reason="`update` returns the next state and changes nothing in place",
        )

    def check_init(self, event: CallEvent, report: Reporter) -> None:
        """`opt_state = optimizer.init(params)` in a loop that keeps updating `params`."""
        node, callee, frame = event.node, event.callee, event.frame
        if not isinstance(callee, ExternalMethod) or not isinstance(callee.receiver, ExternalObject):
            return
        if callee.name != "init" or not callee.receiver.name.startswith("optax.") or frame.is_in_test():
            return
        if _is_stateless(callee.receiver):
            return
        loop = frame.in_loop()
        if (
            loop is None
            or not isinstance(loop.node, ast.For)
            or not isinstance(node, ast.Call)
            or not node.args
        ):
            return
        params, counted = dotted(node.args[0]), ast.unparse(loop.node.target).lower()
        if not params or not _COUNTED.search(counted) or frame.is_conditional_in(loop):
            return
        stores = [
            part.lineno
            for statement in loop.node.body
            for part in ast.walk(statement)
            if isinstance(part, (ast.Name, ast.Attribute))
            and isinstance(part.ctx, ast.Store)
            and dotted(part) == params
        ]
        if stores and min(stores) > node.lineno and not _makes(callee.receiver, loop.node):
            report(
                node,
                f"`init` resets the optimizer state each iteration, but not `{params}`; call it once, before the loop",
                reason=f"the loop at line {loop.node.lineno} updates `{params}` and loses momentum, moments and step counts",
            )


def _makes(optimizer: ExternalObject, loop: ast.For) -> bool:
    """Whether each iteration is a stage of training with settings of its own, such as a learning rate from a list: it creates the
    optimizer too, and starts over."""
    settings = names_in(loop.target)
    return any(
        call is optimizer.node
        and any(isinstance(one, ast.Name) and one.id in settings for one in passed(call))
        for call in nodes_of(loop, ast.Call)
    )


def _is_lost(call: ast.AST, name: str, function: FunctionNode) -> bool:
    """Whether a step binds its parameter `name` to the new state and never reads it: the caller keeps the old state."""
    if name not in _parameters(function) or not _applies(function):
        return False
    return any(name in unread for made, unread in unread_results(function).items() if _gives(made, call))


def _gives(statement: ast.stmt, call: ast.AST) -> bool:
    return isinstance(statement, ast.Assign) and statement.value is call


def _parameters(function: FunctionNode) -> set[str]:
    return {parameter.arg for parameter in all_parameters(function)}


def _applies(function: FunctionNode) -> bool:
    """Whether a function computes new parameters from updates, and returns a value."""
    calls = (last_name(call.func) for call in nodes_of(function, ast.Call))
    return "apply_updates" in calls and any(part.value is not None for part in nodes_of(function, ast.Return))


def _is_stateless(optimiser: ExternalObject) -> bool:
    """Whether an optimizer keeps nothing from one step to the next."""
    return optimiser.name in _STATELESS and "momentum" not in optimiser.kwargs and len(optimiser.args) < 2


def _names(value: ast.expr) -> set[str]:
    parts = unpacked(value)
    return {dotted(part) for part in parts}
