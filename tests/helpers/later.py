"""Values that a table of tests names and no test has asked for yet: what JAX compiles for them would be compiled in each
process that collects tests."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any


class Later:
    """A value that is made once, when a test calls it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = functools.cache(make)

    def __call__(self) -> Any:
        return self._make()


def given(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """The arguments of a test, with those made that were left for later."""
    return tuple(one() if isinstance(one, Later) else one for one in arguments)
