"""The memory plan of a compiled program, from its compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on one device. `peak` is the compiler's own figure; None if it excludes the temporaries."""

    argument: int
    output: int
    temp: int
    alias: int
    peak: int | None = None

    @property
    def total(self) -> int:
        """The most that a call occupies.

        The compiler's peak, which on TPU includes values in on-chip memory. XLA:CPU excludes the temporaries from its
        peak; there it is argument + output + temp - alias, since aliased outputs reuse donated arguments. Never
        `temp` alone, which a donation may raise.
        """
        if self.peak is not None:
            return self.peak
        return self.argument + self.output + self.temp - self.alias


def memory(compiled: Any, platform: str) -> Memory:
    """The memory plan of a `jax.stages.Compiled` for "cpu", "gpu" or "tpu".

    Raises ValueError if the backend provides none.
    """
    return as_memory(compiled.memory_analysis(), platform)


def as_memory(stats: Any, platform: str) -> Memory:
    """The plan in the form of the backend. Raises ValueError if there is none."""
    if stats is None:
        raise ValueError("this backend reports no memory plan")
    return Memory(
        argument=stats.argument_size_in_bytes,
        output=stats.output_size_in_bytes,
        temp=stats.temp_size_in_bytes,
        alias=stats.alias_size_in_bytes,
        peak=None if platform == "cpu" else (getattr(stats, "peak_memory_in_bytes", 0) or None),
    )


def compiler_cost(compiled: Any) -> dict[str, float]:
    """The compiler's cost analysis; empty if it provides none (GPU without a device).

    It counts loop bodies once.
    """
    figures = compiled.cost_analysis()
    if isinstance(figures, list):
        figures = figures[0] if figures else None
    return dict(figures) if figures else {}
