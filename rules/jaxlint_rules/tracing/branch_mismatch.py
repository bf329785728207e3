"""Branches of `lax.cond` and `lax.switch` whose result types differ."""

from __future__ import annotations

from itertools import combinations

from jaxlint.api import BranchesEvent, Reporter, Rule
from jaxlint.finding import Severity
from jaxlint_rules.tracing._structures import changed_in_size, difference

MAX_COMPARED = 16  # branches


class BranchMismatch(Rule):
    """The branches of a conditional return different types.

    ## What it does
    Finds `lax.cond` and `lax.switch` whose branches certainly return different pytree structures
    (another number of results, other dict keys, `None` in one branch), dtypes or shapes.

    ## Why is this bad?
    XLA compiles all branches into one program, whose result has one type. JAX raises `TypeError`,
    whichever branch would run. Python numbers have types too: `0` and `0.0` differ.

    ## Example
    ```python
    lax.cond(ok, lambda x: x * 2.0, lambda x: 0, x)
    ```

    ## Use instead
    ```python
    lax.cond(ok, lambda x: x * 2.0, lambda x: jnp.zeros_like(x), x)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the code raises. Branches whose types are uncertain are not reported.

    ## References
    - [jax.lax.cond](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html)
    """

    code = "JAX112"
    name = "branch-mismatch"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    def on_branches(self, event: BranchesEvent, report: Reporter) -> None:
        if len(event.results) < 2 or event.is_guarded(convention=False):
            return
        for one, other in combinations(event.results[:MAX_COMPARED], 2):  # little may be known about each
            found = difference(one, other) or changed_in_size(one, other)
            if found:
                report(
                    event.node,
                    f"`{event.api}` raises TypeError: its branches return {found}",
                    reason="all branches must return the same pytree structure, shapes and dtypes",
                )
                return
