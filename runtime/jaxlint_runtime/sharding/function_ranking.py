"""The jitted functions of a program that are worth placing on a mesh."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint_runtime.model import CapturedFunction

_MOST = 2  # functions: each is compiled dozens of times
_LEAST = 0.05  # share of the heaviest function's time: others are left out


def worth_sharding(functions: Sequence[CapturedFunction]) -> list[CapturedFunction]:
    """Train steps first, then the others, each by its time in the run; the heaviest few."""
    called = [one for one in functions if one.call is not None]
    heaviest = max((one.seconds for one in called), default=0.0)
    chosen = [one for one in called if one.rebound or one.seconds >= _LEAST * heaviest]
    chosen.sort(key=lambda one: (not one.rebound, -one.seconds))
    return chosen[:_MOST] or list(functions[:1])
