"""Tries every optimisation on one captured function, in this process, and proves or rejects each."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint_runtime.lowering.function_versions import StagingError
from jaxlint_runtime.model import CapturedFunction, Result, Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.candidate_search import search
from jaxlint_runtime.proof.live_prover import LiveProver, opening, whole
from jaxlint_runtime.proof.reference import Reference

__all__ = ["Settings", "optimise"]


def optimise(function: CapturedFunction, settings: Settings) -> Iterator[Result]:
    """Yields one result per candidate, as each is decided; a candidate that crashes is one failed result.

    Raises UnknownTarget and TargetUnavailable, before anything is yielded, if the target cannot be used here.
    """
    if function.call is None:
        reason = function.refused or "no call was captured"
        yield Result(
            function.qualname,
            function.path,
            function.line,
            None,
            "original",
            Status.NOT_APPLICABLE,
            "",
            reason,
        )
        return
    program = Reference(function, settings)
    try:
        yield from opening(program)
    except StagingError as error:
        yield whole(program, Status.FAILED, f"the original {error}")
        return
    prover = LiveProver(program)
    yield from search(
        prover,
        settings.transforms,
        settings.memory_limit,
        lambda names: settings.progress(f"{function.qualname}: {names}"),
    )
