"""Clocks, and what the device has been given to do between two readings of them.

JAX returns before the device has computed. A ledger notes, in the order of evaluation, each computation that the host
dispatches and each time that the host waits; the difference of two clock readings then says what lies between them.
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


# Operations that take long enough for somebody to time them outside of a jit.
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
    """Whether it is a function that is waited for, and not what it returns: `jax.block_until_ready(step)`."""
    return bool(args) and isinstance(args[0], (Function, Transformed))


class Timing(Part):
    """The part of the interpreter that follows clocks and dispatches."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.assumed_calls = machine.part(AssumedCalls)

    ledger: Ledger

    def dispatch(self, node: ast.AST, frame: Frame, label: str, target: Transformed | None = None) -> None:
        if not frame.stage.staged:
            self.machine.ledger.add(node, frame, label, target)

    def dispatch_operation(self, name: str, result: Array, node: ast.AST, frame: Frame) -> None:
        """An array function outside of a trace is dispatched as well."""
        if not result.staged and not frame.stage.staged and (name in _HEAVY or name.startswith("linalg.")):
            self.machine.ledger.add(node, frame, name)

    def hand_over(self, inputs: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        """Something unknown is given these: it may wait for arrays, and it may call functions."""
        for value in inputs:
            if frame.stage.staged:
                self.assumed_calls.carries(value, frame.stage.why)
            if isinstance(value, Transformed):
                self.machine.ledger.calls.setdefault(identity(value), []).append(node)
            elif find_array(value, False) is not None:
                self.machine.ledger.settle()

    def note_waiting(self, node: ast.Call, callee: Value, args: list[Value]) -> None:
        """A call whose name, or a function that is passed, says that it waits for the device."""
        named = _speaks_of_waiting(node.func)
        if not named and not (External in map(type, args) and any(map(_is_waiting_call, args))):
            return
        if type(callee) is ExternalMethod and is_input(callee.receiver, node):
            return
        if type(callee) is not External or not waits_for_function(args):
            self.machine.ledger.settle()

    def elapsed(self, start: Reading, end: Reading, node: ast.AST, frame: Frame) -> Value:
        """The time between two readings."""
        suspended = frame.suspended
        if suspended is not None and start.serial < suspended < end.serial:
            self.machine.ledger.spans += 1
            return Static(kind="float")
        between = [d for d in self.machine.ledger.since(start.serial) if d.serial < end.serial]
        # In a loop, waiting before the first dispatch is waiting for what the last iteration dispatched.
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
        """What a clock says here."""
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
