"""What the host has dispatched to the device, in order. `tracking/timing.py` fills it."""

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
