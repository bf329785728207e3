"""Clocks, and what the device has been given to do between two readings of them.

JAX returns before the device has computed. A ledger notes, in the order of evaluation, each computation that the host
dispatches and each time that the host waits; the difference of two clock readings then says what lies between them.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile

from jaxlint.jaxapi.dtypes import MAKERS
from jaxlint.staging import events
from jaxlint.staging.evaluator.machine import Machine
from jaxlint.staging.values import (
    Array,
    BoundMethod,
    External,
    ExternalMethod,
    Function,
    Partial,
    Reading,
    Static,
    Transformed,
    Value,
    find_array,
)
from jaxlint.staging.values.frame import Frame
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
def _speaks_of_waiting(name: str) -> bool:
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
_REMEMBERED = 1000


@dataclass(slots=True, eq=False)
class Dispatch:
    """One computation given to the device. `first`: the first call of a jitted function, which compiles it."""

    serial: int
    node: ast.AST
    frame: Frame
    label: str
    first: bool = False
    target: Transformed | None = None


@dataclass(slots=True)
class Effect:
    """What a call does to the ledger, for when its result is remembered and its body is not evaluated again."""

    waits: bool
    pending: tuple[Dispatch, ...]
    spans: int = 0  # regions of clocks around its `yield`


@dataclass(slots=True)
class Ledger:
    serial: int = 0
    settled: int = 0  # when the host last waited for the device
    log: deque[Dispatch] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    calls: dict[object, list[ast.AST]] = field(default_factory=dict)  # of each compiled function
    tracemalloc: int | None = None  # when tracemalloc was started
    spans: int = 0  # regions that hold a `yield`, whose contents are the body of a `with`

    def add(self, node: ast.AST, frame: Frame, label: str, target: Transformed | None = None) -> None:
        """Notes that the device was given something to compute."""
        self.serial += 1
        first = False
        if target is not None:
            known = self.calls.setdefault(identity(target), [])
            first = not known
            known.append(node)
        self.log.append(Dispatch(self.serial, node, frame, label, first, target))

    def settle(self) -> None:
        """Notes that the host waited for results."""
        self.serial += 1
        self.settled = self.serial

    def since(self, serial: int) -> list[Dispatch]:
        found = list(takewhile(lambda dispatch: dispatch.serial > serial, reversed(self.log)))
        found.reverse()
        return found

    def forget(self, serial: int) -> None:
        """Takes back the dispatches since `serial`; what was compiled stays compiled."""
        while self.log and self.log[-1].serial > serial:
            self.log.pop()

    def effect_since(self, serial: int, spans: int) -> Effect | None:
        """What happened since `serial`, when there were `spans`, if anything did."""
        if self.serial == serial:
            return None
        pending = tuple(self.since(max(serial, self.settled))[-3:])
        return Effect(self.settled > serial, pending, self.spans - spans)

    def replay(self, effect: Effect | None, node: ast.AST, frame: Frame) -> None:
        """The effect of a call that is not evaluated again."""
        if effect is None:
            return
        if effect.waits:
            self.settle()
        self.spans += effect.spans
        for dispatch in effect.pending:
            self.add(node, frame, dispatch.label, dispatch.target)


def identity(transformed: Transformed) -> object:
    """What JAX finds the compiled program by: the function that was jitted."""
    target = transformed.target
    while isinstance(target, (BoundMethod, Transformed)):
        target = target.function if isinstance(target, BoundMethod) else target.target
    if isinstance(target, Function):
        return (target.node, id(target.scope))
    if isinstance(target, Partial):
        return transformed
    return transformed.node


def is_input(value: Value, node: ast.AST) -> bool:
    """Whether what `node` waits for was made of numbers alone, as by `jnp.ones`, and not here: what is computed of it may go on.

    One that is made here, `jnp.zeros(()).block_until_ready()`, comes after all that the device was given before.
    """
    made = value.made if isinstance(value, Array) else None
    if made is None or made.name not in MAKERS or made.name in ("array", "asarray"):
        return False
    return all(part is not made.node for part in ast.walk(node))


def waits_for_nothing(args: list[Value]) -> bool:
    """Whether it is a function that is waited for, and not what it returns: `jax.block_until_ready(step)`."""
    return bool(args) and isinstance(args[0], (Function, Transformed))


class Timing(Machine):
    """The part of the interpreter that follows clocks and dispatches."""

    ledger: Ledger

    def dispatch(self, node: ast.AST, frame: Frame, label: str, target: Transformed | None = None) -> None:
        if not frame.stage.staged:
            self.ledger.add(node, frame, label, target)

    def dispatch_operation(self, name: str, result: Array, node: ast.AST, frame: Frame) -> None:
        """An array function outside of a trace is dispatched as well."""
        if not result.staged and not frame.stage.staged and (name in _HEAVY or name.startswith("linalg.")):
            self.ledger.add(node, frame, name)

    def hand_over(self, inputs: Iterable[Value], node: ast.AST, frame: Frame) -> None:
        """Something unknown is given these: it may wait for arrays, and it may call functions."""
        for value in inputs:
            if frame.stage.staged:
                self.carries(value, frame.stage.why)
            if isinstance(value, Transformed):
                self.ledger.calls.setdefault(identity(value), []).append(node)
            elif find_array(value, False) is not None:
                self.ledger.settle()

    def note_waiting(self, node: ast.Call, callee: Value, args: list[Value]) -> None:
        """A call whose name, or a function that is passed, says that it waits for the device."""
        named = _speaks_of_waiting(last_name(node.func))
        if not named and not (External in map(type, args) and any(map(_is_waiting_call, args))):
            return
        if type(callee) is ExternalMethod and is_input(callee.receiver, node):
            return
        if type(callee) is not External or not waits_for_nothing(args):
            self.ledger.settle()

    def elapsed(self, start: Reading, end: Reading, node: ast.AST, frame: Frame) -> Value:
        """The time between two readings."""
        suspended = frame.facts.get("yield")
        if isinstance(suspended, int) and start.serial < suspended < end.serial:
            self.ledger.spans += 1
            return Static(kind="float")
        between = [d for d in self.ledger.since(start.serial) if d.serial < end.serial]
        # In a loop, waiting before the first dispatch is waiting for what the last iteration dispatched.
        waited = not between or end.settled > (start.serial if frame.loops else between[0].serial)
        if between:
            self.emit("elapsed", events.ElapsedEvent(node, frame, start, end, between, waited))
        return Static(kind="float")

    def timed_body(self, spans: int, start: Reading, node: ast.expr, frame: Frame) -> None:
        """The end of a `with` whose generator reads a clock before and after its body."""
        if self.ledger.spans > spans:
            end = self.reading(node, frame)
            self.elapsed(start, end, node, frame)

    def reading(self, node: ast.AST, frame: Frame, clock: str = "") -> Reading:
        """What a clock says here."""
        ledger = self.ledger
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
