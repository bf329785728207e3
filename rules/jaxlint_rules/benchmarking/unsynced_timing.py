"""A clock is stopped before the device has finished."""

from __future__ import annotations

import ast
import dataclasses

from jaxlint.finding import FixRequest, Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import ElapsedEvent
from jaxlint.staging.frame import Frame
from jaxlint_rules._fixes import propose
from jaxlint_rules.benchmarking._regions import (
    COMPILING,
    DISPATCHING,
    common_frame,
    is_measurement,
    report_from,
    speaks_of,
)


class UnsyncedTiming(Rule):
    """A clock is stopped before the device has finished.

    ## What it does
    Follows clock readings (`time.perf_counter`, `time.time`, `timeit` ...) and finds those whose difference spans calls
    of jitted functions, or large array operations, while nothing waits for their results: no `block_until_ready`, no
    `float()`, `np.asarray`, `print` or the like before the clock is read again.

    ## Why is this bad?
    JAX returns as soon as the work is queued. The time measured is that of queueing it, often a hundredth of the real
    one, and differences between programs that it seems to show are noise.

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
    Unsafe: the program then waits, and its figures change, which is what is wanted of them. `jax.block_until_ready` goes
    around a call whose result is thrown away, or on a line of its own before the clock is read, where the result has a name in
    the same function. Anything else is for the author to say.

    ## When not to fix
    When the time of dispatching is what is measured. Regions in which anything waits for a result after the first
    dispatch, differences that are only compared with a limit, and tests are not reported.

    ## References
    - [JAX: asynchronous dispatch](https://docs.jax.dev/en/latest/async_dispatch.html)
    - [JAX: benchmarking](https://docs.jax.dev/en/latest/benchmarking.html)
    """

    code = "JAX1401"
    name = "unsynced-timing"
    category = "benchmarking"
    severity = Severity.WARNING
    fixable = "unsafe"
    examples = (
        Example(
            "a wait for the input, for the function, and one for the result",
            """
import time
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return x @ x

def by_input():
    x = jnp.ones((500, 500))
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    x.block_until_ready()
    print(time.perf_counter() - start)  # finding
    return y

def by_function():
    x = jnp.ones((500, 500))
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    jax.block_until_ready(step)
    print(time.perf_counter() - start)  # finding
    return y

def by_result():
    x = jnp.ones((500, 500))
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    y.block_until_ready()
    print(time.perf_counter() - start)
    return y

by_input()
by_function()
by_result()
""",
        ),
        Example(
            "a jitted call, a loop of them, a plain operation, timeit",
            """
import time
import timeit
from time import perf_counter as clock
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.sin(x) @ x

def once(x):
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    stop = time.perf_counter()  # finding
    return y, stop - start

def many(x):
    t0 = clock()
    for _ in range(100):
        x = step(x)
    print((clock() - t0) / 100)  # finding

def plain(n):
    a = jnp.ones((n, n))
    begin = time.time()
    b = jnp.dot(a, a)
    seconds = time.time() - begin  # finding
    return b, seconds

def by_timeit(x):
    return timeit.timeit(lambda: step(x), number=10)  # finding
""",
            """
import time
import timeit
from time import perf_counter as clock
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.sin(x) @ x

def once(x):
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    jax.block_until_ready(y)
    stop = time.perf_counter()  # finding
    return y, stop - start

def many(x):
    t0 = clock()
    for _ in range(100):
        x = step(x)
    jax.block_until_ready(x)
    print((clock() - t0) / 100)  # finding

def plain(n):
    a = jnp.ones((n, n))
    begin = time.time()
    b = jnp.dot(a, a)
    jax.block_until_ready(b)
    seconds = time.time() - begin  # finding
    return b, seconds

def by_timeit(x):
    return timeit.timeit(lambda: jax.block_until_ready(step(x)), number=10)  # finding
""",
        ),
        Example(
            "a timer of one's own, and helpers that are given the function",
            """
import time
import jax
import jax.numpy as jnp

class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.seconds = time.perf_counter() - self.start

def bench(fn, *args):
    fn(*args)
    t0 = time.perf_counter()
    for _ in range(10):
        out = fn(*args)
    return (time.perf_counter() - t0) / 10  # finding

def main():
    x = jnp.ones((512, 512))
    f = jax.jit(lambda x: x @ x)
    with Timer() as timer:  # finding
        f(x)
    print(bench(f, x), timer.seconds)

main()
""",
        ),
        Example(
            "waiting, in one way or another",
            """
import time
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(x):
    return jnp.sin(x) @ x

def wait(tree):
    return jax.tree.map(lambda leaf: leaf.block_until_ready(), tree)

def many(x, model, log):
    t0 = time.perf_counter()
    jax.block_until_ready(step(x))
    t1 = time.perf_counter()
    wait({"y": step(x)})
    t2 = time.perf_counter()
    y = np.asarray(step(x))
    t3 = time.perf_counter()
    loss = float(step(x).sum())
    t4 = time.perf_counter()
    log(step(x))
    t5 = time.perf_counter()
    return [t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4], y, loss

def training(x, batches):
    start = time.time()
    for i, batch in enumerate(batches):
        x = step(x + batch)
        if i % 100 == 0:
            print(i, float(x.sum()))
    return x, time.time() - start

def rate_limited(x, batches):
    last = time.time()
    for batch in batches:
        x = step(x + batch)
        if time.time() - last > 60:
            last = time.time()
    return x

def host_only(xs):
    start = time.perf_counter()
    total = sum(xs)
    return total, time.perf_counter() - start

def compiling(x):
    start = time.perf_counter()
    compiled = step.lower(x).compile()
    return compiled, time.perf_counter() - start

class Meter:
    def __init__(self):
        self.time = time.perf_counter()

    def log(self, step):
        now = time.perf_counter()
        print(step, now - self.time)
        self.time = now

def train(x):
    meter = Meter()
    meter.log(0)
    x = step(x)
    meter.log(1)
    return x
""",
        ),
    )

    def on_elapsed(self, event: ElapsedEvent, report: Reporter) -> None:
        if event.waited or not is_measurement(event, report):
            return
        dispatch = event.dispatches[-1]
        if speaks_of(event, DISPATCHING):
            return
        if all(d.first for d in event.dispatches) and speaks_of(event, COMPILING):
            return  # the host compiles before it dispatches
        found = common_frame(event, dispatch)
        if found is None or not report_from(report, *found):
            return
        frame, node = found
        line = getattr(dispatch.node, "lineno", "?")
        place = "" if dispatch.frame.module is frame.module else f"{dispatch.frame.module.display}:"
        where = f"at {place}{line}" if place else f"at line {line}"
        report(
            node,
            f"the clock is read before the device has finished `{dispatch.label}`: call `jax.block_until_ready` on its result first",
            reason=f"`{dispatch.label}` is dispatched {where}, and nothing waits for its result before the clock is read",
            fix=_wait(event, frame, node, report),
        )


def _wait(event: ElapsedEvent, frame: Frame, node: ast.AST, report: Reporter) -> FixRequest | None:
    """Waits for the last call, where the function that reads the clock makes it."""
    dispatch = event.dispatches[-1]
    call = dispatch.node
    inner = dispatch.frame
    while inner is not frame and inner.caller is not None and inner.call_node is not None:
        call, inner = inner.call_node, inner.caller
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
    message = "Wait for the result before the clock is read"
    return propose(report, call, "wait-before-clock", message, safe=False, clock=place)
