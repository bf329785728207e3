"""Assignment to attributes of frozen objects."""

from __future__ import annotations

import ast

from jaxlint.api import FieldStoreEvent, Reporter, Rule
from jaxlint.finding import Severity

_REPLACE = {
    "equinox.Module": "`eqx.tree_at(lambda m: m.{name}, {base}, value)`",
    "typing.NamedTuple": "`{base} = {base}._replace({name}=...)`",
    "flax.struct.dataclass": "`{base} = {base}.replace({name}=...)`",
    "flax.struct.PyTreeNode": "`{base} = {base}.replace({name}=...)`",
    "flax.training.train_state.TrainState": "`{base} = {base}.replace({name}=...)`",
    "chex.dataclass": "`{base} = {base}.replace({name}=...)`",
}
_ELSE = "`{base} = dataclasses.replace({base}, {name}=...)`"


class FrozenFieldAssignment(Rule):
    """An attribute of a frozen object is assigned.

    ## What it does
    Finds `state.x = value` and `state.x += value` where `state` is an instance of a frozen class: a
    `flax.struct.dataclass`, a `TrainState`, an `equinox.Module` outside its `__init__`, a
    `NamedTuple`, or a dataclass with `frozen=True`.

    ## Why is this bad?
    These objects are immutable so that JAX transformations can treat them as values. The assignment
    raises `FrozenInstanceError`, or `AttributeError` for a NamedTuple, inside and outside `jit`.

    ## Example
    ```python
    @flax.struct.dataclass
    class State:
        position: jax.Array

    def step(state, dt):
        state.position = state.position + dt
        return state
    ```

    ## Use instead
    ```python
    def step(state, dt):
        return state.replace(position=state.position + dt)
    ```
    Use `dataclasses.replace` for dataclasses, `._replace` for NamedTuples and `equinox.tree_at` for
    modules.

    ## Fix safety
    There is no automatic fix: every holder of the old object needs the new one.

    ## When not to fix
    Mutable objects (plain dataclasses, `chex.dataclass` without `frozen=True`, flax.nnx modules)
    and assignments in a constructor are not reported.

    ## References
    - [JAX: custom pytree nodes](https://docs.jax.dev/en/latest/custom_pytrees.html)
    """

    code = "JAX117"
    name = "frozen-field-assignment"
    category = "tracing"
    severity = Severity.ERROR

    def on_field_store(self, event: FieldStoreEvent, report: Reporter) -> None:
        if event.is_caught() or event.is_guarded() or not isinstance(event.node, ast.Attribute):
            return
        base = ast.unparse(event.node.value)
        instead = _REPLACE.get(event.reason, _ELSE).format(base=base, name=event.name)
        report(
            event.node,
            f"assigning `{base}.{event.name}` raises {_raised(event.reason)}; use {instead}",
            reason=f"`{event.cls.name}` is immutable: `{event.reason}`",
        )


def _raised(reason: str) -> str:
    return "AttributeError" if reason == "typing.NamedTuple" else "FrozenInstanceError"
