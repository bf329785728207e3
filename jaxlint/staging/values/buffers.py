"""Donated buffers as data: which buffers a place holds, and which were donated. `tracking/buffers.py` follows them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.staging.values.objects import Transformed


class Buffer:
    """A buffer that a place holds. `place`: where it was first seen; `given`: the caller passed it in, as a parameter
    or inside one.

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
    """What a project function did to its arguments, by place: it donated them, or rebound them."""

    donated: dict[str, Donation] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)


def is_below(path: str, place: str) -> bool:
    return len(path) > len(place) and path.startswith(place) and path[len(place)] in ".["
