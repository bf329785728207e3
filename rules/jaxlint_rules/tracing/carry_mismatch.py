"""Loops whose carry changes its type."""

from __future__ import annotations

from jaxlint.api import CarryEvent, Reporter, Rule
from jaxlint.api.values import ListValue, TupleValue
from jaxlint.finding import Severity
from jaxlint_rules.tracing._structures import changed_in_size, describe, difference, kind_of


class CarryMismatch(Rule):
    """The carry of a loop changes its type.

    ## What it does
    Finds `lax.scan`, `lax.while_loop` and `lax.fori_loop` whose body certainly returns a carry of
    another structure, dtype or shape than the initial carry. Also finds bodies of `lax.scan` that
    do not return a pair `(carry, y)`.

    ## Why is this bad?
    JAX compiles the loop body once, for one carry type. It raises
    `TypeError: scan body function carry input and carry output must have equal types`, or the same
    for the other loops.

    ## Example
    ```python
    lax.scan(lambda total, x: (total + x.sum(), None), jnp.int32(0), xs)  # xs are floats
    ```

    ## Use instead
    ```python
    lax.scan(lambda total, x: (total + x.sum(), None), jnp.float32(0), xs)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the code raises. A Python number as initial carry is weakly typed and takes the
    wider dtype of the body's result (`0` may become a float), so it is not reported. Types that are
    uncertain are not reported either.

    ## References
    - [jax.lax.scan](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html)
    """

    code = "JAX113"
    name = "carry-mismatch"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        if event.is_guarded(convention=False):
            return
        result = event.result
        if event.api.endswith("scan"):
            if self.no_pair(event, report):
                return
            assert isinstance(result, (TupleValue, ListValue))
            if result.items is None or len(result.items) != 2:
                return
            result = result.items[0]
        found = difference(event.init, result, carry=True) or changed_in_size(event.carry, result)
        if found:
            report(
                event.node,
                f"`{event.api}` raises TypeError: its carry changes: {found}",
                reason="the loop compiles once, so the body must return a carry of the type it receives",
            )

    def no_pair(self, event: CarryEvent, report: Reporter) -> bool:
        """Whether the body of a scan does not, or may not, return a pair."""
        result = event.result
        kind = kind_of(result)
        pair = isinstance(result, (TupleValue, ListValue)) and len(result.items or ()) == 2
        if kind and not pair:
            report(
                event.node,
                f"the body of `{event.api}` returns {describe(result)}, which raises TypeError; return `(carry, y)`",
                reason="the first item is the next carry, the second is stacked; use None to stack nothing",
            )
        return not pair
