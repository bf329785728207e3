"""Cross-entropy of a large vocabulary: the scores of all rows, and their softmax, never exist at once.

What is replaced begins at the product that makes the scores, so that they are made a few rows at a time, forward and
backward; that costs the product once more.
"""

from __future__ import annotations

import functools

from jaxlint_runtime.kernels.implementations.cross_entropy import log_likelihood
from jaxlint_runtime.kernels.losses import Loss
from jaxlint_runtime.kernels.substitute import Implementation, Match
from jaxlint_runtime.program import Program
from jaxlint_runtime.staging import Version
from jaxlint_runtime.transforms.base import Candidate, NotApplicable, Transform
from jaxlint_runtime.transforms.kernels import LEAST_BYTES, LEAST_SHARE, Seen, shortened, substituted


class CrossEntropy(Transform):
    """Computes softmax cross-entropies by blocks of rows."""

    name = "cross_entropy"
    trade = True

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate for all cross-entropies. Raises NotApplicable."""
        seen = Seen()
        program.stage(substituted(program.version, lambda match: None, seen)).jaxpr  # noqa: B018 - traces
        losses = [match for match in seen.matches if isinstance(match, Loss)]
        if not losses:
            raise NotApplicable(
                "; ".join(seen.reasons(loss=True)) or "it computes no cross-entropy of a product"
            )
        total = sum(loss.likelihood.scores_bytes for loss in losses)
        if total < max(LEAST_BYTES, LEAST_SHARE * (program.cost.peak_bytes or 0)):
            raise NotApplicable(f"the scores of its cross-entropy take {total / 2**10:.1f} KiB only")
        sites = ", ".join(dict.fromkeys(shortened(loss.place) for loss in losses))
        rows, vocabulary, depth = losses[0].shape
        return [
            Candidate(
                name=f"{self.name}:blocks",
                summary=f"compute the cross-entropy at {sites} ({rows} rows of {vocabulary} scores) by blocks of rows, "
                "from the operands of the product: jaxlint_runtime.kernels.api.log_likelihood(rows, table, labels)",
                requires="",
                estimate=float(total),
                parameters={"sites": sites, "rows": rows, "vocabulary": vocabulary, "depth": depth},
            )
        ]

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function, its scores made a few rows at a time."""
        return _by_blocks(version, program.target.platform == "cpu")

    def emulate(self, program: Program, candidate: Candidate, version: Version) -> Version | None:
        """The same with products in float32, where the target is not at hand."""
        return _by_blocks(version, True) if program.target.compile_only else None


def _by_blocks(version: Version, widen: bool) -> Version:
    run = functools.partial(log_likelihood, widen=widen)

    def choose(match: Match) -> Implementation | None:
        return run if isinstance(match, Loss) else None

    return substituted(version, choose)
