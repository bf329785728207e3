"""New state of a module, such as batch statistics, that nothing reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CallEvent, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, nodes_of
from jaxlint.api.values import Array, TupleValue, Value
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, unpacked
from jaxlint_rules.api._training import is_read, state_collection


class ModuleStateDropped(Rule):
    """The new state of a module is never read.

    ## What it does
    Finds the second result of `module.apply(variables, x, mutable=["batch_stats"])`, or of the
    `apply` of `hk.transform_with_state`, bound to a name that nothing reads. It is found through
    `jax.value_and_grad(..., has_aux=True)` and functions that return it, too. A differentiated loss
    that binds it to `_` is found if the file trains the model and no other call keeps the new
    state.

    ## Why is this bad?
    A linen or haiku module changes nothing in place: `apply` returns the new statistics. If they
    are dropped, the running mean and variance keep their initial values, 0 and 1, and the model
    normalizes wrongly when it is evaluated. A decoder's cache stays empty.

    ## Example
    ```python
    (loss, new_state), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads)
    ```

    ## Use instead
    ```python
    (loss, new_state), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=new_state["batch_stats"])
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    If the statistics should not change, as in a second forward pass, name the result `_` (another
    pass keeps it) or pass `mutable=False`.

    ## References
    - [Flax: batch normalization](https://flax-linen.readthedocs.io/en/latest/guides/training_techniques/batch_norm.html)
    """

    code = "JAX819"
    name = "module-state-dropped"
    category = "api"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.ignored: list[tuple[CallEvent, str]] = []  # losses that bind the new state to `_`
        self.keeping: set[Module] = set()  # files where some call keeps it

    @concerns(callees=("ExternalObject", "Transformed", "Function"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        statement = event.assignment()
        if not isinstance(event.result, TupleValue):
            return
        if statement is None or statement.value is not event.node or len(statement.targets) != 1:
            module = event.frame.module
            taken = isinstance(module.parents.get(event.node), ast.Subscript)  # `net.apply(...)[0]`
            if not taken and any(map(state_collection, event.result.elements())):
                self.keeping.add(module)
            return
        if event.frame.is_in_test():
            return
        for name, collection in _states(statement.targets[0], event.result):
            if name == "_" and _is_differentiated(event.result):
                self.ignored.append((event, collection))
            elif is_read(name, event.frame.owner):
                self.keeping.add(event.frame.module)
            elif not name.startswith(("_", "unused")) and not _is_the_last(event, statement):
                self.tell(event, name, collection, report)
                return

    def finish(self, report: Reporter) -> None:
        for event, collection in self.ignored:
            if event.frame.module not in self.keeping and _trains(event.frame.module.tree):
                report.event = event
                self.tell(event, "_", collection, report)

    @staticmethod
    def tell(event: CallEvent, name: str, collection: str, report: Reporter) -> None:
        report(
            event.node,
            f"`{name}`, the new `{collection}`, is never read, so the old one is kept; return it with the state",
            reason="`apply` returns the new state and changes nothing in place",
        )


@cache
def _trains(tree: ast.Module) -> bool:
    """Whether a file applies updates to parameters, and does not just take a gradient."""
    return any(
        (isinstance(part, ast.Attribute) and part.attr in ("apply_updates", "apply_gradients"))
        or (isinstance(part, ast.Call) and _steps_by_hand(part))
        for part in ast.walk(tree)
    )


def _steps_by_hand(call: ast.Call) -> bool:
    """`jax.tree.map(lambda p, g: p - rate * g, params, grads)`."""
    if last_name(call.func) not in ("map", "tree_map") or len(call.args) < 3:
        return False
    step = call.args[0]
    return (
        isinstance(step, ast.Lambda)
        and isinstance(step.body, ast.BinOp)
        and isinstance(step.body.op, ast.Sub)
    )


def _is_differentiated(result: TupleValue) -> bool:
    """Whether a gradient flows through the outputs of the module."""
    return any(isinstance(part, Array) and part.flow is not None for part in result.elements())


def _is_the_last(event: CallEvent, statement: ast.Assign) -> bool:
    """Whether nothing reads the variables again that the body bound for this call: no later call needs the new state."""
    call, owner = event.node, event.frame.owner
    given = call.args[0] if isinstance(call, ast.Call) and call.args else None
    if not isinstance(given, ast.Name) or event.frame.loops or isinstance(owner, ast.Lambda):
        return False
    bound = [part for part in nodes_of(owner, ast.Name) if part.id == given.id]
    later = [part for part in bound if part.lineno > (statement.end_lineno or statement.lineno)]
    first = min(later, key=lambda part: (part.lineno, part.col_offset), default=None)
    binds = any(isinstance(part.ctx, ast.Store) for part in bound)
    return binds and (first is None or isinstance(first.ctx, ast.Store))


def _states(target: ast.expr, value: Value) -> Iterator[tuple[str, str]]:
    """The names bound to a module's new state, each with its collection."""
    if isinstance(target, ast.Name):
        collection = state_collection(value)
        if collection:
            yield target.id, collection
    elif isinstance(value, TupleValue) and value.items is not None:
        parts = unpacked(target)
        if len(parts) == len(value.items) and not any(isinstance(part, ast.Starred) for part in parts):
            for part, item in zip(parts, value.items, strict=True):
                yield from _states(part, item)
