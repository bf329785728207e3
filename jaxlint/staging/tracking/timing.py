"""Clocks, and the computations that the host dispatches between two readings.

JAX returns before the device has finished. A ledger records, in order of evaluation, each dispatch and each host
sync, so the difference of two clock readings shows what was dispatched in between.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.staging import events
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.reach.assumed_calls import AssumedCalls
from jaxlint.staging.values import (
    Array,
    External,
    ExternalMethod,
    Function,
    Reading,
    Static,
    Transformed,
    Value,
    find_array,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.ledger import Ledger, identity, is_input
from jaxlint.syntax.facts import last_name
from jaxlint.syntax.memo import cache

CLOCKS = frozenset(
    {
        *(
            f"time.{name}"
            for name in ("time", "perf_counter", "monotonic", "time_ns", "perf_counter_ns", "monotonic_ns")
        ),
        "timeit.default_timer",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
    }
)
WAITING_CALLS = frozenset({"jax.block_until_ready", "jax.device_get", "jax.effects_barrier"})
_WAITING_WORDS = (
    "block_until_ready",
    "device_get",
    "synchronize",
    "barrier",
    "sync_global_devices",
    "allgather",
    "broadcast_one",
)


@cache
def _speaks_of_waiting(called: ast.expr) -> bool:
    name = last_name(called)
    return any(word in name for word in _WAITING_WORDS)


def _is_waiting_call(value: Value) -> bool:
    return type(value) is External and value.name in WAITING_CALLS


# Operations that are slow enough to be timed outside jit.
_HEAVY = frozenset(
    [
        "dot",
        "matmul",
        "einsum",
        "tensordot",
        "vdot",
        "inner",
        "outer",
        "sort",
        "argsort",
        "dot_general",
        "conv",
        "conv_general_dilated",
        "convolve",
    ]
)


def waits_for_function(args: list[Value]) -> bool:
    """Whether the program waits for the function itself, not for its result: `jax.block_until_ready(step)`."""
    return bool(args) and isinstance(args[0], (Function, Transformed))


class Timing(Part):
    """Tracks clocks and dispatches."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.assumed_calls = machine.part(AssumedCalls)

    ledger: Ledger

    def dispatch(self, node: ast.AST, frame: Frame, label: str, target: Transformed | None = None) -> None:
        if not frame.stage.staged:
            self.machine.ledger.add(node, frame, label, target)

    def dispatch_operation(self, name: str, result: Array, node: ast.AST, frame: Frame) -> None:
        """An array function outside a trace is dispatched too."""
        if not result.staged and not frame.stage.staged and (name in _HEAVY or name.startswith("linalg.")):
            self.machine.ledger.add(node, frame, name)

    def pass_to_unknown(self, inputs: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        """Something unknown receives these arguments: it may wait for arrays and call functions."""
        for value in inputs:
            if frame.stage.staged:
                self.assumed_calls.carries(value, frame.stage.why)
            if isinstance(value, Transformed):
                self.machine.ledger.calls.setdefault(identity(value), []).append(node)
            elif find_array(value, False) is not None:
                self.machine.ledger.settle()

    def note_waiting(self, node: ast.Call, callee: Value, args: list[Value]) -> None:
        """A call whose name, or that of a function argument, says that it waits for the device."""
        named = _speaks_of_waiting(node.func)
        if not named and not (External in map(type, args) and any(map(_is_waiting_call, args))):
            return
        if type(callee) is ExternalMethod and is_input(callee.receiver, node):
            return
        if type(callee) is not External or not waits_for_function(args):
            self.machine.ledger.settle()

    def elapsed(self, start: Reading, end: Reading, node: ast.AST, frame: Frame) -> Value:
        """The time between two clock readings."""
        suspended = frame.suspended
        if suspended is not None and start.serial < suspended < end.serial:
            self.machine.ledger.spans += 1
            return Static(kind="float")
        between = [d for d in self.machine.ledger.since(start.serial) if d.serial < end.serial]
        # In a loop, a wait before the first dispatch waits for the dispatches of the last iteration.
        waited = not between or end.settled > (start.serial if frame.loops else between[0].serial)
        if between:
            self.machine.emit("elapsed", events.ElapsedEvent(node, frame, start, end, between, waited))
        return Static(kind="float")

    def timed_body(self, spans: int, start: Reading, node: ast.expr, frame: Frame) -> None:
        """The end of a `with` whose generator reads a clock before and after its body."""
        if self.machine.ledger.spans > spans:
            end = self.reading(node, frame)
            self.elapsed(start, end, node, frame)

    def reading(self, node: ast.AST, frame: Frame, clock: str = "") -> Reading:
        """The clock reading at this point."""
        ledger = self.machine.ledger
        ledger.serial += 1
        return Reading(
            kind="float",
            clock=clock,
            node=node,
            frame=frame,
            serial=ledger.serial,
            settled=ledger.settled,
            loops=len(frame.loops),
        )
