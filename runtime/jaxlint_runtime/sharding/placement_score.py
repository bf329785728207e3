"""One number for the cost of a placement, for the search: estimated time and memory, each relative to plain data
parallel.

The time estimate is FLOPs at the peak of the chip plus sent bytes at its published interconnect bandwidth. It ranks
placements of the same step, and is never reported as a time. A tenth less of it counts as much as a tenth less
memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint_runtime.inspection.device_peaks import PUBLISHED
from jaxlint_runtime.sharding.placed_program import Figures
from jaxlint_runtime.targets import Target

# Bytes/s between chips, all links of a chip together, as published by the makers: Google's "interchip interconnect
# bandwidth" (1600, 2400, 4800, 3584 Gbit/s) and NVIDIA's NVLink, of which half is for each direction.
_WIRE = {
    "v4": 300e9,
    "v5e": 200e9,
    "v5p": 600e9,
    "v6e": 448e9,
    "h100": 450e9,
    "a100": 300e9,
    "a100-80gb": 300e9,
}
STAND_IN = "v5e"  # the chip whose balance of compute and bandwidth simulated devices get
_DOES_NOT_FIT = 100.0


@dataclass(frozen=True, slots=True)
class Scale:
    """The weights for placements. `limit`: memory of one device in bytes, None for no limit."""

    chip: str
    flops: float  # a second
    wire: float  # bytes a second
    limit: int | None
    reference: Figures  # plain data parallel

    def seconds(self, figures: Figures) -> float:
        """The estimate that ranks placements."""
        return figures.flops / self.flops + figures.sent / self.wire

    def score(self, figures: Figures) -> float:
        """The score, lower is better; 2 is plain data parallel."""
        if not figures.fits:
            return _DOES_NOT_FIT * 2
        time = self.seconds(figures) / max(self.seconds(self.reference), 1e-12)
        memory = figures.memory / max(1, self.reference.memory)
        over = figures.memory / self.limit - 1 if self.limit else 0.0
        return time + memory + (_DOES_NOT_FIT * (1 + over) if over > 0 else 0.0)


def scale(target: Target, dtype: str, limit: int | None, reference: Figures) -> Scale:
    """The scale of a target's chip; simulated devices count as a TPU v5e."""
    chip = target.chip if target.chip in _WIRE else STAND_IN
    return Scale(
        chip or STAND_IN,
        PUBLISHED[chip or STAND_IN].flops_for(dtype),
        _WIRE[chip or STAND_IN],
        limit,
        reference,
    )
