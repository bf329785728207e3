"""Clocks that stop before the device has finished."""

from __future__ import annotations

import ast
import dataclasses
import re

from jaxlint.api import ElapsedEvent, Frame, Reporter, Rule
from jaxlint.api.values import constant
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import last_name
from jaxlint_rules.benchmarking._regions import (
    COMPILING,
    DISPATCHING,
    common_frame,
    is_called_compiling,
    is_measurement,
    report_from,
    speaks_of,
    way_up,
)


class UnsyncedTiming(Rule):
    """A clock stops before the device finishes.

    ## What it does
    Follows clock readings (`time.perf_counter`, `time.time`, `timeit` ...). Finds differences of
    readings that span calls of jitted functions or large array operations without a host sync
    before the last reading: no `block_until_ready`, `float()`, `np.asarray`, `print` or similar.

    ## Why is this bad?
    JAX dispatches asynchronously: the call returns before the result exists. The measured time is
    that of the dispatch, often a hundredth of the real one. Differences between programs that it
    seems to show are noise.

    ## Example
    ```python
    start = time.perf_counter()
    y = step(x)
    print(time.perf_counter() - start)
    ```

    ## Use instead
    ```python
    jax.block_until_ready(step(x))  # compiles
    start = time.perf_counter()
    jax.block_until_ready(step(x))
    print(time.perf_counter() - start)
    ```

    ## Fix safety
    Unsafe: the program then waits, and its measured times change, as intended. The fix wraps a call
    whose result is discarded in `jax.block_until_ready`. If the result has a name in the same
    function, it adds a `jax.block_until_ready` statement before the clock is read. Other cases have
    no automatic fix.

    ## When not to fix
    Keep it if you want to measure dispatch. Not reported: regions with a host sync after the first
    dispatch, differences that are only compared with a limit, and tests. A function that does not
    wait and that the same code times several times is told once.
    It is advice where a loop between the two readings makes at least 1000 calls: at most 35 of 1000
    were open at its end on a CPU (jax 0.10.2).

    ## References
    - [JAX: asynchronous dispatch](https://docs.jax.dev/en/latest/async_dispatch.html)
    - [JAX: benchmarking](https://docs.jax.dev/en/latest/benchmarking.html)
    """

    code = "JAX1401"
    name = "unsynced-timing"
    category = "benchmarking"
    severity = Severity.WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        self.told: dict[
            tuple[ast.AST | None, ast.AST], ast.AST
        ] = {}  # by the start of the clock and what it measures
        self.below: dict[
            tuple[ast.AST, ast.AST], ast.AST
        ] = {}  # by the code that reads the clock and what a function below it dispatches: where that is told

    def on_elapsed(self, event: ElapsedEvent, report: Reporter) -> None:
        if event.waited or not is_measurement(event, report):
            return
        dispatch = event.dispatches[-1]
        if self.told.setdefault((event.start.node, dispatch.node), event.node) is not event.node:
            return  # the same time read once more: one wait corrects both
        if speaks_of(event, DISPATCHING):
            return
        if all(d.first for d in event.dispatches) and speaks_of(event, COMPILING):
            return  # the host compiles before it dispatches
        if is_called_compiling(event):
            return
        found = common_frame(event, dispatch)
        if found is None or not report_from(report, *found):
            return
        frame, node = found
        if dispatch.frame is not frame:
            if self.below.setdefault((frame.owner, dispatch.node), node) is not node:
                return  # a function that does not wait, timed again: one wait in it corrects all
        line = getattr(dispatch.node, "lineno", "?")
        place = "" if dispatch.frame.module is frame.module else f"{dispatch.frame.module.display}:"
        where = f"at {place}{line}" if place else f"at line {line}"
        report(
            node,
            f"the clock stops before `{dispatch.label}` finishes; call `jax.block_until_ready` on its result first",
            reason=f"`{dispatch.label}` is dispatched {where}, and nothing blocks on its result",
            fix=_wait(event, frame, node, report),
            severity=Severity.INFO
            if _is_of_setup(event) or _is_of_many(node, *way_up(dispatch, frame)[-1])
            else None,
        )


_MANY = 1000


def _is_of_many(clock: ast.AST, frame: Frame, call: ast.AST) -> bool:
    """Whether a loop between the two readings makes so many calls that those which are still open when it ends hardly count: JAX
    lets the host run a few dozen ahead on a CPU."""
    module = frame.module
    around = [one for one in module.ancestors(call) if isinstance(one, ast.For)]
    return any(
        (_trips(one.iter, frame) or 0) >= _MANY
        for one in around
        if not any(above is one for above in module.ancestors(clock))
    )


def _trips(iterable: ast.expr, frame: Frame) -> int | None:
    """The length of `range(n)`, also below `tqdm`, if `n` is known."""
    if not isinstance(iterable, ast.Call) or not iterable.args:
        return None
    if last_name(iterable.func) != "range":
        return _trips(iterable.args[0], frame)
    bound = iterable.args[min(1, len(iterable.args) - 1)]
    while isinstance(bound, ast.BinOp) and isinstance(bound.op, (ast.Add, ast.Sub)):
        bound = bound.left  # `range(1, epochs + 1)`
    held = frame.value_of(bound.id) if isinstance(bound, ast.Name) else None
    number = bound.value if isinstance(bound, ast.Constant) else constant(held) if held is not None else None
    return number if type(number) is int else None


_SETS_UP = re.compile(r"initiali[sz]|set.?up|\bload|import", re.IGNORECASE)


def _is_of_setup(event: ElapsedEvent) -> bool:
    """Whether the statement that shows the time calls it the time of the set-up, so that it does not measure a function."""
    statement = next(
        (above for above in event.frame.module.ancestors(event.node) if isinstance(above, ast.stmt)), None
    )
    return isinstance(statement, ast.Expr) and _SETS_UP.search(ast.unparse(statement)) is not None


def _wait(event: ElapsedEvent, frame: Frame, node: ast.AST, report: Reporter) -> FixRequest | None:
    """Waits for the last call, if the function that reads the clock makes it."""
    dispatch = event.dispatches[-1]
    inner, call = way_up(dispatch, frame)[-1]
    by_timeit = (
        isinstance(report.module.parents.get(dispatch.node), ast.Lambda)
        and dispatch.frame.module is frame.module
    )
    if by_timeit:
        call = dispatch.node
    elif inner is not frame or isinstance(report.module.parents.get(node), ast.withitem):
        return None
    if not isinstance(call, ast.Call) or not isinstance(node, ast.expr):
        return None
    place = dataclasses.astuple(report.span(node))
    message = "Add `jax.block_until_ready`"
    return propose(report, call, "wait-before-clock", message, safe=False, clock=place)
