"""What the functions of JAX and the methods of its arrays may be given, as `tools/signatures.py` lists it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

_DATA = Path(__file__).with_name("data") / "signatures.txt"


@dataclass(frozen=True, slots=True)
class Accepts:
    """The parameters of a function in any of the releases that were read. `count`: how many may be given by position."""

    count: int
    names: tuple[str, ...]


@functools.cache
def _table() -> dict[str, Accepts]:
    rows = (line.split() for line in _DATA.read_text("utf-8").splitlines())
    return {name: Accepts(int(count), tuple(names)) for name, count, *names in rows}


def accepts(name: str) -> Accepts | None:
    """What a function takes, by its canonical name; `jax.Array.sum` for a method of arrays. None where that is not known,
    and for functions that take any keywords."""
    return _table().get(name)
