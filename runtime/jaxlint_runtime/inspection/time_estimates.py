"""An estimate of a program's time on a compile-only target, if possible.

The compiler's own if it provides one (TPU, programs without loops), otherwise a roofline bound: the work at the
published peak of the chip, or the bytes at its bandwidth, whichever takes longer. None if a program calls a kernel:
its cost is only its author's declaration.
"""

from __future__ import annotations

import re

from jaxlint_runtime.inspection.device_peaks import PUBLISHED, published
from jaxlint_runtime.inspection.hlo import parse
from jaxlint_runtime.inspection.jaxpr_facts import traced
from jaxlint_runtime.inspection.memory import compiler_cost
from jaxlint_runtime.inspection.traffic import traffic
from jaxlint_runtime.lowering.function_versions import Staged

_KERNEL = re.compile(
    r'custom_call_target="(tpu_custom_call|mosaic|triton|__gpu\$xla\.gpu\.triton|[^"]*flash|__cudnn\$fmha)',
    re.IGNORECASE,
)
_LOOP = re.compile(r"= \S+ while\(|\) while\(")
_MOST_TEXT = 24 * 2**20  # characters of HLO that are read


def calls_kernel(staged: Staged) -> bool:
    """Whether the compiled program calls a kernel whose work the compiler does not know. Raises StagingError."""
    return bool(_KERNEL.search(staged.text("hlo")))


def compiler_ms(staged: Staged) -> float | None:
    """The compiler's own estimate, in milliseconds. Raises StagingError."""
    if calls_kernel(staged) or _LOOP.search(staged.text("hlo")):
        return None  # the body of a loop counts once, so a loop would look cheaper than the code that it replaces
    seconds = compiler_cost(staged.compiled).get("optimal_seconds", -1.0)
    # The analysis adds -1 for each instruction that it cannot estimate, so only values well below 1 are sums of
    # these.
    return seconds * 1e3 if 0 < seconds <= 0.9 else None


def roofline_ms(staged: Staged) -> float | None:
    """A lower bound in milliseconds on the single chip of a compile-only target. Raises StagingError."""
    chip = PUBLISHED.get(staged.target.chip or "")
    text = staged.text("hlo")
    if chip is None or staged.target.chips != 1 or len(text) > _MOST_TEXT or calls_kernel(staged):
        return None
    moved, known = traffic(parse(text)), traced(staged)
    if not moved.exact or not known.work.exact:
        return None
    by_dtype: dict[str, float] = {}
    for dtype, flops in known.products:
        by_dtype[dtype] = by_dtype.get(dtype, 0.0) + flops
    busy = sum(flops / chip.flops_for(dtype) for dtype, flops in by_dtype.items())
    return 1e3 * max(busy, moved.nbytes / chip.bandwidth)


def least_ms(staged: Staged) -> float | None:
    """A lower bound in milliseconds for the program's products on the current device, from its published figures.

    None if these are unknown, or the work is. Raises StagingError.
    """
    chip = published(staged.target)
    if chip is None or not traced(staged).work.exact:
        return None
    devices = max(staged.target.chips, len(staged.target.devices()))
    work = sum(flops / chip.flops_for(dtype) for dtype, flops in traced(staged).products)
    return 1e3 * work / devices


def estimated_ms(staged: Staged) -> tuple[float, str] | None:
    """(milliseconds, "compiler" or "roofline") on a compile-only target, None without an estimate. Raises
    StagingError."""
    if not staged.target.compile_only:
        return None
    own = compiler_ms(staged)
    if own is not None:
        return own, "compiler"
    bound = roofline_ms(staged)
    return None if bound is None else (bound, "roofline")
