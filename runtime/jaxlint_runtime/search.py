"""Which candidates are proven, and in what order."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.program import Program
from jaxlint_runtime.prove import Base, prove, result, size
from jaxlint_runtime.settings import TRANSFORMS as ALL
from jaxlint_runtime.staging import first_line
from jaxlint_runtime.transforms import TRANSFORMS, Candidate, NotApplicable, Transform

_UNLIMITED = 2  # candidates of last resort that are tried where no limit says when it is enough

Part = tuple[Transform, Candidate]
Proven = list[tuple[Transform, Candidate, Result]]


def search(program: Program) -> Iterator[Result]:
    """Prove the candidates one by one, largest estimate first, then the best of each transformation together.

    Last come those of last resort, where they were asked for or nothing before them fits the limit.
    """
    names = program.settings.transforms
    ordinary = [name for name in names if not TRANSFORMS[name].last_resort]
    proposed: list[Part] = []
    for name in ordinary:
        found = _proposed(program, name)
        if isinstance(found, Result):
            yield found
        else:
            proposed += found

    original = base = Base((), program.baseline)
    proven: Proven = []
    # What changes no bit comes first and stays in place: a donated state is no longer held twice, and only then
    # does what is kept for the backward pass show in the peak.
    for transform, candidate in sorted(proposed, key=lambda pair: (not pair[0].bits, -pair[1].estimate)):
        outcome, version = _tried(program, [(transform, candidate)], base)
        if _is_proven(outcome):
            proven.append((transform, candidate, outcome))
            base = version if transform.bits else base
        yield outcome
    limit = program.settings.memory_limit
    parts = _best(proven, limit)
    peaks = [program.cost.peak_bytes or 0.0, *(_peak(outcome) for _, _, outcome in proven)]
    if len(parts) > 1:
        outcome, _ = _tried(program, parts, original)
        if _is_proven(outcome):
            peaks.append(_peak(outcome))
        yield outcome
    asked = len(ordinary) < len(names) and names != ALL
    if asked or (limit is not None and min(peaks) > limit):
        for name in names:
            if TRANSFORMS[name].last_resort:
                yield from _last_resort(program, name, parts, base)


def _proposed(program: Program, name: str) -> list[Part] | Result:
    """The candidates of a transformation, or why there are none."""
    transform = TRANSFORMS[name]
    try:
        return [(transform, candidate) for candidate in transform.propose(program)]
    except NotApplicable as reason:
        return result(program, transform, name, Status.NOT_APPLICABLE, str(reason))
    except Exception as error:
        return result(program, transform, name, Status.FAILED, f"could not look for it: {first_line(error)}")


def _last_resort(program: Program, name: str, parts: list[Part], base: Base) -> Iterator[Result]:
    """The candidates in their order, until one fits; then the last with the best of the others, where none did."""
    found = _proposed(program, name)
    if isinstance(found, Result):
        yield found
        return
    limit = program.settings.memory_limit
    tried: list[Part] = []
    for part in found if limit is not None else found[:_UNLIMITED]:
        outcome, _ = _tried(program, [part], base)
        yield outcome
        if not _is_proven(outcome):
            break
        tried.append(part)
        if limit is not None and _peak(outcome) <= limit:
            return
    others = [part for part in parts if part not in base.parts]
    if tried and others and limit is not None:
        outcome, _ = _tried(program, [*parts, tried[-1]], Base((), program.baseline))
        yield outcome


def _tried(program: Program, parts: list[Part], base: Base) -> tuple[Result, Base]:
    names = " + ".join(candidate.name for _, candidate in parts)
    program.settings.progress(f"{program.captured.qualname}: {names}")
    outcome, version = prove(program, parts, base)
    if _is_proven(outcome):
        program.settings.inspected(names, version.staged)
    return _told(outcome, program.settings.memory_limit), version


def _is_proven(outcome: Result) -> bool:
    return outcome.status in (Status.VERIFIED, Status.COMPILED)


def _best(proven: Proven, limit: int | None) -> list[Part]:
    """The proven candidate of each transformation: with a limit the fastest that fits, else that with the lowest peak."""
    by_name: dict[str, Proven] = {}
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
