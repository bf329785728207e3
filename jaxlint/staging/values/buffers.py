"""Donated buffers as data: what a place holds, and what was given away. `tracking/buffers.py` follows them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.staging.values.objects import Transformed


class Buffer:
    """What a place holds. `place`: where it was first seen; `given`: it came in as, or in, a parameter.

    `parts`: those of what it was unpacked to, and `whole` the other way round.
    """

    __slots__ = ("given", "parts", "place", "whole")

    def __init__(self, place: str, given: bool = False, whole: Buffer | None = None) -> None:
        self.place = place
        self.given = given
        self.whole = whole
        self.parts: tuple[Buffer, ...] = ()


@dataclass(slots=True, eq=False)
class Donation:
    """`label` was given `place` at `node`, as its `parameter`, to write into."""

    node: ast.AST
    target: Transformed
    parameter: str
    place: str

    @property
    def label(self) -> str:
        return self.target.label


@dataclass(slots=True)
class Held:
    """What an expression holds: `buffers` as a whole, and `parts` by the path below it."""

    buffers: frozenset[Buffer] = frozenset()
    parts: dict[str, frozenset[Buffer]] = field(default_factory=dict)

    def part(self, path: str) -> Held:
        found = self.parts.get(path, frozenset())
        below = {key[len(path) :]: value for key, value in self.parts.items() if is_below(key, path)}
        return Held(found or (frozenset() if self.parts else self.buffers), below)


@dataclass(slots=True, eq=False)
class Handed:
    """What a project function did to what it was given, by place: donated it, or bound it anew."""

    donated: dict[str, Donation] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)


def is_below(path: str, place: str) -> bool:
    return len(path) > len(place) and path.startswith(place) and path[len(place)] in ".["
