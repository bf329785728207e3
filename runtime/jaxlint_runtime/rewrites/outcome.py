"""Whether two runs of a program are equivalent: exit status, values, printed lines, files and error output."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint_runtime.rewrites.error_output import other_errors
from jaxlint_runtime.rewrites.printed_output import differs
from jaxlint_runtime.rewrites.side_effects import other_files
from jaxlint_runtime.rewrites.trial_runs import Trial


def other_outcome(
    base: Trial,
    repeats: Sequence[Trial],
    found: Trial,
    *,
    values: str | None = None,
    coarse: bool = False,
) -> str | None:
    """How a run differs from the original, beyond its other runs and rounding; None if it does not.

    `values`: the known difference in the results of its functions. `coarse`: it computes in 16 bits.
    """
    if (ending := ends_otherwise(base, found)) is not None:
        return ending
    printed = differs(base.printed, [one.printed for one in repeats], found.printed, coarse=coarse)
    if (problem := values or printed) is not None:
        return f"the results differ: {problem}"
    lefts = [one.left for one in repeats]
    files = other_files(base.left, lefts, found.left, coarse=coarse)
    errors = [one.errors for one in lefts]
    return files or other_errors(base.left.errors, errors, found.left.errors, coarse=coarse)


def ends_otherwise(base: Trial, found: Trial) -> str | None:
    """How the exit status differs; None if it does not."""
    if found.status == base.status:
        return None
    return f"the results differ: exit status {found.status} instead of {base.status}"
