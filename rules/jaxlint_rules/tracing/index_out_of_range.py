"""Constant indices that are out of bounds."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array, out_of_range, shape_text, symbolic_shape
from jaxlint.finding import Severity


class IndexOutOfRange(Rule):
    """An index is out of bounds.

    ## What it does
    Finds `x[i]` with a constant index that is certainly out of bounds for its axis.

    ## Why is this bad?
    JAX does not raise `IndexError`. It clamps the index: an index beyond the end returns the last
    element, an index before the start returns the first, and the program computes with that value.

    ## Example
    ```python
    states = jnp.zeros((100, 6))
    last = states[100]
    ```

    ## Use instead
    ```python
    last = states[99]
    last = states[-1]
    ```

    ## Fix safety
    There is no automatic fix: only you know which element is meant.

    ## When not to fix
    If clamping is intended, say so with `jnp.take(x, i, mode="clip")` or
    `x.at[i].get(mode="clip")`.

    ## References
    - [JAX: out-of-bounds indexing](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing)
    """

    code = "JAX122"
    name = "index-out-of-range"
    category = "tracing"
    severity = Severity.WARNING
    follows_calls = True

    @concerns("getitem")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        array, index = event.operation.args[:2]
        if not isinstance(array, Array) or not array.certain or array.tree or array.role in ("ref", "key"):
            return
        shape = symbolic_shape(array)
        found = out_of_range(shape, index) if shape is not None else None
        if found is None or event.is_caught() or event.is_guarded(convention=False):
            return
        if event.frame.is_chosen_by_size() or shape is None:
            return
        number, axis, size = found
        if size == 0:
            return  # an empty array stands in for one that is set later
        report(
            event.node,
            f"index {number} is out of bounds: axis {axis} of shape {shape_text(shape)} has {size} elements; JAX clamps it",
            reason="JAX raises no IndexError: it returns the nearest element",
        )
