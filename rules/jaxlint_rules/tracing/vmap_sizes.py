"""Arguments of `vmap` whose mapped axes differ in size."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import constant, rows_of
from jaxlint.finding import Severity
from jaxlint_rules._callables import vmap_called


class VmapSizes(Rule):
    """`vmap` maps over axes of different sizes.

    ## What it does
    Finds calls of functions under `jax.vmap` in which two arguments have mapped axes of different,
    known sizes.

    ## Why is this bad?
    `vmap` maps all arguments together, so JAX raises
    `ValueError: vmap got inconsistent sizes for array axes to be mapped`. Usually one argument is
    shared by all rows and needs `None` in `in_axes`, or another of its axes is meant.

    ## Example
    ```python
    w = jnp.ones((8, 4))
    xs = jnp.ones((100, 8))
    y = jax.vmap(lambda w, x: x @ w)(w, xs)
    ```

    ## Use instead
    ```python
    y = jax.vmap(lambda w, x: x @ w, in_axes=(None, 0))(w, xs)
    ```

    ## Fix safety
    There is no automatic fix: only you know which argument is shared.

    ## When not to fix
    Always fix it: the code raises.

    ## References
    - [JAX: `jax.vmap`](https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html)
    """

    code = "JAX116"
    name = "vmap-sizes"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = vmap_called(event)
        if callee is None or len(event.args) < 2:
            return
        if event.is_caught() or event.is_guarded() or event.frame.is_chosen_by_kind():
            return
        axes = constant(callee.options["in_axes"]) if "in_axes" in callee.options else 0
        if not isinstance(axes, (int, tuple)) or (isinstance(axes, tuple) and len(axes) != len(event.args)):
            return
        sizes: dict[int, int] = {}
        for position, value in enumerate(event.args):
            axis = axes[position] if isinstance(axes, tuple) else axes
            size = rows_of(value, axis) if type(axis) is int else None
            if size is not None:
                sizes[position] = size
        if len(set(sizes.values())) > 1:
            (one, first), (two, second) = next(
                (a, b) for a in sizes.items() for b in sizes.items() if a[1] != b[1] and a[0] < b[0]
            )
            report(
                event.node,
                f"`vmap` of `{callee.label}` raises ValueError: arguments {one + 1} and {two + 1} have mapped axes of size {first} and {second}",
                reason=f"{callee.why.explain(report.module)}; `in_axes=None` shares an argument among the rows",
            )
