"""Facts of syntax trees, remembered until the next analysis of the process begins."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Remembered = TypeVar("Remembered", bound=Callable[..., Any])
_CACHES: list[Any] = []


def cache(function: Remembered) -> Remembered:
    """`functools.cache` for functions of nodes, scopes or values of one analysis, which `forget` empties."""
    remembered = functools.cache(function)
    _CACHES.append(remembered)
    return remembered  # type: ignore[return-value]


def forget() -> None:
    """Drops all that was remembered: else the trees and scopes of every analysis of a process would stay alive."""
    for remembered in _CACHES:
        remembered.cache_clear()
