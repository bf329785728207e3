"""A scan stacks values that it only reads."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.api import CarryEvent, Reporter, Rule
from jaxlint.api.values import Array, TupleValue, Value, parts_of
from jaxlint.finding import Severity

_DEPTH = 4


class StackedInput(Rule):
    """A scan stacks a value that never changes.

    ## What it does
    Finds bodies of `lax.scan` whose second result holds what they were given and did not change: a part of the carry that is
    passed on as it is, or the `xs` of the step.

    ## Why is this bad?
    What a step gives beside the carry is stacked, once for each step. Of parameters that the scan only reads that is as
    many copies as it has steps; of the `xs` it is what the caller has already.

    ## Example
    ```python
    def body(carry, _):
        params, h = carry
        h = jnp.tanh(h @ params["w"])
        return (params, h), (params, h)
    ```

    ## Use instead
    ```python
    def body(h, _):
        h = jnp.tanh(h @ params["w"])
        return h, h
    ```

    ## Fix safety
    There is no automatic fix: what the results are used for changes with it.

    ## When not to fix
    Where the stacked inputs are passed on with the results as one structure, and are small, as in a buffer of transitions.

    ## References
    - [jax.lax.scan](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html)
    """

    code = "JAX606"
    name = "stacked-input"
    category = "memory"
    severity = Severity.WARNING
    preview = True  # until its findings in real code have been read: docs/writing-rules.md

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        result = event.result
        if (
            event.xs is None
            or not isinstance(result, TupleValue)
            or result.items is None
            or event.frame.is_in_test()
        ):
            return
        if len(result.items) != 2:
            return
        carried, stacked = result.items
        kept = {id(leaf) for leaf in _leaves(event.carry)} & {id(leaf) for leaf in _leaves(carried)}
        read = {id(leaf) for leaf in _leaves(event.xs)}
        for leaf in _leaves(stacked):
            if id(leaf) in kept or id(leaf) in read:
                what = "a constant part of the carry" if id(leaf) in kept else "its own `xs`"
                report(
                    event.node,
                    f"`{event.api}` stacks {what} once per step; do not return it as output",
                    reason="the body returns in its second result what it received, unchanged",
                )
                return


def _leaves(value: Value, depth: int = _DEPTH) -> Iterator[Array]:
    if isinstance(value, Array):
        yield value
    elif depth > 0:
        for part in parts_of(value):
            yield from _leaves(part, depth - 1)
