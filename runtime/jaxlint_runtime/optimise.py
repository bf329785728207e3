"""Try every optimisation on one captured function and prove or reject each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from jaxlint_runtime.host_inputs import host_inputs
from jaxlint_runtime.inspection.constants import constants
from jaxlint_runtime.model import CapturedFunction, Result, Status
from jaxlint_runtime.program import Program
from jaxlint_runtime.search import search
from jaxlint_runtime.settings import TRANSFORMS, Settings
from jaxlint_runtime.staging import StagingError
from jaxlint_runtime.targets import TargetUnavailable

__all__ = ["Settings", "optimise"]

_LARGE = 2**20  # bytes of a captured array that are worth a line


def optimise(function: CapturedFunction, settings: Settings) -> Iterator[Result]:
    """Yield one result per candidate, as each is decided; a candidate that crashes is one failed result.

    Raises UnknownTarget and TargetUnavailable, before anything is yielded, where the target is no use here.
    """
    if function.call is None:
        reason = function.refused or "no call of it was captured"
        yield _whole(function, Status.NOT_APPLICABLE, reason)
        return
    try:
        program = Program(function, settings)
        program.target.devices()
        settings.progress(f"{function.qualname}: staging for {program.target.name}")
        program.cost  # noqa: B018 - stages and compiles the original
    except TargetUnavailable:
        raise
    except StagingError as error:
        yield _whole(function, Status.FAILED, f"the original {error}")
        return
    large = [constant for constant in constants(program.baseline.jaxpr) if constant.nbytes >= _LARGE]
    if large:
        settings.constants([asdict(constant) for constant in large])
    settings.inspected("original", program.baseline)
    if settings.costs:
        as_written = _whole(function, Status.COMPILED, "as it is written")
        as_written.evidence = "memory and cost from the compiler"
        as_written.after = program.cost
        yield as_written
    wide = host_inputs(program) if settings.transforms == TRANSFORMS else None
    if wide is not None:
        yield wide
    yield from search(program)


def _whole(function: CapturedFunction, status: Status, reason: str) -> Result:
    """A result about the function itself rather than one candidate."""
    return Result(function.qualname, function.path, function.line, None, "original", status, "", reason)
