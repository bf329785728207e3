"""A short training run of a captured step, the original and a candidate side by side, each with its own carried
state.

One step shows whether a gradient is right. Only consecutive steps show whether the loss still decreases with coarser
arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.lowering.function_versions import Staged
from jaxlint_runtime.proof.reference import Reference

_STEPS = 20
_SECONDS = 10.0  # for both runs
_LEAST = 5  # steps that are meaningful
_SHARE = 0.9  # of the original's gain that the candidate must reach ...
_FLOOR = 0.02  # ... up to this share of the first loss


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The losses of the first steps of both, on the captured batch."""

    original: tuple[float, ...]
    candidate: tuple[float, ...]

    @property
    def problem(self) -> str | None:
        """Why the candidate does not train like the original; None if it does."""
        for number, (a, b) in enumerate(zip(self.original, self.candidate, strict=True), 1):
            if math.isfinite(a) and not math.isfinite(b):
                return f"the loss of step {number} in a short training run is {b}"
        gained, reached = (losses[0] - losses[-1] for losses in (self.original, self.candidate))
        if gained > 0 and reached < _SHARE * gained - _FLOOR * abs(self.original[0]):
            return (
                f"a training run of {len(self.original)} steps goes from {self.candidate[0]:.4g} to "
                f"{self.candidate[-1]:.4g}, the original's to {self.original[-1]:.4g}"
            )
        return None

    def __str__(self) -> str:
        apart = max(abs(a - b) / (abs(a) or 1.0) for a, b in zip(self.original, self.candidate, strict=True))
        return (
            f"{len(self.original)} training steps side by side: loss {self.original[0]:.4g} to {self.original[-1]:.4g}, "
            f"and {self.candidate[0]:.4g} to {self.candidate[-1]:.4g}, at most {apart:.1%} apart"
        )


def side_by_side(program: Reference, original: Staged, candidate: Staged) -> SideBySide | None:
    """Runs both; None if the function has no carried state or loss, or takes too long."""
    carried = [(one.output, one.input) for one in program.updates if one.distance]
    if not carried:
        return None
    taken = {output for output, _ in carried}
    losses = [
        number
        for number, leaf in enumerate(program.references[0].leaves)
        if number not in taken and leaf.shape == () and jnp.issubdtype(leaf.dtype, jnp.floating)
    ]
    steps = min(_STEPS, int(_SECONDS / 2 / max(program.call_seconds, 1e-6)))
    if not losses or steps < _LEAST:
        return None
    return SideBySide(*(_losses(program, one, carried, losses[0], steps) for one in (original, candidate)))


def _losses(
    program: Reference, staged: Staged, carried: list[tuple[int, int]], loss: int, steps: int
) -> tuple[float, ...]:
    values = list(program.draws[0])
    found = []
    for _ in range(steps):
        leaves = program.outcome(staged, values, changes=False).leaves
        found.append(float(leaves[loss]))
        for output, number in carried:
            before = values[number]
            if isinstance(before, np.ndarray | np.generic) and np.shape(before) == leaves[output].shape:
                values[number] = leaves[output].astype(before.dtype)
    return tuple(found)
