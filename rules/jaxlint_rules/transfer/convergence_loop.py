"""Host loops that test for convergence in every iteration."""

from __future__ import annotations

import ast

from jaxlint.api import (
    CallEvent,
    ConvertEvent,
    Event,
    Frame,
    Loop,
    OperationEvent,
    Reporter,
    Rule,
    TestEvent,
    TransformEvent,
    concerns,
)
from jaxlint.api.values import Array, BoundMethod, Transformed, Value, short_source
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._cost import DISPATCH, FELT, SYNC, runs
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import most_turns
from jaxlint_rules._main_loops import is_cheap
from jaxlint_rules.transfer._exits import exit_of, has_while_loop


class ConvergenceLoop(Rule):
    """A loop condition forces a host sync in every iteration.

    ## What it does
    Finds, outside `jit`, `while error > tolerance:` and `if error < tolerance: break` on arrays
    that the loop computes, and on numbers that it fetches for that, `error = float(...)`, where the
    loop does nothing but compute.

    ## Why is this bad?
    The condition is a host sync. In each iteration Python waits for the device to learn whether to
    go on, and the device waits for Python to dispatch the next iteration. `jax.lax.while_loop`
    makes the decision on the device. A fixed point of one number took 31 us per iteration as a
    Python loop around a jitted step, and 0.01 us as a `while_loop`, on a CPU.

    ## Example
    ```python
    while error > 1e-6:
        x, error = step(x)
    ```

    ## Use instead
    ```python
    def cond_fun(carry):
        _, error = carry
        return error > 1e-6

    def body_fun(carry):
        x, _ = carry
        return step(x)

    x, error = jax.lax.while_loop(cond_fun, body_fun, (x, error))
    ```

    ## Fix safety
    Unsafe: `lax.while_loop` requires each variable to keep its shape and dtype between iterations,
    and has no reverse-mode derivative. The fix rewrites a `while` loop as shown above, without the
    `float` and `.item()` that fetched its values. It also rewrites `while True` and loops over a
    range that have exactly one `break`.

    ## When not to fix
    Keep it if an iteration takes much longer than the host sync, if the result is differentiated in
    reverse mode, or if the step has side effects on the host. It is advice where the loop calls a
    jitted step that is not visibly a few operations, such as one of a simulation, and in a file of a
    project, unless the loop dispatches six operations or more in each iteration, which take a second.

    ## References
    - [JAX: `lax.while_loop`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html)
    """

    code = "JAX504"
    name = "convergence-loop"
    category = "transfer"
    severity = Severity.WARNING
    needs_whole_program = True
    fixable = "unsafe"

    def __init__(self) -> None:
        self.light: set[str] = set()  # jitted functions of a few operations
        self.long: set[ast.AST] = set()  # loops that call other jitted functions
        self.brief: set[ast.AST] = set()  # loops that a number in the program ends soon
        self.told: dict[ast.AST, tuple[Event, Loop, ast.expr, Array]] = {}  # by loop
        self.operations: dict[ast.AST, set[ast.AST]] = {}  # by loop: what it dispatches one by one

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        frame: Frame | None = event.frame
        while frame is not None and not frame.stage.staged:
            if frame.loops:
                self.operations.setdefault(frame.loops[-1].node, set()).add(event.operation.node)
                return
            frame = frame.caller

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        if "jit" in event.transformed.kind and is_cheap(event.transformed.target):
            self.light.add(event.transformed.label)

    @concerns(callees=("Transformed", "BoundMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee.function if isinstance(event.callee, BoundMethod) else event.callee
        if isinstance(callee, Transformed) and "jit" in callee.kind and callee.label not in self.light:
            frames = (event.frame, *event.frame.callers())
            self.long.update(loop.node for one in frames for loop in one.loops[-1:])

    def on_test(self, event: TestEvent, report: Reporter) -> None:
        self.check(event, event.value)

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        self.check(event, event.value)

    def check(self, event: Event, value: Value) -> None:
        frame = event.frame
        if not isinstance(value, Array) or value.staged:
            return
        if not value.jitted and (value.tree or not value.certain):
            return
        if frame.stage.staged or frame.module.is_test or not frame.loops:
            return
        found = exit_of(event)
        if found is None or found[0] is not frame.loops[-1].node:
            return
        loop, test = found
        if has_while_loop(frame):
            return  # the program contains both versions
        self.told.setdefault(loop, (event, frame.loops[-1], test, value))
        known = isinstance(loop, ast.While) and most_turns(loop, frame) > 0
        if known and runs(frame, frame.loops[-1]) * SYNC < FELT:
            self.brief.add(loop)

    def finish(self, report: Reporter) -> None:
        """Once all that a loop calls is known."""
        for loop, (event, run, test, value) in self.told.items():
            assert isinstance(loop, (ast.While, ast.For))
            report.event = event
            operations = len(self.operations.get(loop, ())) if loop not in self.long else 0
            made = (
                f"a result of the jitted `{value.jitted}`"
                if value.jitted
                else "an array that the loop computes"
            )
            report(
                test,
                "the loop condition forces a host sync each iteration; use `lax.while_loop`",
                reason=f"`{short_source(test)}` reads {made}"
                + (f"; an iteration dispatches {operations} operations" if operations >= _MANY else ""),
                fix=_as_while_loop(loop, test, report),
                severity=Severity.INFO if loop in self.long or loop in self.brief else None,
                # What a test fetches is under no trace, so all of the iteration runs operation by operation.
                shown=True
                if operations >= _MANY and _seconds(operations, run, event.frame) >= FELT
                else None,
            )


_MANY = 6  # operations in an iteration


def _seconds(operations: int, loop: Loop, frame: Frame) -> float:
    return runs(frame, loop) * (operations * DISPATCH + SYNC)


def _as_while_loop(loop: ast.While | ast.For, test: ast.expr, report: Reporter) -> FixRequest | None:
    """The fix of a `while`, or of a `break`; numbers that it fetches stay on the device."""
    message = "Use `lax.while_loop`"
    if isinstance(loop, ast.While) and loop.test is test:
        return propose(report, test, "while-to-while-loop", message, safe=False, host=True, numbers=True)
    return propose(report, test, "break-to-while-loop", message, safe=False, numbers=True)
