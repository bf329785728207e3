"""Arrays that a function first receives weakly typed, as of Python numbers, and then as its own results: it compiles for both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.capture.signature import Signature

_KEY = re.compile(r"""\[(?:'([^']*)'|"([^"]*)")\]""")


@dataclass(frozen=True, slots=True)
class WeakStart:
    """The parameter with such an array, its position in the calls, and the key of its item if the parameter is a dict."""

    name: str
    argument: int
    key: str | None
    dtype: str


def weak_starts(signatures: Sequence[Signature]) -> list[WeakStart]:
    """The arrays that were weakly typed in a compile, and not in a later one."""
    found: dict[WeakStart, None] = {}
    for number, one in enumerate(signatures):
        for place, leaf in one.leaves.items():
            if not leaf.weak or leaf.kind:
                continue
            later = (other.leaves.get(place) for other in signatures[number + 1 :])
            if any(same is not None and same.dtype == leaf.dtype and not same.weak for same in later):
                name = max((arg for arg in one.order if place.startswith(arg)), key=len, default="")
                if name:
                    # the object of a method is not written among the arguments
                    position = one.order.index(name) - (one.order[0] == "self")
                    found[_start(name, position, place[len(name) :], leaf.dtype)] = None
    return list(found)


def weak_arguments(
    first: Iterable[Mapping[str, Any]] | None, last: Iterable[Mapping[str, Any]] | None
) -> list[WeakStart]:
    """The same, of the described arguments of two calls of a function."""
    after = {one["name"]: _leaves(one) for one in last or ()}
    found: dict[WeakStart, None] = {}
    for position, one in enumerate(first or ()):
        for place, leaf in _leaves(one).items():
            same = after.get(one["name"], {}).get(place)
            if same is None or not leaf["weak_type"] or same["weak_type"] or same["dtype"] != leaf["dtype"]:
                continue
            found[_start(one["name"], position, place, leaf["dtype"])] = None
    return list(found)


def _leaves(argument: Mapping[str, Any]) -> dict[str, Any]:
    return {
        leaf["place"]: leaf for leaf in argument.get("leaves", ()) if not leaf["dtype"].startswith("Python ")
    }


def _start(name: str, argument: int, path: str, dtype: str) -> WeakStart:
    key = _KEY.match(path)
    return WeakStart(name, argument, None if key is None else key[1] if key[1] is not None else key[2], dtype)
