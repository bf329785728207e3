"""NumPy functions between JAX operations."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Event, Reporter, Rule, TracedArgumentEvent, concerns
from jaxlint.api.tables import ELEMENTWISE, NUMPY_DISPATCHES, OTHERS
from jaxlint.api.values import NumpyArray, Value
from jaxlint.finding import Severity
from jaxlint_rules._loops import host_loops

_EXPLICIT = frozenset({"array", "asarray", "copy", "ascontiguousarray"})


class NumpyRoundTrip(Rule):
    """NumPy computes on a JAX array between two JAX operations.

    ## What it does
    Finds `np.f(x)` on a JAX array outside `jit`, where `jnp.f` exists and the result goes back to
    JAX: in a loop, or from one jitted function to the next.

    ## Why is this bad?
    NumPy computes on the host. Python waits until the device has computed the array, copies it to
    the host, computes on one core, and copies the result back. `jnp.f` needs no host sync and no
    copy.

    ## Example
    ```python
    for _ in range(steps):
        x = jnp.dot(w, np.tanh(x))
    ```

    ## Use instead
    ```python
    for _ in range(steps):
        x = jnp.dot(w, jnp.tanh(x))
    ```

    ## Fix safety
    There is no automatic fix: NumPy computes in 64 bits if an operand has 64 bits.

    ## When not to fix
    Keep it if one step needs 64 bits, or if the data is small and the device is the CPU.

    ## References
    - [JAX: asynchronous dispatch](https://docs.jax.dev/en/latest/async_dispatch.html)
    """

    code = "JAX505"
    name = "numpy-round-trip"
    category = "transfer"
    severity = Severity.WARNING

    @concerns("jax.numpy.", "jax.lax.", "jax.nn.")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.frame.stage.staged or not host_loops(event.frame):
            return
        for value in event.args:
            self.check(event, value, event.name, report)

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        if not event.frame.stage.staged:
            self.check(event, event.value, event.transformed.label, report)

    def check(self, event: Event, value: Value, taker: str, report: Reporter) -> None:
        fetch = value.fetched if isinstance(value, NumpyArray) else None
        frame = event.frame
        if (
            fetch is None
            or frame.module.is_test
            or frame.guarded_in_loop()
            or not _is_here(fetch.node, event)
        ):
            return
        name = fetch.function.removeprefix("numpy.")
        if name in _EXPLICIT or fetch.function in NUMPY_DISPATCHES:
            return
        if name not in ELEMENTWISE and name not in OTHERS:
            return
        if fetch.jitted and frame.loops:
            return  # `host-sync-in-loop` reports it
        if not fetch.jitted and not frame.loops:
            return  # once, as in set-up code
        report(
            fetch.node,
            f"`np.{name}` copies the array to the host and its result back to the device; use `jnp.{name}`",
            reason=f"its input is {_what(fetch.jitted)}, and its result goes to `{_short(taker)}`",
        )


def _is_here(node: ast.AST, event: Event) -> bool:
    """Whether `node` is in the function, and in the innermost loop, of the event."""
    frame = event.frame
    inside = (
        frame.loops[-1].node if frame.loops else frame.function.node if frame.function is not None else None
    )
    return inside is not None and any(part is inside for part in frame.module.ancestors(node))


def _what(jitted: str) -> str:
    return f"a result of the jitted `{jitted}`" if jitted else "a JAX array"


def _short(name: str) -> str:
    return name.replace("jax.numpy.", "jnp.")
