"""jax.experimental.pallas: questions for the grid, and decorators that run what they decorate."""

from __future__ import annotations

from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made
from jaxlint.staging.transforms.controlflow import ControlFlow
from jaxlint.staging.values import UNKNOWN, Value


@calls("jax.experimental.pallas.program_id", "jax.experimental.pallas.load")
def grid_query(call: LibraryCall) -> Value:
    return call.array(call.inputs, name="the grid query")


@calls("jax.experimental.pallas.num_programs")
def grid_size(call: LibraryCall) -> Value:
    """A Python number, unless that axis of the grid is a traced value."""
    return UNKNOWN


@calls_of_made("pallas.when")
def when(call: LibraryCall) -> Value:
    """`@pl.when(condition)` runs the function that it decorates."""
    return call.run(call.args[0]) if call.args else call.opaque()


@calls_of_made("pallas.loop")
def loop(call: LibraryCall) -> Value:
    """`@pl.loop(lower, upper)` runs it with the index."""
    return (
        call.machine.part(ControlFlow).run_kernel_loop(call.made, call.args[0], call.node, call.frame)
        if call.args
        else call.opaque()
    )
