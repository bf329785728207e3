"""Facts about a lowered program: one idea per module, no judgement.

`facts` gathers them; `cost` puts those that a result carries into its record.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint_runtime.inspection.aliasing import Alias, aliases
from jaxlint_runtime.inspection.captured_constants import Constant, constants
from jaxlint_runtime.inspection.collectives import collective_bytes
from jaxlint_runtime.inspection.flops import Work, count
from jaxlint_runtime.inspection.intermediate_dtypes import dtype_bytes
from jaxlint_runtime.inspection.jaxpr_facts import traced
from jaxlint_runtime.inspection.live_bytes import Liveness, liveness
from jaxlint_runtime.inspection.memory import Memory, compiler_cost, memory
from jaxlint_runtime.lowering.function_versions import DoesNotFit, Staged
from jaxlint_runtime.model import Cost

__all__ = [
    "Alias",
    "Constant",
    "Facts",
    "Liveness",
    "Memory",
    "Work",
    "aliases",
    "collective_bytes",
    "constants",
    "cost",
    "count",
    "dtype_bytes",
    "facts",
    "liveness",
    "memory",
]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about one version for one target."""

    memory: Memory
    work: Work
    liveness: Liveness
    aliases: tuple[Alias, ...]
    constants: tuple[Constant, ...]
    dtype_bytes: dict[str, int]
    collective_bytes: float
    donation_refused: tuple[str, ...]


def facts(staged: Staged) -> Facts:
    """Inspects a version, and compiles it if that has not been done. Raises StagingError."""
    hlo = staged.text("hlo")
    return Facts(
        memory=memory(staged.compiled, staged.target.platform),
        work=count(staged.jaxpr),
        liveness=liveness(staged.jaxpr),
        aliases=aliases(hlo),
        constants=constants(staged.jaxpr),
        dtype_bytes=dtype_bytes(staged.jaxpr),
        collective_bytes=collective_bytes(hlo),
        donation_refused=tuple(staged.donation_refused),
    )


def cost(staged: Staged, residual_bytes: int | None = None) -> Cost:
    """The compiler's figures for a version, without any time measured. Raises StagingError.

    FLOPs are counted over the jaxpr, loops by their trip counts; bytes accessed are the compiler's, which counts the
    body of a loop once. A compile-only target gives its own estimate of time where it makes one. If the compiler
    refuses a program for lack of memory, little but its minimal memory is known. For a program with kernels neither
    FLOPs nor bytes are given: they would be the declarations of the kernels' authors.
    """
    try:
        compiled = staged.compiled
    except DoesNotFit as refused:
        return Cost(
            peak_bytes=refused.needed,
            flops=None if traced(staged).kernels else traced(staged).work.flops,
            residual_bytes=residual_bytes,
            fits=False,
        )
    sizes = memory(compiled, staged.target.platform)
    figures = compiler_cost(compiled)
    known = traced(staged)
    declared = known.kernels
    return Cost(
        compile_s=staged.compile_seconds,
        peak_bytes=sizes.total,
        temp_bytes=sizes.temp,
        flops=None if declared else known.work.flops,
        bytes_accessed=None if declared else figures.get("bytes accessed"),
        collective_bytes=collective_bytes(staged.text("hlo")),
        residual_bytes=residual_bytes,
    )
