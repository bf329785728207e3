"""Host loops that dispatch many array operations outside jit."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.api import Event, Frame, Loop, OperationEvent, Reporter, Rule
from jaxlint.api.syntax import dotted
from jaxlint.finding import Severity
from jaxlint_rules._cost import DISPATCH, level, runs, turns
from jaxlint_rules._eager import computes_only
from jaxlint_rules._programs import runs_on_host
from jaxlint_rules.recompilation._repeated import STEPS, carries, may_loop

_MANY = 6  # operations in an iteration
_OFTEN = 64  # iterations that are worth compiling


@dataclass(slots=True, eq=False)
class _Run:
    loop: Loop
    frame: Frame
    operations: set[ast.AST] = field(default_factory=set)
    # project functions called in the body that operate on arrays
    functions: set[ast.AST] = field(default_factory=set)


class MissingJit(Rule):
    """A loop dispatches many array operations outside jit.

    ## What it does
    Finds host loops of 64 iterations or more, in code that the program itself visibly runs or that
    does what no trace would (it reads a clock, shows progress, writes a file), that perform six or
    more array operations on the result of the last iteration and nothing else.
    Operations in the functions that the loop calls count too.

    ## Why is this bad?
    Outside `jit`, each operation is dispatched to the device on its own and writes its result to
    memory for the next to read. Inside `jit` they are one dispatch, and XLA fuses them. Eight
    operations on 1,000 numbers took over 20 times as long without `jit`, on a CPU. Inside
    `lax.fori_loop` the whole loop is one dispatch.

    ## Example
    ```python
    for _ in range(1000):
        x, v = leapfrog(x, v, dt)
    ```

    ## Use instead
    ```python
    @jax.jit
    def simulate(x, v, dt):
        return jax.lax.fori_loop(0, 1000, lambda _, state: leapfrog(*state, dt), (x, v))
    ```

    ## Fix safety
    There is no automatic fix: some arguments may have to be static. `jaxlint verify` compiles such
    functions and measures them.

    ## When not to fix
    Keep it if each iteration has another shape: compiling costs more than it saves. It is advice
    where the iterations, times their operations, are fewer than 20,000, which take a second.

    ## References
    - [JAX: just-in-time compilation](https://docs.jax.dev/en/latest/jit-compilation.html)
    """

    code = "JAX408"
    name = "missing-jit"
    category = "recompilation"
    severity = Severity.WARNING
    needs_whole_program = True
    cure = ("compile the step", 0)
    proof = "source"

    def __init__(self) -> None:
        self.loops: dict[ast.AST, _Run] = {}
        self.asked: tuple[Frame | None, bool] = (None, False)  # for the last frame: whether a program runs it

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        frame: Frame | None = event.frame
        if event.frame.stage.staged or not event.result.certain:
            return
        if frame is not self.asked[0]:
            self.asked = frame, runs_on_host(event.frame)
        if not self.asked[1]:
            return
        functions: set[ast.AST] = set()
        while frame is not None and not frame.stage.staged:
            for loop in frame.loops:
                if loop.kind == "for" and _often(loop, frame):
                    run = self.loops.setdefault(loop.node, _Run(loop, frame))
                    run.operations.add(event.operation.node)
                    run.functions |= functions
            if frame.function is not None:
                functions.add(frame.function.node)
            frame = frame.caller

    def finish(self, report: Reporter) -> None:
        told: set[ast.AST] = set()
        for node, run in sorted(self.loops.items(), key=lambda one: getattr(one[0], "lineno", 0)):
            frame = run.frame
            if not isinstance(node, ast.For) or told.intersection(frame.module.ancestors(node)):
                continue  # the outer loop is reported
            if run.loop.calls_jitted:
                continue  # heavy functions are probably compiled
            if not frame.module.reported or frame.module.is_test or len(run.operations) < _MANY:
                continue
            if not (carries(node) and may_loop(node)):
                continue
            if not all(map(computes_only, [*run.functions, *_without_appends(node)])):
                continue
            told.add(node)
            report.event = Event(node, frame)
            report(
                node.iter,
                f"the loop dispatches {len(run.operations)} operations per iteration; jit a `lax.fori_loop` or `lax.scan` instead",
                reason="the loop runs on the host, outside jit",
                severity=level(runs(frame, run.loop) * len(run.operations) * DISPATCH),
            )


def _often(loop: Loop, frame: Frame) -> bool:
    """Whether a loop runs many times: by its known length, or as one that counts steps."""
    if loop.trips is not None:
        return loop.trips >= _OFTEN
    counted = getattr(loop.node, "iter", None)
    text = ast.unparse(counted).lower() if isinstance(counted, ast.Call) else ""
    return "range(" in text and STEPS.search(text) is not None and turns(loop, frame) >= _OFTEN


def _without_appends(loop: ast.For) -> list[ast.stmt]:
    """The statements of the body without those that append a result: `states.append(state)`, whose list may be
    stacked."""
    kept = (statement.value if isinstance(statement, ast.Expr) else None for statement in loop.body)
    return [
        statement
        for statement, call in zip(loop.body, kept, strict=True)
        if not (isinstance(call, ast.Call) and dotted(call.func).endswith(".append"))
    ]
