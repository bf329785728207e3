"""Cross-entropy over a large vocabulary: the logits of all rows, and their softmax, never exist at once.

The replacement starts at the product that computes the logits, so that a few rows at a time are computed, forward and
backward; that costs the product once more.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from jaxlint_runtime.kernels.found_patterns import places_of
from jaxlint_runtime.kernels.implementations import online_cross_entropy
from jaxlint_runtime.kernels.implementations.blockwise_cross_entropy import block_rows, log_likelihood
from jaxlint_runtime.kernels.implementations.tiles import chip_at_hand
from jaxlint_runtime.kernels.likelihood_operands import Loss
from jaxlint_runtime.kernels.substitute import Implementation, Match
from jaxlint_runtime.lowering.function_versions import Version
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.transforms.attention_kernels import (
    LEAST_BYTES,
    LEAST_SHARE,
    Seen,
    shortened,
    substituted,
)
from jaxlint_runtime.transforms.transform import NO_CALL, Candidate, NotApplicable, Transform

_BLOCKS, _PALLAS = "blocks", "pallas"
# Constructors of layers whose call computes logits row by row, and may be inside a function under `jax.lax.map`.
_LAYERS = ("flax/nnx/nn/linear.py", "equinox/nn/_linear.py")


class CrossEntropy(Transform):
    """Computes softmax cross-entropies by blocks of rows."""

    name = "cross_entropy"
    trade = True

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate per implementation, for all cross-entropies. Raises NotApplicable."""
        seen = Seen()
        program.stage(substituted(program.version, lambda match: None, seen)).jaxpr  # noqa: B018 - traces
        losses = [match for match in seen.matches if isinstance(match, Loss)]
        if not losses:
            raise NotApplicable(
                "; ".join(seen.reasons(loss=True))
                or "the function computes no cross-entropy of a matrix product"
            )
        total = sum(loss.likelihood.scores_bytes for loss in losses)
        if total < max(LEAST_BYTES, LEAST_SHARE * program.alive_bytes):
            raise NotApplicable(f"its cross-entropy scores take only {total / 2**10:.1f} KiB")
        sites = ", ".join(dict.fromkeys(shortened(loss.place) for loss in losses))
        rows, vocabulary, depth = losses[0].shape
        what = f"compute the cross-entropy at {sites} ({rows} rows of {vocabulary} scores)"
        calls = [_written(loss) for loss in losses]
        ways = [(_BLOCKS, "by blocks of rows", "log_likelihood")]
        if program.target.platform == "tpu":
            ways.append((_PALLAS, "by tiles in a Pallas kernel", "online_log_likelihood"))
        return [
            Candidate(
                name=f"{self.name}:{implementation}",
                summary=f"{what} {how}: jaxlint_runtime.kernels.api.{call}(rows, table, labels)",
                requires="",
                estimate=float(total) - number,
                codemod="loss-by-parts" if implementation == _BLOCKS else None,
                parameters={
                    "calls": calls,
                    "code": _code(calls[0]["examples"]) if implementation == _BLOCKS else None,
                    "unwritten": None if implementation == _BLOCKS else NO_CALL,
                    "sites": sites,
                    "rows": rows,
                    "vocabulary": vocabulary,
                    "depth": depth,
                    "implementation": implementation,
                },
            )
            for number, (implementation, how, call) in enumerate(ways)
        ]

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function, with a few rows of logits at a time."""
        if candidate.parameters["implementation"] == _PALLAS:
            chip = program.target.chip if program.target.compile_only else chip_at_hand()
            return _by(version, functools.partial(online_cross_entropy.log_likelihood, chip=chip))
        return _by_blocks(version, program.target.platform == "cpu")

    def emulate(self, program: Program, candidate: Candidate, version: Version) -> Version | None:
        """The same with products in float32, without the target."""
        return _by_blocks(version, True) if program.target.compile_only else None

    def evidence(self, program: Program, candidate: Candidate) -> str | None:
        """The checks that ran in place of a kernel."""
        if program.target.compile_only and candidate.parameters["implementation"] == _PALLAS:
            return "the values come from the version by blocks of rows; jaxlint's own tests run the kernel interpreted"
        return None


def _written(loss: Loss) -> dict[str, Any]:
    """The parameters of the codemod: the product and its layer, the axes of the rows, and the number of entries of
    the first in a part."""
    rows, vocabulary, _ = loss.shape
    first = loss.likelihood.sizes.size(loss.likelihood.axes[0]) if loss.likelihood.axes else 1
    examples = max(1, block_rows(rows, vocabulary) * first // rows)
    places = places_of(loss.likelihood.product)
    outside = [place for place in places if not _of_layer(place)]
    layer = bool(places) and _of_layer(places[0])
    return {
        "places": outside[:1] if layer else places,
        "layer": layer,
        "rank": len(loss.likelihood.product.outs[0].shape) - 1,
        "examples": examples,
    }


def _of_layer(place: str) -> bool:
    return place.rpartition(":")[0].replace(os.sep, "/").endswith(_LAYERS)


def _code(examples: int) -> str:
    """The code to write by hand if the codemod cannot."""
    return "\n".join(
        [
            "# x: the last layer's input; table: its weights. The scores of all examples never exist at once",
            "def losses(part):",
            "    x, labels = part",
            "    return optax.softmax_cross_entropy_with_integer_labels(x @ table, labels)",
            "",
            f"loss = jax.lax.map(jax.checkpoint(losses), (x, labels), batch_size={examples}).mean()",
        ]
    )


def _by_blocks(version: Version, widen: bool) -> Version:
    return _by(version, functools.partial(log_likelihood, widen=widen))


def _by(version: Version, run: Implementation) -> Version:
    def choose(match: Match) -> Implementation | None:
        return run if isinstance(match, Loss) else None

    return substituted(version, choose)
