"""Which candidates are proven, and in what order."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.program import Program
from jaxlint_runtime.prove import Base, prove, result, size
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
            program.settings.inspected(candidate.name, version.staged)
            base = version if transform.bits else base
        yield _told(outcome, program.settings.memory_limit)
    limit = program.settings.memory_limit
    parts = _best(proven, limit)
    if len(parts) > 1:
        names = " + ".join(candidate.name for _, candidate in parts)
        program.settings.progress(f"{program.captured.qualname}: {names}")
        outcome, version = prove(program, parts, original)
        if outcome.status in (Status.VERIFIED, Status.COMPILED):
            program.settings.inspected(names, version.staged)
        yield _told(outcome, limit)


def _best(
    proven: list[tuple[Transform, Candidate, Result]], limit: int | None
) -> list[tuple[Transform, Candidate]]:
    """The proven candidate of each transformation: with a limit the fastest that fits, else that with the lowest peak."""
    by_name: dict[str, list[tuple[Transform, Candidate, Result]]] = {}
    for entry in proven:
        by_name.setdefault(entry[0].name, []).append(entry)
    chosen = []
    for entries in by_name.values():
        fitting = [entry for entry in entries if limit is not None and _peak(entry[2]) <= limit]
        best = min(fitting, key=lambda entry: _time(entry[2])) if fitting else None
        best = best or min(entries, key=lambda entry: _peak(entry[2]))
        chosen.append((best[0], best[1]))
    return chosen


def _told(outcome: Result, limit: int | None) -> Result:
    """The same result, which says whether it fits."""
    if limit is not None and outcome.after is not None and outcome.after.peak_bytes:
        fits = "fits" if outcome.after.peak_bytes <= limit else "does not fit"
        outcome.reason += f"; it {fits} the {size(limit)} of --memory-limit"
    return outcome


def _time(outcome: Result) -> tuple[float, float]:
    """For ranking: the time against that before, where it is known, else the work."""
    speedup = outcome.speedup.median if outcome.speedup else 1.0
    return 1.0 / max(speedup, 1e-9), (outcome.after.flops or 0.0) if outcome.after else 0.0


def _peak(outcome: Result) -> float:
    return outcome.after.peak_bytes if outcome.after and outcome.after.peak_bytes else float("inf")
