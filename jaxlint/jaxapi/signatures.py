"""What the functions of JAX and its libraries, and the methods of its arrays, may be given, as `tools/signatures.py` lists it."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_DATA = Path(__file__).with_name("data") / "signatures.txt"


@dataclass(frozen=True, slots=True)
class Accepts:
    """The parameters of a function in any of the releases that were read. `count`: how many may be given by position;
    `names`: the keywords; `required`: parameters without a default in all of these releases, with their position."""

    count: int
    names: tuple[str, ...]
    required: tuple[tuple[int, str], ...] = ()

    def missing(self, given: int, keywords: Collection[str]) -> list[str]:
        """The required parameters of a call with so many arguments by position and these keywords."""
        by_position = min(given, self.count)
        return [name for place, name in self.required if place >= by_position and name not in keywords]


@functools.cache
def _table() -> dict[str, Accepts]:
    rows = (line.split() for line in _DATA.read_text("utf-8").splitlines())
    return {name: _accepts(int(count), names) for name, count, *names in rows if "**" not in names}


def _accepts(count: int, parameters: list[str]) -> Accepts:
    names = tuple(name.removesuffix("!") for name in parameters if not name.startswith("/"))
    required = [(place, name.strip("/!")) for place, name in enumerate(parameters) if name.endswith("!")]
    return Accepts(count, names, tuple(required))


def accepts(name: str) -> Accepts | None:
    """What a function takes, by its canonical name; `jax.Array.sum` for a method of arrays. None where that is not known,
    and for functions that take any keywords."""
    return _table().get(name)
