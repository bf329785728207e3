"""Facts about syntax trees, memoised until the next analysis in the process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Remembered = TypeVar("Remembered", bound=Callable[..., Any])
_CACHES: list[Any] = []


def cache(function: Remembered) -> Remembered:
    """`functools.cache` for functions of nodes, scopes or values of one analysis. `forget` empties it."""
    remembered = functools.cache(function)
    _CACHES.append(remembered)
    return remembered  # type: ignore[return-value]


def forget() -> None:
    """Drops all memoised facts. Otherwise the trees and scopes of every analysis in a process would stay alive."""
    for remembered in _CACHES:
        remembered.cache_clear()
