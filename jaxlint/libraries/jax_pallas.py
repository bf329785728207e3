"""jax.experimental.pallas: queries of the grid, and decorators that run the decorated function."""

from __future__ import annotations

from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made
from jaxlint.staging.transforms.controlflow import ControlFlow
from jaxlint.staging.values import UNKNOWN, Value


@calls("jax.experimental.pallas.program_id", "jax.experimental.pallas.load")
def grid_query(call: LibraryCall) -> Value:
    return call.array(call.inputs, name="the grid query")


@calls("jax.experimental.pallas.num_programs")
def grid_size(call: LibraryCall) -> Value:
    """A Python number, unless that axis of the grid is a tracer."""
    return UNKNOWN


@calls_of_made("pallas.when")
def when(call: LibraryCall) -> Value:
    """`@pl.when(condition)` runs the decorated function."""
    return call.run(call.args[0]) if call.args else call.opaque()


@calls_of_made("pallas.loop")
def loop(call: LibraryCall) -> Value:
    """`@pl.loop(lower, upper)` runs the decorated function with the index."""
    return (
        call.machine.part(ControlFlow).run_kernel_loop(call.made, call.args[0], call.node, call.frame)
        if call.args
        else call.opaque()
    )
