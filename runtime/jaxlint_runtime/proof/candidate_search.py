"""The order in which candidates are proven. Independent of JAX and of where they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from jaxlint_runtime.model import Cost, Proposed, Result, Status
from jaxlint_runtime.optimiser_settings import LAST_RESORT, TRANSFORMS
from jaxlint_runtime.proof.gain import gain_of
from jaxlint_runtime.wording.units import size

_UNLIMITED = 2  # candidates of last resort that are tried if there is no memory limit

Parts = tuple[str, ...]
Proven = list[tuple[Proposed, Result]]


class Prover(Protocol):
    """Traces and proves the candidates of one function, each by its name."""

    @property
    def cost(self) -> Cost:
        """The cost of the original."""

    def propose(self, transform: str) -> list[Proposed] | Result:
        """The candidates of a transformation, or why there are none."""

    def prove(self, parts: Parts, base: Parts) -> Result:
        """Proves a version with all of `parts` on top of `base`, compared with `base`."""

    def staged(self, parts: Parts) -> bool:
        """Whether these can be tried together."""


def search(
    prover: Prover,
    names: Sequence[str],
    limit: int | None,
    progress: Callable[[str], None],
    skipped: Callable[[Proposed], Result | None] = lambda candidate: None,
) -> Iterator[Result]:
    """Proves the candidates one by one, the largest estimate first, then the best of each transformation together.

    `skipped` says why a candidate is not tried. Those of last resort come at the end, if they were requested or nothing before them fits the limit in bytes.
    """
    tried = _Tried(prover, limit, progress)
    ordinary = [name for name in names if name not in LAST_RESORT]
    proposed: list[Proposed] = []
    for name in ordinary:
        found = prover.propose(name)
        if isinstance(found, Result):
            yield found
            continue
        for candidate in found:
            if (why := skipped(candidate)) is not None:
                yield why
            else:
                proposed.append(candidate)

    base: Parts = ()
    proven: Proven = []
    # Candidates that change no bit come first and are kept: a donated state is no longer held twice, and only then do
    # the residuals of the backward pass show in the peak.
    for candidate in sorted(proposed, key=lambda one: (not one.bits, -one.estimate)):
        outcome = tried((candidate.name,), base)
        if _is_proven(outcome):
            proven.append((candidate, outcome))
            base = (*base, candidate.name) if candidate.bits else base
        yield outcome
    parts = _together(prover, proven, limit)
    peaks = [prover.cost.peak_bytes or 0.0, *(_peak(outcome) for _, outcome in proven)]
    if len(parts) > 1:
        outcome = tried(parts, ())
        if _is_proven(outcome):
            peaks.append(_peak(outcome))
        yield outcome
    if asked_for_last_resort(names) or (limit is not None and min(peaks) > limit):
        for name in names:
            if name in LAST_RESORT:
                yield from _last_resort(tried, name, parts, base)


def asked_for_last_resort(names: Sequence[str]) -> bool:
    """Whether the user chose the transformations, including those of last resort."""
    return any(name in LAST_RESORT for name in names) and tuple(names) != TRANSFORMS


class _Tried:
    """Candidates with their results, and a note on whether they fit."""

    def __init__(self, prover: Prover, limit: int | None, progress: Callable[[str], None]) -> None:
        self.prover = prover
        self.limit = limit
        self._progress = progress

    def __call__(self, parts: Parts, base: Parts) -> Result:
        self._progress(" + ".join(parts))
        return told(self.prover.prove(parts, base), self.limit)


def _last_resort(tried: _Tried, name: str, parts: Parts, base: Parts) -> Iterator[Result]:
    """The candidates in order, until one fits; then the last with the best of the others, if none did."""
    found = tried.prover.propose(name)
    if isinstance(found, Result):
        yield found
        return
    limit = tried.limit
    last: str | None = None
    for candidate in found if limit is not None else found[:_UNLIMITED]:
        outcome = tried((candidate.name,), base)
        yield outcome
        if not _is_proven(outcome):
            break
        last = candidate.name
        if limit is not None and _peak(outcome) <= limit:
            return
    if last is not None and limit is not None and any(part not in base for part in parts):
        if tried.prover.staged((*parts, last)):
            yield tried((*parts, last), ())


def _is_proven(outcome: Result) -> bool:
    return outcome.status in (Status.VERIFIED, Status.COMPILED)


def _together(prover: Prover, proven: Proven, limit: int | None) -> Parts:
    """The proven candidate of each transformation: with a limit the fastest that fits, otherwise the one with the
    lowest peak.

    If these cannot be tried together, those with the smallest savings are left out.
    """
    by_name: dict[str, Proven] = {}
    for entry in proven:
        by_name.setdefault(entry[0].transform, []).append(entry)
    chosen: list[Proposed] = []
    for entries in by_name.values():
        fitting = [entry for entry in entries if limit is not None and _peak(entry[1]) <= limit]
        best = min(fitting, key=lambda entry: _time(entry[1])) if fitting else None
        chosen.append((best or min(entries, key=lambda entry: _peak(entry[1])))[0])
    while len(chosen) > 1 and not prover.staged(tuple(one.name for one in chosen)):
        chosen.remove(min((one for one in chosen if not one.bits), key=lambda one: one.estimate))
    return tuple(one.name for one in chosen)


def told(outcome: Result, limit: int | None) -> Result:
    """The same result, with a note on whether it fits."""
    if limit is not None and outcome.after is not None and outcome.after.peak_bytes:
        fits = "fits" if outcome.after.peak_bytes <= limit else "does not fit"
        outcome.reason += f"; it {fits} the {size(limit)} of --memory-limit"
    return outcome


def _time(outcome: Result) -> tuple[float, float]:
    """For ranking: the time relative to the original, if known, otherwise the work."""
    time = gain_of(outcome).time
    return 1.0 / (1.0 if time is None else time.factor), (
        outcome.after.flops or 0.0
    ) if outcome.after else 0.0


def _peak(outcome: Result) -> float:
    return outcome.after.peak_bytes if outcome.after and outcome.after.peak_bytes else float("inf")
