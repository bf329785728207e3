"""Donated buffers as data: which buffers a place holds, and which were donated. `tracking/buffers.py` follows them."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, field

from jaxlint.staging.values.objects import Transformed


class Buffer:
    """A buffer that a place holds. `place`: where it was first seen; `given`: it came in through a parameter,
    whole or as a part.

    `parts`: the buffers that it was unpacked into; `whole`: the buffer that it was unpacked from.
    """

    __slots__ = ("given", "parts", "place", "whole")

    def __init__(self, place: str, given: bool = False, whole: Buffer | None = None) -> None:
        self.place = place
        self.given = given
        self.whole = whole
        self.parts: tuple[Buffer, ...] = ()


@dataclass(slots=True, eq=False)
class Donation:
    """The call at `node` donated `place` to the jitted function `label`, as its parameter `parameter`."""

    node: ast.AST
    target: Transformed
    parameter: str
    place: str

    @property
    def label(self) -> str:
        return self.target.label


@dataclass(frozen=True, slots=True, eq=False)
class BufferState:
    """Which buffers each place of this path may hold, and which of them were donated. Changes make a new state."""

    held: dict[str, frozenset[Buffer]] = field(default_factory=dict)
    donated: dict[Buffer, Donation] = field(default_factory=dict)

    def holding(self, held: dict[str, frozenset[Buffer]]) -> BufferState:
        """The state with `held` in place of what places held."""
        return BufferState(held, self.donated)

    def donating(self, more: dict[Buffer, Donation]) -> BufferState:
        """The state with `more` donations."""
        return BufferState(self.held, {**self.donated, **more})

    def copied(self) -> BufferState:
        return self

    def joined(self, other: BufferState) -> BufferState:
        """A buffer donated on one path is gone on that path only: if only the other path still holds it, it is alive."""
        if other is self:
            return self
        held, donated = self.held, self.donated
        if other.held is not held:
            held = dict(self.held)
            lost: Set[Buffer] = other.donated.keys() - donated.keys()
            for place, buffers in self.held.items():
                alone = buffers & lost
                if alone:
                    held[place] = buffers - (alone - other.held.get(place, frozenset()))
            lost = donated.keys() - other.donated.keys()
            for place, buffers in other.held.items():
                mine = self.held.get(place, frozenset())
                held[place] = held.get(place, frozenset()) | (buffers - (lost - mine))
        if other.donated is not donated:
            donated = {**other.donated, **donated}
        return BufferState(held, donated)


NO_BUFFERS = BufferState()


@dataclass(slots=True)
class Held:
    """The buffers that an expression holds: `buffers` for the whole value, and `parts` by the path to each part."""

    buffers: frozenset[Buffer] = frozenset()
    parts: dict[str, frozenset[Buffer]] = field(default_factory=dict)

    def part(self, path: str) -> Held:
        found = self.parts.get(path, frozenset())
        below = {key[len(path) :]: value for key, value in self.parts.items() if is_below(key, path)}
        return Held(found or (frozenset() if self.parts else self.buffers), below)


@dataclass(slots=True, eq=False)
class ArgumentEffects:
    """What a project function did to its arguments, by place: it donated them, rebound them, or kept them in another:
    `self.best = params`. `returned`: which part of the result is which argument: `{".z": "params"}`."""

    donated: dict[str, Donation] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)
    kept: dict[str, str] = field(default_factory=dict)
    returned: dict[str, str] = field(default_factory=dict)


def is_below(path: str, place: str) -> bool:
    return len(path) > len(place) and path.startswith(place) and path[len(place)] in ".["
