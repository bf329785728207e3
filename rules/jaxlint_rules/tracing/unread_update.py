"""Updates of arrays that nothing reads."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Event, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import FunctionNode, all_parameters, cache, names_stored, nodes_of, unread_statements
from jaxlint.api.values import REDUCTIONS, Array, Operation
from jaxlint.finding import Severity
from jaxlint_rules._names import names_in, variable_given

_OF_FORM = frozenset(
    ["reshape", "astype", "asarray", "array", "ravel", "transpose", "squeeze", "expand_dims", "broadcast_to"]
)
# An item, a reduction, a key: none of them could replace the array.
_OF_OTHERS = _OF_FORM | REDUCTIONS | {"getitem", "norm", "take", "argsort", "sort"}
_UPDATES = ("jax.tree.map", "optax.apply_updates", "equinox.apply_updates", "equinox.tree_at")


class UnreadUpdate(Rule):
    """An updated array is never read.

    ## What it does
    Finds `w = w - lr * g`, `w += g` and similar updates after which the function never reads `w`,
    where `w` is a parameter, an item of a container, an attribute or a loop variable.

    ## Why is this bad?
    JAX arrays are immutable. The assignment binds the local name to a new array; the container,
    object or caller keeps the old one. In PyTorch and NumPy the same line, written in place,
    changes the container. Here the update is lost without an exception.

    ## Example
    ```python
    for name in params:
        w = params[name]
        w = w - lr * grads[name]
    return params
    ```

    ## Use instead
    ```python
    for name in params:
        params[name] = params[name] - lr * grads[name]
    return params
    ```

    ## Fix safety
    There is no automatic fix: only you know where the update belongs.

    ## When not to fix
    If the line is a leftover, delete it.

    ## References
    - [JAX: in-place updates](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#in-place-updates)
    """

    code = "JAX119"
    name = "unread-update"
    category = "tracing"
    severity = Severity.WARNING

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        self.check(event, report)

    @concerns(*_UPDATES)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        self.check(event, report)

    def check(self, event: Event, report: Reporter) -> None:
        function = event.frame.function
        if function is None:
            return
        # (In this order, since every operation comes here.)
        update = _updates(function.node).get(event.node)
        if update is None or event.frame.is_in_test():
            return
        statement, name = update
        source = _source_of(name, function.node)
        if not source or statement not in unread_statements(function.node):
            return
        if isinstance(statement, ast.AugAssign):
            result = event.result if isinstance(event, OperationEvent) else None
            if not isinstance(result, Array) or not result.certain or result.tree:
                return  # a NumPy array is modified in place
        if isinstance(event, OperationEvent) and _gives_another(event.operation):
            return  # other numbers, or another view of the same ones: left over, not an update
        report(
            statement,
            f"`{name}` is rebound to a new array that nothing reads; {source} keeps the old array",
            reason="JAX arrays are immutable: an update returns a new array and rebinds only the local name",
        )


def _gives_another(operation: Operation) -> bool:
    return operation.name in _OF_OTHERS or operation.full.startswith("jax.random.")


@cache
def _updates(function: FunctionNode) -> dict[ast.AST, tuple[ast.Assign | ast.AugAssign, str]]:
    """The statements that update a variable from its own value, each with the variable, by the nodes that compute it."""
    found: dict[ast.AST, tuple[ast.Assign | ast.AugAssign, str]] = {}
    for changed in nodes_of(function, ast.AugAssign):
        if isinstance(changed.target, ast.Name):
            found[changed] = found[changed.value] = changed, changed.target.id
    for given in nodes_of(function, ast.Assign):
        name = variable_given(given)
        if name and name in names_in(given.value):
            found[given.value] = given, name
    return found


def _unpacks(statement: ast.Assign, name: str) -> bool:
    """`x, edges = inputs`."""
    return any(
        isinstance(target, (ast.Tuple, ast.List)) and name in names_stored(target)
        for target in statement.targets
    )


@cache
def _source_of(name: str, function: FunctionNode) -> str:
    """The origin of a variable's value: a container, an object, a loop or the caller; "" if the function created it."""
    for statement in nodes_of(function, ast.Assign):
        if isinstance(statement.value, (ast.Subscript, ast.Attribute)):
            if any(isinstance(target, ast.Name) and target.id == name for target in statement.targets):
                return f"`{ast.unparse(statement.value)}`"
        if isinstance(statement.value, (ast.Name, ast.Attribute)) and _unpacks(statement, name):
            return f"`{ast.unparse(statement.value)}`"
    for loop in nodes_of(function, ast.For):
        if name in names_stored(loop.target):
            return f"`{ast.unparse(loop.iter)}`"
    if not any(parameter.arg == name for parameter in all_parameters(function)):
        return ""
    stores = [part for part in nodes_of(function, ast.Assign) if name in names_stored(part)]
    return "the caller" if len(stores) == 1 else ""
