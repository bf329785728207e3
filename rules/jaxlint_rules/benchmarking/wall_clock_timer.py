"""JAX computations timed with a wall clock."""

from __future__ import annotations

import ast

from jaxlint.api import ElapsedEvent, Reporter, Rule
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules.benchmarking._regions import is_measurement

_WALL_CLOCKS = ("time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow")


class WallClockTimer(Rule):
    """A JAX computation is timed with a clock that may jump.

    ## What it does
    Finds differences of `time.time()` or `datetime.now()` around calls of jitted functions.

    ## Why is this bad?
    The wall clock jumps when it is synchronized and may have a coarse resolution.
    `time.perf_counter()` is monotonic and has the resolution of the hardware. JAX calls often take
    microseconds.

    ## Example
    ```python
    start = time.time()
    step(x).block_until_ready()
    print(time.time() - start)
    ```

    ## Use instead
    ```python
    start = time.perf_counter()
    step(x).block_until_ready()
    print(time.perf_counter() - start)
    ```

    ## Fix safety
    Safe: all readings that are subtracted from each other become `time.perf_counter`, if the
    program does nothing else with them. Differences of `datetime` objects are not numbers and are
    not rewritten.

    ## When not to fix
    Keep it if the region takes seconds, or if you also need the time of day. The finding is advice
    (`info`) and off by default.

    ## References
    - [Python: time.perf_counter](https://docs.python.org/3/library/time.html#time.perf_counter)
    """

    code = "JAX1404"
    name = "wall-clock-timer"
    category = "benchmarking"
    severity = Severity.INFO
    fixable = "safe"

    def on_elapsed(self, event: ElapsedEvent, report: Reporter) -> None:
        clock = event.end.clock
        if clock not in _WALL_CLOCKS or not is_measurement(event, report):
            return
        fix = None
        if isinstance(event.start.node, ast.Call) and event.start.frame is event.frame:
            fix = propose(report, event.start.node, "forward-clock", "Use `time.perf_counter`", safe=True)
        report(
            event.node,
            f"`{clock}` may be coarse and may jump; use `time.perf_counter()`",
            reason=f"the timed region calls `{event.dispatches[0].label}`",
            fix=fix,
        )
