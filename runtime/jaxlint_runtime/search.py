"""Which candidates are proven, and in what order."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.program import Program
from jaxlint_runtime.prove import prove, result
from jaxlint_runtime.staging import first_line
from jaxlint_runtime.transforms import TRANSFORMS, Candidate, NotApplicable, Transform


def search(program: Program) -> Iterator[Result]:
    """Prove every candidate alone, largest estimate first; then the best of each transformation together."""
    proposed: list[tuple[Transform, Candidate]] = []
    for name in program.settings.transforms:
        transform = TRANSFORMS[name]
        try:
            proposed += [(transform, candidate) for candidate in transform.propose(program)]
        except NotApplicable as reason:
            yield result(program, transform, name, Status.NOT_APPLICABLE, str(reason))
        except Exception as error:
            yield result(
                program, transform, name, Status.FAILED, f"could not look for it: {first_line(error)}"
            )

    proven: list[tuple[Transform, Candidate, Result]] = []
    for transform, candidate in sorted(proposed, key=lambda pair: -pair[1].estimate):
        program.settings.progress(f"{program.captured.qualname}: {candidate.name}")
        outcome = prove(program, [(transform, candidate)])
        if outcome.status in (Status.VERIFIED, Status.COMPILED):
            proven.append((transform, candidate, outcome))
        yield outcome
    combined = _combination(program, proven)
    if combined is not None:
        yield combined


def _combination(program: Program, proven: list[tuple[Transform, Candidate, Result]]) -> Result | None:
    """The best proven candidate of each transformation in one version; None where fewer than two were proven."""
    best: dict[str, tuple[Transform, Candidate, Result]] = {}
    for entry in proven:
        known = best.get(entry[0].name)
        if known is None or _peak(entry[2]) < _peak(known[2]):
            best[entry[0].name] = entry
    if len(best) < 2:
        return None
    parts = [(transform, candidate) for transform, candidate, _ in best.values()]
    names = " + ".join(candidate.name for _, candidate in parts)
    program.settings.progress(f"{program.captured.qualname}: {names}")
    return prove(program, parts)


def _peak(outcome: Result) -> float:
    return outcome.after.peak_bytes if outcome.after and outcome.after.peak_bytes else float("inf")
