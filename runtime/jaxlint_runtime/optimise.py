"""Try every optimisation on one captured function and prove or reject each."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint_runtime.model import CapturedFunction, Result
from jaxlint_runtime.settings import Settings

__all__ = ["Settings", "optimise"]


def optimise(function: CapturedFunction, settings: Settings) -> Iterator[Result]:
    """Yield one result per candidate, as each is decided; a candidate that crashes is one failed result."""
    yield from ()
