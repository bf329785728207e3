"""Memory of a compiled program as its compiler planned it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on one device. `total` is what a call occupies: aliased output lives in donated arguments."""

    argument: int
    output: int
    temp: int
    alias: int

    @property
    def total(self) -> int:
        """argument + output + temp - alias.

        Not `peak_memory_in_bytes`, from which XLA:CPU leaves the temporaries out, and not `temp` alone, which a
        donation may raise.
        """
        return self.argument + self.output + self.temp - self.alias


def memory(compiled: Any) -> Memory:
    """The memory plan of a `jax.stages.Compiled`. Raises ValueError where the backend gives none."""
    stats = compiled.memory_analysis()
    if stats is None:
        raise ValueError("this backend reports no memory plan")
    return Memory(
        argument=stats.argument_size_in_bytes,
        output=stats.output_size_in_bytes,
        temp=stats.temp_size_in_bytes,
        alias=stats.alias_size_in_bytes,
    )


def compiler_cost(compiled: Any) -> dict[str, float]:
    """The compiler's cost analysis, empty where it makes none (GPU without a device).

    Loop bodies count once in it.
    """
    figures = compiled.cost_analysis()
    if isinstance(figures, list):
        figures = figures[0] if figures else None
    return dict(figures) if figures else {}
