"""Callbacks in each step of a compiled loop."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from jaxlint.api import CallEvent, CarryEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.finding import Severity
from jaxlint_rules._callables import function_in
from jaxlint_rules._cost import CALLBACK, is_plain, level, runs

_CALLBACKS = (
    "jax.debug.callback",
    "jax.debug.print",
    "jax.experimental.io_callback",
    "jax.pure_callback",
)
_LONG = 1000  # steps; fewer are what a program shows of itself


@dataclass(frozen=True, slots=True)
class _Loop:
    steps: int
    runs: float  # how often the program runs the whole loop
    large: bool  # whether numbers in the program alone show a large cost


class CallbackInLoop(Rule):
    """A compiled loop calls the host in each step.

    ## What it does
    Finds `jax.debug.callback`, `jax.debug.print`, `io_callback` and `pure_callback` in the body of
    a `lax.scan` or `lax.fori_loop` that is known to be long, under no `lax.cond`.

    ## Why is this bad?
    Before the next step, Python takes the interpreter lock and converts the arguments: 0.2 to 0.3
    ms for each step on a CPU (jax 0.10.2). A small step takes a few microseconds, so the callback
    is nearly all of the time.

    ## Example
    ```python
    def body(state, t):
        state = step(state)
        jax.debug.callback(log, t, energy(state))
        return state, None

    state, _ = jax.lax.scan(body, state, jnp.arange(10_000))
    ```

    ## Use instead
    ```python
    def body(state, t):
        state = step(state)
        return state, energy(state)

    state, energies = jax.lax.scan(body, state, jnp.arange(10_000))
    log(energies)
    ```
    Or call the host in few of the steps: `lax.cond(t % 1000 == 0, tell, lambda t, e: None, t, e)`.

    ## Fix safety
    There is no automatic fix: what the host does changes its order.

    ## When not to fix
    Keep it where a step takes long itself, as an epoch of training does, or where the host has to
    see each step as it happens. It is advice where the known steps, at 0.25 ms each, take less than
    a second.

    ## References
    - [JAX: external callbacks](https://docs.jax.dev/en/latest/external-callbacks.html)
    """

    code = "JAX509"
    name = "callback-in-loop"
    category = "transfer"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.calls: list[tuple[CallEvent, list[ast.AST]]] = []
        self.loops: dict[ast.AST, _Loop] = {}  # by the function of its body

    @concerns(*_CALLBACKS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        frame = event.frame
        if event.name not in _CALLBACKS or not frame.stage.staged or frame.is_in_test():
            return
        if frame.stage.within("cond") or event.is_guarded():
            return
        around = [frame, *frame.callers()]
        self.calls.append((event, [one.function.node for one in around if one.function is not None]))

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        body = function_in(event.body)
        if body is not None and event.steps is not None:
            loop = _Loop(event.steps, runs(event.frame), is_plain(event.steps * CALLBACK, event.frame))
            self.loops.setdefault(body.node, loop)

    def finish(self, report: Reporter) -> None:
        told: set[ast.AST] = set()
        for event, functions in self.calls:
            loops = [self.loops[one] for one in functions if one in self.loops]
            if not loops or not event.frame.module.reported:
                continue
            steps = math.prod(one.steps for one in loops)
            if steps < _LONG:
                continue
            innermost = next(one for one in functions if one in self.loops)
            if innermost in told:
                continue  # the loop is rewritten for all of its callbacks at once
            told.add(innermost)
            report.event = event
            name = dotted(event.node.func) if isinstance(event.node, ast.Call) else event.name
            report(
                event.node,
                f"`{name}` leaves the compiled loop in each of {steps} steps; return the values, or call it in few steps",
                reason="each call waits for Python, which takes longer than a small step",
                severity=level(steps * CALLBACK * loops[-1].runs),
                shown=loops[-1].large,
            )
