"""Measurements of Python's memory where device memory is meant."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, TracedMemoryEvent, concerns
from jaxlint.api.values import Array
from jaxlint.finding import Severity


class TracemallocForDeviceMemory(Rule):
    """Python's memory is measured instead of the device's.

    ## What it does
    Finds `tracemalloc.get_traced_memory()` and `tracemalloc.take_snapshot()` after JAX
    computations, and `sys.getsizeof` of a JAX array.

    ## Why is this bad?
    `tracemalloc` counts allocations of Python. JAX arrays live in buffers of the runtime, on the
    CPU too, and none of them is counted. `sys.getsizeof` returns the size of the Python object
    around the buffer: 696 bytes for an array of four million elements.

    ## Example
    ```python
    tracemalloc.start()
    y = forward(x).block_until_ready()
    _, peak = tracemalloc.get_traced_memory()
    ```

    ## Use instead
    ```python
    compiled = forward.lower(x).compile()
    print(compiled.memory_analysis())            # what the program needs
    print(jax.local_devices()[0].memory_stats()) # what is in use, on GPU and TPU
    ```
    The size of an array is `x.nbytes`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it to measure Python objects, such as those that tracing creates.

    ## References
    - [JAX: device memory profiling](https://docs.jax.dev/en/latest/device_memory_profiling.html)
    """

    code = "JAX1403"
    name = "tracemalloc-for-device-memory"
    category = "benchmarking"
    severity = Severity.WARNING

    def on_traced_memory(self, event: TracedMemoryEvent, report: Reporter) -> None:
        if event.frame.module.is_test:
            return
        dispatch = event.dispatches[-1]
        report(
            event.node,
            "`tracemalloc` does not see JAX buffers; use `jax.profiler` or `device.memory_stats()`",
            reason=f"line {getattr(dispatch.node, 'lineno', '?')} calls `{dispatch.label}` after `tracemalloc.start()`",
        )

    @concerns("sys.getsizeof")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if (
            event.callee.__class__.__name__ == "External"
            and getattr(event.callee, "name", "") == "sys.getsizeof"
        ):
            value = event.args[0] if event.args else None
            if isinstance(value, Array) and not value.tree and value.certain:
                report(
                    event.node,
                    "`sys.getsizeof` of a JAX array ignores its buffer; use `.nbytes`",
                    reason="the argument is a JAX array",
                )
