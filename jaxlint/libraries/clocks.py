"""time, timeit and tracemalloc: readings of clocks, and of host memory."""

from __future__ import annotations

from jaxlint.staging import events
from jaxlint.staging.evaluator.external_models import LibraryCall, calls
from jaxlint.staging.tracking.timing import CLOCKS, Timing
from jaxlint.staging.values import BoundMethod, Function, Partial, Static, Transformed, TupleValue, Value


@calls(*CLOCKS)
def read_clock(call: LibraryCall) -> Value:
    return call.machine.part(Timing).reading(call.node, call.frame, call.name)


@calls("timeit.timeit", "timeit.repeat")
def timeit(call: LibraryCall) -> Value:
    statement, setup = call.argument(0, "stmt"), call.argument(1, "setup")
    if isinstance(setup, Function):
        call.run(setup)
    if isinstance(statement, (Function, Partial, Transformed, BoundMethod)):
        start = call.machine.part(Timing).reading(call.node, call.frame, "timeit")
        call.run(statement)
        end = call.machine.part(Timing).reading(call.node, call.frame, "timeit")
        call.machine.part(Timing).elapsed(start, end, call.node, call.frame)
    return Static(kind="float")


@calls("tracemalloc.start", "tracemalloc.reset_peak")
def start_tracing(call: LibraryCall) -> Value:
    ledger = call.machine.ledger
    ledger.tracemalloc = ledger.serial
    return Static(None)


@calls("tracemalloc.get_traced_memory", "tracemalloc.take_snapshot")
def traced_memory(call: LibraryCall) -> Value:
    ledger = call.machine.ledger
    dispatches = ledger.since(ledger.tracemalloc) if ledger.tracemalloc is not None else []
    if dispatches:
        call.emit("traced_memory", events.TracedMemoryEvent(call.node, call.frame, dispatches))
    return TupleValue([Static(kind="int"), Static(kind="int")])
