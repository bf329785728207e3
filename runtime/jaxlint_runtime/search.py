"""Which candidates are proven, and in what order."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.program import Program
from jaxlint_runtime.prove import Base, prove, result
from jaxlint_runtime.staging import first_line
from jaxlint_runtime.transforms import TRANSFORMS, Candidate, NotApplicable, Transform


def search(program: Program) -> Iterator[Result]:
    """Prove the candidates one by one, largest estimate first, then the best of each transformation together."""
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

    original = base = Base((), program.baseline)
    proven: list[tuple[Transform, Candidate, Result]] = []
    # What changes no bit comes first and stays in place: a donated state is no longer held twice, and only then
    # does what is kept for the backward pass show in the peak.
    for transform, candidate in sorted(proposed, key=lambda pair: (not pair[0].bits, -pair[1].estimate)):
        program.settings.progress(f"{program.captured.qualname}: {candidate.name}")
        outcome, version = prove(program, [(transform, candidate)], base)
        if outcome.status in (Status.VERIFIED, Status.COMPILED):
            proven.append((transform, candidate, outcome))
            base = version if transform.bits else base
        yield outcome
    parts = _best(proven)
    if len(parts) > 1:
        names = " + ".join(candidate.name for _, candidate in parts)
        program.settings.progress(f"{program.captured.qualname}: {names}")
        yield prove(program, parts, original)[0]


def _best(proven: list[tuple[Transform, Candidate, Result]]) -> list[tuple[Transform, Candidate]]:
    """The proven candidate of each transformation with the lowest peak."""
    best: dict[str, tuple[Transform, Candidate, Result]] = {}
    for entry in proven:
        known = best.get(entry[0].name)
        if known is None or _peak(entry[2]) < _peak(known[2]):
            best[entry[0].name] = entry
    return [(transform, candidate) for transform, candidate, _ in best.values()]


def _peak(outcome: Result) -> float:
    return outcome.after.peak_bytes if outcome.after and outcome.after.peak_bytes else float("inf")
