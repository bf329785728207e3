"""New versions of a state that a function computes and does not use."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Event, Loop, OperationEvent, Reporter, Rule, StagedReturnEvent, concerns
from jaxlint.api.syntax import FunctionNode, all_parameters, dotted, names_stored, nodes_of
from jaxlint.api.values import Array, Transformed, TupleValue, Value
from jaxlint.finding import Severity
from jaxlint_rules._names import unpacked
from jaxlint_rules.api._dead_states import dead_states, older_name
from jaxlint_rules.api._lost_states import lost_states, names_no_state
from jaxlint_rules.api._same_states import unchanged_states
from jaxlint_rules.api._training import is_optimiser_update, state_collection

# Not methods of arrays, since other rules handle these, and no unresolved names.
_CALLEES = ("Function", "BoundMethod", "Transformed", "ExternalObject", "Unknown")


class NewStateUnused(Rule):
    """A new state is computed, and the old one is used.

    ## What it does
    Finds variables that hold a newer version of something and that nothing reads but their own
    updates, while the function returns or uses the old version:

    - `new_state`, `next_state` or `state_new` beside a `state` that is returned;
    - `position = state.position + 1` in a function that returns `state` or `state.replace(...)`
      without it;
    - `fast = params`, updated in a loop, after which only `params` is used;
    - `_, state = step(params, state)` in a loop, where `step` returns new parameters first;
    - `params, opt_state = self.params, self.opt_state`, updated in a loop after which only
      `self.params` is set;
    - a training step that renews a state of a module and does not return it;
    - `x_new = step(x, u)` in a loop that changes neither `x` nor `u`;
    - `new = state.apply_gradients(...)` of which only `new.params` is read, while the old `state`
      is returned.

    ## Why is this bad?
    Functions on JAX arrays change nothing in place: they return the new state. If the function
    passes the old one on, statistics, counters, caches and adapted parameters keep their initial
    values. No exception is raised, and XLA removes the unused computation.

    ## Example
    ```python
    def step(model, state, x):
        loss, new_state = loss_fn(model, state, x)
        return loss, state
    ```

    ## Use instead
    ```python
    def step(model, state, x):
        loss, new_state = loss_fn(model, state, x)
        return loss, new_state
    ```

    ## Fix safety
    There is no automatic fix: only you know where the new state belongs.

    ## When not to fix
    If the new state is not wanted, name it `_`.

    ## References
    - [JAX: stateful computations](https://docs.jax.dev/en/latest/stateful-computations.html)
    """

    code = "JAX823"
    name = "new-state-unused"
    category = "api"
    severity = Severity.WARNING

    def __init__(self) -> None:
        # By compiled function: the results that are new parameters.
        self.updated: dict[ast.AST, dict[int, str]] = {}
        # Calls of compiled functions in loops, with what their results are bound to.
        self.steps: dict[ast.AST, tuple[CallEvent, ast.Assign, Loop]] = {}

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        """Which results have the shapes of a parameter, computed anew: `return new_params, new_state`."""
        if not isinstance(event.value, TupleValue) or not event.value.items:
            return
        given = {
            value.origin: name
            for name, value in event.parameters.items()
            if isinstance(value, Array) and value.origin is not None
        }
        for position, part in enumerate(event.value.items):
            like = part.like if isinstance(part, Array) and part.role != "grad" else None
            if like is not None and like.root() in given:
                self.updated.setdefault(event.transformed.node, {})[position] = given[like.root()]
        for position, name in _renewed(event.function.node).items():
            if name in event.parameters:
                self.updated.setdefault(event.transformed.node, {}).setdefault(position, name)

    def check_step(
        self, event: CallEvent, statement: ast.Assign, bound: frozenset[str], report: Reporter
    ) -> None:
        """`_, state = step(params, state)` in a loop: the new parameters are dropped, and the state goes on."""
        callee, node = event.callee, event.node
        if not isinstance(callee, Transformed) or not isinstance(node, ast.Call):
            return
        updated = self.updated.get(callee.node)
        if not updated:
            return
        targets = [dotted(part) for part in unpacked(statement.targets[0])]
        given = dict(zip(report.signature(callee.target), map(dotted, node.args), strict=False))
        goes_on = {name for name in given.values() if name} & set(targets)
        for position, name in updated.items():
            old = given.get(name, "")
            if not goes_on or not old or position >= len(targets) or targets[position] != "_":
                continue
            if old in targets or old in bound:
                continue
            report(
                node,
                f"the new `{old}` that `{callee.label}` returns is dropped, so each iteration starts from the old one; bind it",
                reason=f"the call assigns it to `_` and rebinds only {', '.join(f'`{one}`' for one in sorted(goes_on))}",
            )
            return

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        self.check(event, report)

    @concerns("jax.tree.map", "optax.apply_updates", "equinox.apply_updates", callees=_CALLEES)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if isinstance(event.callee, Transformed) and event.frame.loops and not event.frame.is_in_test():
            statement = event.assignment()
            if statement is not None and statement.value is event.node:
                self.steps[event.node] = event, statement, event.frame.loops[-1]
        self.check(event, report)
        if not _is_of_module(event.result):
            self.check_lost(event, report)

    @staticmethod
    def check_lost(event: CallEvent, report: Reporter) -> None:
        """A step that trains drops a state that it renews."""
        function = event.frame.function
        found = lost_states(function.node).get(event.node) if function is not None else None
        if found is None or event.frame.is_in_test():
            return
        where = f"is never assigned to `{found.old}`" if "." in found.old else "is lost"
        advice = "store it" if "." in found.old else "return it"
        report(
            event.node,
            f"the new `{found.name}` {where}, so each step starts from the old one; {advice}",
            reason="arrays and pytrees are not updated in place",
        )

    def finish(self, report: Reporter) -> None:
        """Runs once all results are known, including those of functions that are traced after a call."""
        loops: dict[ast.AST, dict[ast.Call, ast.Assign]] = {}
        for event, statement, loop in self.steps.values():
            report.event = event
            self.check_step(event, statement, names_stored(loop.node), report)
            if isinstance(event.node, ast.Call) and loop.trips != 1 and _is_pure(event):
                loops.setdefault(loop.node, {})[event.node] = statement
        for node, steps in loops.items():
            for call, (new, old) in unchanged_states(node, steps).items():
                report.event = self.steps[call][0]
                report(
                    call,
                    f"each iteration computes `{new}` from the same `{old}`; assign it to `{old}`",
                    reason="the loop changes none of the arguments, so the results are the same in each iteration",
                )

    @staticmethod
    def check(event: Event, report: Reporter) -> None:
        function = event.frame.function
        if function is None:
            return
        found = dead_states(function.node).get(event.node)
        if found is None or event.frame.is_in_test():
            return
        if isinstance(event, CallEvent) and (is_optimiser_update(event) or _is_of_module(event.result)):
            return  # they have their own rules
        report(
            event.node,
            f"`{found.name}` is computed but never used: later code reads the old `{found.old}`; use the new one",
            reason="arrays and pytrees are not updated in place",
        )


def _is_pure(event: CallEvent) -> bool:
    """Whether a call of a compiled function depends on its arguments alone. One with a key is for `key-reuse`."""
    callee = event.callee
    drawn = any(isinstance(given, Array) and given.role == "key" for given in event.args)
    return isinstance(callee, Transformed) and callee.kind in ("jit", "filter_jit", "pmap") and not drawn


def _renewed(function: FunctionNode) -> dict[int, str]:
    """The parameters that a function returns in a newer version, as their names say, by their place in its result."""
    results = [part.value for part in nodes_of(function, ast.Return)]
    if len(results) != 1 or not isinstance(results[0], ast.Tuple):
        return {}
    parameters = {parameter.arg for parameter in all_parameters(function)}
    names = {place: dotted(part) for place, part in enumerate(results[0].elts)}
    found = {
        place: name if name in parameters & names_stored(function) else older_name(name)
        for place, name in names.items()
    }
    return {place: name for place, name in found.items() if name in parameters and not names_no_state(name)}


def _is_of_module(result: Value, depth: int = 2) -> bool:
    """Whether a module of flax or haiku returned the state."""
    parts = result.elements() if isinstance(result, TupleValue) else [result]
    return any(map(state_collection, parts)) or (
        depth > 0 and any(_is_of_module(part, depth - 1) for part in parts if isinstance(part, TupleValue))
    )
