"""Norms, softmaxes and products with epilogues, computed with fewer intermediate results in memory.

XLA fuses most of these already. The remaining gains are the residuals of the backward pass and the products of gated
units, so nothing is proposed if these are a small part of the function's memory.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence

from jaxlint_runtime.kernels.epilogues import Epilogue
from jaxlint_runtime.kernels.implementations import fused_product, operand_saving, row_kernels
from jaxlint_runtime.kernels.implementations.tiles import chip_at_hand
from jaxlint_runtime.kernels.rowwise import SOFTMAX, RowWise
from jaxlint_runtime.kernels.substitute import Choice as Choosing
from jaxlint_runtime.kernels.substitute import Fused, Implementation, fused
from jaxlint_runtime.lowering.function_versions import Version
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.transforms.attention_kernels import LEAST_BYTES, Seen, shortened, substituted
from jaxlint_runtime.transforms.transform import NO_CALL, Candidate, NotApplicable, Transform

_LEAST_SHARE = 0.05  # share of the whole memory, for all matches of one kind
_KINDS = ("norms", "softmaxes", "gated units", "epilogues")
_CHECKPOINTS = "which lines of a layer go into a function under jax.checkpoint is your decision; `remat` writes whole layers"
# The measurements for a v5e are in benchmarks/results/kernels.md.
_NOTHING_TO_GAIN = {
    "norms": "XLA fuses them, and without a backward pass no residuals exist",
    "softmaxes": "XLA's own version takes no more memory than a kernel",
    "gated units": "without a backward pass XLA holds one product at a time",
    "epilogues": "XLA already fuses the activation into the product",
}


def kind(match: Fused) -> str:
    """The kind of a match."""
    if isinstance(match, Epilogue):
        return "gated units" if match.spec.gated else "epilogues"
    return "softmaxes" if match.spec.kind == SOFTMAX else "norms"


class Fusions(Transform):
    """Replaces patterns that XLA mostly fuses by versions that store less."""

    name = "fusions"
    trade = True

    def __init__(self) -> None:
        self._found: weakref.WeakKeyDictionary[Program, dict[Fused, int]] = weakref.WeakKeyDictionary()

    def found(self, program: Program) -> dict[Fused, int]:
        """The norms, softmaxes and products with epilogues in the program, with their number of runs."""
        if program not in self._found:
            seen = Seen()
            program.stage(substituted(program.version, lambda match: None, seen, fused)).jaxpr  # noqa: B018 - traces
            self._found[program] = {
                match: seen.turns[match] for match in seen.matches if isinstance(match, (RowWise, Epilogue))
            }
        return self._found[program]

    def propose(self, program: Program) -> list[Candidate]:
        """Candidates by kind: kernels on a TPU, and plain JAX if the backward pass then stores less. Raises
        NotApplicable."""
        found = self.found(program)
        if not found:
            raise NotApplicable(
                "the function computes no norm, softmax, gated linear unit or product with an activation"
            )
        if program.target.platform == "cpu":
            raise NotApplicable(
                f"{described(list(found))}: XLA fuses them on a CPU; `remat` covers their residuals"
            )
        peak = program.alive_bytes
        candidates, reasons = [], []
        for name in _KINDS:
            ours = [match for match in found if kind(match) == name]
            if not ours:
                continue
            total = sum(match.bytes * found[match] for match in ours)
            implementations = _implementations(program, name)
            if total < max(LEAST_BYTES, _LEAST_SHARE * peak):
                implementations = []
                what = f"{total / 2**20:.1f} of {peak / 2**20:.1f} MiB"
                reasons.append(f"{described(ours)}: only {what}")
            elif not implementations:
                reasons.append(f"{described(ours)}: {_NOTHING_TO_GAIN[name]}")
            candidates += [_candidate(name, each, ours, total) for each in implementations]
        if not candidates:
            raise NotApplicable("; ".join(reasons))
        return candidates

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function, with matches of one kind computed by the candidate's implementation."""
        chip = program.target.chip if program.target.compile_only else chip_at_hand()
        return _by(candidate, version, candidate.parameters["implementation"], chip)

    def emulate(self, program: Program, candidate: Candidate, version: Version) -> Version | None:
        """Without the target, the same in plain JAX."""
        return _by(candidate, version, "recomputed", None) if program.target.compile_only else None

    def evidence(self, program: Program, candidate: Candidate) -> str | None:
        """The checks that ran in place of a kernel."""
        if program.target.compile_only and candidate.parameters["implementation"] == "pallas":
            return "the values come from the same computation in plain JAX; jaxlint's own tests run the kernel interpreted"
        return None


def _implementations(program: Program, name: str) -> list[str]:
    """Implementations that could win: a kernel saves a product of a gated unit even forward; the others save
    residuals."""
    if name == "softmaxes" or not (program.differentiates or name == "gated units"):
        return []
    kernel = ["pallas"] if program.target.platform == "tpu" else []
    return [*kernel, "recomputed"] if program.differentiates else kernel


def _candidate(name: str, implementation: str, ours: Sequence[Fused], total: int) -> Candidate:
    how = (
        "Pallas kernels that keep only their operands"
        if implementation == "pallas"
        else "jax.checkpoint around each: the backward pass recomputes them"
    )
    return Candidate(
        name=f"fusions:{name.replace(' ', '_')}:{implementation}",
        summary=f"compute {described(ours)} by {how}",
        requires="",
        estimate=float(total) - (implementation == "recomputed"),
        parameters={
            "implementation": implementation,
            "kind": name,
            "unwritten": NO_CALL if implementation == "pallas" else _CHECKPOINTS,
            "found": [
                {"what": match.spec.kind, "site": shortened(match.place), "shape": list(match.shape)}
                for match in ours
            ],
        },
    )


def described(matches: Sequence[Fused]) -> str:
    """The matches in words."""
    counts: dict[str, list[str]] = {}
    for match in matches:
        counts.setdefault(match.spec.kind, []).append(shortened(match.place))
    parts = []
    for what, sites in counts.items():
        where = list(dict.fromkeys(sites))
        shown = ", ".join(where[:3]) + (f" and {len(where) - 3} more places" if len(where) > 3 else "")
        parts.append(f"{len(sites)} x {what} ({shown})" if len(sites) > 1 else f"the {what} at {shown}")
    return "; ".join(parts)


def _by(candidate: Candidate, version: Version, implementation: str, chip: str | None) -> Version:
    return substituted(version, chooser(candidate.parameters["kind"], implementation, chip), None, fused)


def chooser(name: str, implementation: str, chip: str | None) -> Choosing:
    """The implementation ("pallas", "recomputed") for matches of one kind; the others are unchanged."""

    def choose(match: object) -> Implementation | None:
        if not isinstance(match, (RowWise, Epilogue)) or kind(match) != name:
            return None
        if implementation == "recomputed":
            return operand_saving.row_wise if isinstance(match, RowWise) else operand_saving.epilogue
        run = row_kernels.compute if isinstance(match, RowWise) else fused_product.compute
        return functools.partial(run, chip=chip)

    return choose
