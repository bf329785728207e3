"""New versions of a state that a function computes and does not use."""

from __future__ import annotations

from jaxlint.api import CallEvent, Event, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import TupleValue, Value
from jaxlint.finding import Severity
from jaxlint_rules.api._dead_states import dead_states
from jaxlint_rules.api._training import is_optimiser_update, state_collection

# Not methods of arrays: what others hear as well, and what is not resolved.
_CALLEES = ("Function", "BoundMethod", "Transformed", "ExternalObject", "Unknown")


class NewStateUnused(Rule):
    """A new state is computed, and the old one is used.

    ## What it does
    Finds variables that hold a newer version of something and that nothing reads but their own
    updates, while the function returns or uses the old version:

    - `new_state`, `next_state` or `state_new` beside a `state` that is returned;
    - `position = state.position + 1` in a function that returns `state` or `state.replace(...)`
      without it;
    - `fast = params`, updated in a loop, after which only `params` is used.

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

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        self.check(event, report)

    @concerns("jax.tree.map", "optax.apply_updates", "equinox.apply_updates", callees=_CALLEES)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        self.check(event, report)

    @staticmethod
    def check(event: Event, report: Reporter) -> None:
        function = event.frame.function
        if function is None:
            return
        found = dead_states(function.node).get(event.node)
        if found is None or event.frame.is_in_test():
            return
        if isinstance(event, CallEvent) and (is_optimiser_update(event) or _is_of_module(event.result)):
            return  # they have rules of their own
        report(
            event.node,
            f"`{found.name}` is computed and never used, but the old `{found.old}` is; use the new one",
            reason="arrays and pytrees are not updated in place",
        )


def _is_of_module(result: Value) -> bool:
    """Whether a module of flax or haiku returned the state."""
    parts = result.elements() if isinstance(result, TupleValue) else [result]
    return any(map(state_collection, parts))
