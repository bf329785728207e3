"""Loops that copy the same data to the device in every iteration."""

from __future__ import annotations

import ast
import math

from jaxlint.api import CallEvent, Event, Frame, Loop, Reporter, Rule, TracedArgumentEvent, concerns
from jaxlint.api.syntax import dotted, name_loads, walk
from jaxlint.api.values import MISSING, Array, NumpyArray, Static, Value, least_size, short_source
from jaxlint.finding import Severity
from jaxlint_rules._cost import BANDWIDTH, DISPATCH, SYNC, is_plain, level, runs
from jaxlint_rules._loops import host_loops, loop_variables, rebound
from jaxlint_rules._main_loops import does_main_work, holds_loop
from jaxlint_rules._names import last_name
from jaxlint_rules._shown_results import lists_rows, shows_results
from jaxlint_rules.memory._sizes import size_of

_CONVERSIONS = frozenset({"jax.numpy.asarray", "jax.numpy.array"})
_SLIGHT = 1 << 14  # elements that travel with the call


class DevicePutInLoop(Rule):
    """The same data is copied to the device in every iteration.

    ## What it does
    Finds, in host loops, `jax.device_put(x)`, `jnp.asarray(x)` and `jnp.array(x)` of data that the
    loop does not change, and NumPy arrays from outside the loop that the loop passes to a jitted
    function.

    ## Why is this bad?
    The same data is copied to the device in every iteration. On a CPU, 20 steps of a matrix product
    took 1.6 times as long with a NumPy array of 16 MB as with a JAX array made before the loop. A
    step that reads part of the array took 4.4 ms instead of 5 us. Copies between host and GPU are
    slower still.

    ## Example
    ```python
    for _ in range(steps):
        w = step(w, jnp.asarray(features))
    ```

    ## Use instead
    ```python
    features = jnp.asarray(features)
    for _ in range(steps):
        w = step(w, features)
    ```

    ## Fix safety
    There is no automatic fix: the data would stay on the device as long as the loop runs.

    ## When not to fix
    Keep it if the function donates the buffer, so that each call needs a new one, or if the data is
    a few numbers. Reported as advice: loops that plot or print their results, loops over the items
    of a dict, loops that run a loop of steps in each iteration, as epochs do, and loops without
    evidence that the program trains, samples or evaluates in them, and copies whose size, times the
    number of iterations, is not seen to take a second.

    ## References
    - [JAX: `jax.device_put`](https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html)
    """

    code = "JAX503"
    name = "device-put-in-loop"
    category = "transfer"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.told: dict[ast.AST, ast.AST] = {}  # by loop: all that it copies is moved before it at once

    @concerns("jax.device_put", *_CONVERSIONS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if event.frame.stage.staged or not isinstance(node, ast.Call) or not node.args or not event.args:
            return
        value = event.args[0]
        if isinstance(value, Array) or (
            isinstance(value, Static) and (value.const is not MISSING or value.kind)
        ):
            return  # already on the device, or a number
        if event.name in _CONVERSIONS and not _is_data(value):
            return
        loop = _unchanging(node.args[0], node, event.frame)
        if loop is not None:
            self.tell(event, node.args[0], f"`{dotted(node.func)}`", loop, report)

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        value = event.value
        if event.frame.stage.staged or event.argument is None or not isinstance(value, NumpyArray):
            return
        if not value.fresh:
            return  # it may be a number
        if event.transformed.options.keys() & {"donate_argnums", "donate_argnames"}:
            return
        loop = _unchanging(event.argument, event.argument, event.frame)
        if loop is not None:
            self.tell(event, event.argument, f"calling `{event.transformed.label}`", loop, report)

    def tell(self, event: Event, data: ast.expr, what: str, loop: Loop, report: Reporter) -> None:
        node = data if isinstance(event, TracedArgumentEvent) else event.node
        line = getattr(loop.node, "lineno", "?")
        if self.told.setdefault(loop.node, node) is not node:
            return
        called = event.transformed.label if isinstance(event, TracedArgumentEvent) else ""
        shown = shows_results(loop.node) or lists_rows(loop.node) or _is_over_items(loop)
        felt = (
            not shown
            and not holds_loop(loop.node)
            and (
                _repeats(loop.node)  # a measurement contains the copies
                or (
                    does_main_work(loop, event.frame, called, around=False)
                    and level(runs(event.frame, loop) * _copying(event, data)) is None
                )
            )
        )
        report(
            node,
            f"{what} copies `{short_source(data)}` to the device each iteration; copy it once, before the loop",
            reason=f"the loop at line {line} does not change `{short_source(data)}`",
            severity=None if felt else Severity.INFO,
            shown=is_plain(_copying(event, data), event.frame, loop),
        )


def _copying(event: Event, data: ast.expr) -> float:
    """Seconds for one copy."""
    value = (
        event.value
        if isinstance(event, TracedArgumentEvent)
        else event.args[0]
        if isinstance(event, CallEvent)
        else None
    )
    size = max(
        size_of(data, event.frame.scope, event.frame.module), least_size(value) if value is not None else 0
    )
    # A small array travels with the call that takes it; of an unknown one the program waits for the data.
    started = 2 * DISPATCH if 0 < size < _SLIGHT else SYNC
    return started + (1.0 if math.isinf(size) else 4 * size / BANDWIDTH)


def _repeats(loop: ast.AST) -> bool:
    """`for _ in range(20):` repeats the same computation, as for a measurement."""
    read = {name.id for statement in getattr(loop, "body", []) for name in name_loads(statement)}
    return read.isdisjoint(loop_variables(loop))


def _is_over_items(loop: Loop) -> bool:
    """`for name, value in table.items()`: as many iterations as the dict has names."""
    iterable = getattr(loop.node, "iter", None)
    return isinstance(iterable, ast.Call) and last_name(iterable.func) in ("items", "keys", "values")


def _is_data(value: Value) -> bool:
    """A NumPy array that is known to be of some size."""
    return isinstance(value, NumpyArray) and not value.dtype.endswith("*")


def _unchanging(data: ast.expr, node: ast.AST, frame: Frame) -> Loop | None:
    """The innermost loop of the frame, if it runs `node` in each iteration and does not change `data`."""
    if frame.is_in_test() or not isinstance(data, (ast.Name, ast.Attribute)) or not dotted(data):
        return None
    loops = host_loops(frame)
    loop = loops[0] if loops else None
    if loop is None or loop is not frame.loops[-1] or frame.is_conditional_in(loop):
        return None
    text = loop.node
    root = dotted(data).partition(".")[0]
    if root in rebound(text) or root in loop_variables(text) or _may_change(text, dotted(data)):
        return None
    iterable = getattr(text, "iter", None)
    if iterable is not None and "devices" in ast.unparse(iterable):
        return None
    # If the call also takes the loop's counter or item, it is repeated for a reason: another device, a slice.
    others = [n.id for n in name_loads(node) if n.id != root]
    return None if any(name in loop_variables(text) or name in rebound(text) for name in others) else loop


def _may_change(loop: ast.AST, place: str) -> bool:
    """Whether the body writes into `place`, rebinds a part of it, or calls one of its methods."""
    root = place.partition(".")[0]
    for statement in getattr(loop, "body", []):
        for child in walk(statement):
            if isinstance(child, (ast.Subscript, ast.Attribute)) and isinstance(
                child.ctx, (ast.Store, ast.Del)
            ):
                written = dotted(child.value if isinstance(child, ast.Subscript) else child)
                if written == place or place.startswith(f"{written}.") or written.startswith(f"{place}."):
                    return True
            if isinstance(child, ast.Call):
                if isinstance(child.func, ast.Attribute) and dotted(child.func.value) in (place, root):
                    return True
                if any(keyword.arg == "out" and dotted(keyword.value) == place for keyword in child.keywords):
                    return True
    return False
