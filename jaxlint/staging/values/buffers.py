"""Donated buffers as data: which buffers a place holds, and which were donated. `tracking/buffers.py` follows them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from itertools import combinations

from jaxlint.staging.values.objects import Transformed

_MOST_PLACES = 6  # that hold one buffer: more are parts of one container


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
    """Which buffers each place of this path may hold, and which of them were donated. Changes make a new state.

    `bound`: places that every path here has bound. `same`: pairs of places that hold one buffer on some path here.
    """

    held: dict[str, frozenset[Buffer]] = field(default_factory=dict)
    donated: dict[Buffer, Donation] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    same: frozenset[tuple[str, str]] = frozenset()

    def holding(self, held: dict[str, frozenset[Buffer]]) -> BufferState:
        """The state with `held` in place of what places held."""
        return BufferState(held, self.donated, self.bound, self.same)

    def donating(self, more: dict[Buffer, Donation]) -> BufferState:
        """The state with `more` donations."""
        return BufferState(self.held, {**self.donated, **more}, self.bound, self.same)

    def binding(self, place: str) -> BufferState:
        """The state in which `place` is bound to something else."""
        same = self.same
        if same:
            same = frozenset(pair for pair in same if not any(is_at_or_below(one, place) for one in pair))
        return BufferState(self.held, self.donated, self.bound | {place}, same)

    def pairing(self, pairs: Iterable[tuple[str, str]]) -> BufferState:
        """The state in which `pairs` may be one buffer as well."""
        return BufferState(self.held, self.donated, self.bound, self.same.union(pairs))

    def pairs(self) -> frozenset[tuple[str, str]]:
        """The pairs of places that hold one buffer, here or on some path here."""
        places: dict[Buffer, list[str]] = {}
        for place, buffers in self.held.items():
            if len(buffers) == 1:
                places.setdefault(next(iter(buffers)), []).append(place)
        found = [
            (first, second)
            for group in places.values()
            if 1 < len(group) <= _MOST_PLACES
            for first, second in combinations(sorted(group), 2)
            if not is_below(second, first)
        ]
        return self.same.union(found) if found else self.same

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
            for place in self.held.keys() ^ other.held.keys():
                if is_part(place):
                    held[place] = held[place] | {Buffer(place)}  # what the other path left there
        if other.donated is not donated:
            donated = {**other.donated, **donated}
        same = self.same
        if other.held is not self.held or other.same is not same:
            same = self.pairs() | other.pairs()
        bound = self.bound if other.bound is self.bound else self.bound & other.bound
        return BufferState(held, donated, bound, same)


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
    `self.best = params`.

    `perhaps`: what some paths rebind. `together`: places that hold one new buffer. `same`: pairs that hold one buffer
    on some path. `returned`: which part of the result is which argument: `{".z": "params"}`.
    """

    donated: dict[str, Donation] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)
    perhaps: set[str] = field(default_factory=set)
    kept: dict[str, frozenset[str]] = field(default_factory=dict)
    together: list[list[str]] = field(default_factory=list)
    same: frozenset[tuple[str, str]] = frozenset()
    returned: dict[str, str] = field(default_factory=dict)


def is_part(place: str) -> bool:
    """Whether a place is an attribute or an item, which holds something before it is bound."""
    return "." in place or "[" in place


def is_at_or_below(path: str, place: str) -> bool:
    return path == place or is_below(path, place)


def is_below(path: str, place: str) -> bool:
    return len(path) > len(place) and path.startswith(place) and path[len(place)] in ".["
