"""The computations that the host has dispatched to the device, in order. `tracking/timing.py` fills the ledger."""

from __future__ import annotations

import ast
from collections import deque
from dataclasses import dataclass, field
from itertools import takewhile

from jaxlint.jaxapi.dtypes import MAKERS
from jaxlint.staging.values.arrays import Array
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.objects import BoundMethod, Function, Partial, Transformed
from jaxlint.staging.values.plain import Value

_REMEMBERED = 1000


@dataclass(slots=True, eq=False)
class Dispatch:
    """One computation on the device. `first`: the first call of a jitted function, which compiles it."""

    serial: int
    node: ast.AST
    frame: Frame
    label: str
    first: bool = False
    target: Transformed | None = None


@dataclass(slots=True)
class Effect:
    """What a call adds to the ledger. A remembered call replays it instead of evaluating the body again."""

    waits: bool
    pending: tuple[Dispatch, ...]
    spans: int = 0  # clock regions around its `yield`


@dataclass(slots=True)
class Ledger:
    serial: int = 0
    settled: int = 0  # the last host sync
    log: deque[Dispatch] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    # the first call of each compiled function
    calls: dict[object, list[ast.AST]] = field(default_factory=dict)
    tracemalloc: int | None = None  # the start of tracemalloc
    spans: int = 0  # clock regions that contain a `yield`, so that they time the body of a `with`

    def add(self, node: ast.AST, frame: Frame, label: str, target: Transformed | None = None) -> None:
        """Records that the host dispatched a computation."""
        self.serial += 1
        first = False
        if target is not None:
            known = self.calls.setdefault(identity(target), [])
            first = not known
            known.append(node)
        self.log.append(Dispatch(self.serial, node, frame, label, first, target))

    def settle(self) -> None:
        """Records a host sync."""
        self.serial += 1
        self.settled = self.serial

    def since(self, serial: int) -> list[Dispatch]:
        found = list(takewhile(lambda dispatch: dispatch.serial > serial, reversed(self.log)))
        found.reverse()
        return found

    def forget(self, serial: int) -> None:
        """Removes the dispatches since `serial`. Compiled functions stay compiled."""
        while self.log and self.log[-1].serial > serial:
            self.log.pop()

    def effect_since(self, serial: int, spans: int) -> Effect | None:
        """What happened since `serial`, when there were `spans`; None if nothing happened."""
        if self.serial == serial:
            return None
        pending = tuple(self.since(max(serial, self.settled))[-3:])
        return Effect(self.settled > serial, pending, self.spans - spans)

    def replay(self, effect: Effect | None, node: ast.AST, frame: Frame) -> None:
        """Applies the effect of a call that is not evaluated again."""
        if effect is None:
            return
        if effect.waits:
            self.settle()
        self.spans += effect.spans
        for dispatch in effect.pending:
            self.add(node, frame, dispatch.label, dispatch.target)


def identity(transformed: Transformed) -> object:
    """The identity by which JAX finds the compiled program: the jitted function."""
    target = transformed.target
    while isinstance(target, (BoundMethod, Transformed)):
        target = target.function if isinstance(target, BoundMethod) else target.target
    if isinstance(target, Function):
        return (target.node, id(target.scope))
    if isinstance(target, Partial):
        return transformed
    return transformed.node


def is_input(value: Value, node: ast.AST) -> bool:
    """Whether `node` waits for an input that was created from numbers alone (`jnp.ones`), elsewhere:
    computations on it may still run.

    An input made here, as in `jnp.zeros(()).block_until_ready()`, comes after all earlier dispatches.
    """
    made = value.made if isinstance(value, Array) else None
    if made is None or made.name not in MAKERS or made.name in ("array", "asarray"):
        return False
    return all(part is not made.node for part in ast.walk(node))
