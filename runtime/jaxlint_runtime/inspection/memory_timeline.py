"""Memory over program order: the live values after each equation of a jaxpr, the peak, and its composition.

An estimate that needs no compiler (see `liveness`): it ignores fusion.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr, user_frames
from jaxlint_runtime.inspection.hlo import Place, own
from jaxlint_runtime.inspection.live_bytes import Moment, walk
from jaxlint_runtime.inspection.traffic import phase
from jaxlint_runtime.lowering.avals import nbytes

_POINTS = 240  # more points do not help a picture
_ALIVE = 8  # values that are listed at the peak


@dataclass(frozen=True, slots=True)
class Alive:
    """A value that is alive at the peak, and where it was made; `place` is None for an argument."""

    shape: str
    nbytes: int
    count: int
    place: Place | None
    operation: str  # "argument" for an argument


@dataclass(frozen=True, slots=True)
class Timeline:
    """Live bytes at each point in program order, thinned to the highest of each stretch; `phases` beside them."""

    nbytes: tuple[int, ...]
    phases: tuple[str, ...]
    equations: int
    peak: int
    peak_index: int  # among the points
    peak_place: Place | None
    peak_operation: str
    alive: tuple[Alive, ...]


def timeline(jaxpr: Any, donated: Sequence[bool] = ()) -> Timeline:
    """The memory of a traced function, its arguments included; `donated` as for `liveness`."""
    seen = [(moment.nbytes, moment.equation, phase(moment.within)) for moment in walk(jaxpr, donated)]
    if not seen:
        parts = open_jaxpr(jaxpr)
        arguments = sum(nbytes(var.aval) for var in (*parts.constvars, *parts.invars))
        return Timeline((arguments,), ("other",), 0, arguments, 0, None, "", ())
    top = max(range(len(seen)), key=lambda n: seen[n][0])
    step = -(-len(seen) // _POINTS)
    kept = [
        max(range(start, min(start + step, len(seen))), key=lambda n: seen[n][0])
        for start in range(0, len(seen), step)
    ]
    highest = seen[top][1]
    return Timeline(
        nbytes=tuple(seen[n][0] for n in kept),
        phases=tuple(seen[n][2] for n in kept),
        equations=len(seen),
        peak=seen[top][0],
        peak_index=top // step,
        peak_place=own(user_frames(highest)),
        peak_operation=highest.primitive.name,
        alive=_alive(jaxpr, next(itertools.islice(walk(jaxpr, donated), top, None))),
    )


def _alive(jaxpr: Any, moment: Moment) -> tuple[Alive, ...]:
    """The values at one moment, equal ones of one line merged, largest first."""
    made = dict(_makers(jaxpr))
    counts: dict[tuple[str, Place | None, str], list[int]] = {}
    for var, size in ((var, size) for values in moment.alive for var, size in values.items()):
        eqn = made.get(var)
        place = own(user_frames(eqn)) if eqn is not None else None
        operation = eqn.primitive.name if eqn is not None else "argument"
        entry = counts.setdefault((var.aval.str_short(short_dtypes=True), place, operation), [0, 0])
        entry[0] += size
        entry[1] += 1
    found = [Alive(shape, total, count, place, op) for (shape, place, op), (total, count) in counts.items()]
    return tuple(sorted(found, key=lambda one: -one.nbytes)[:_ALIVE])


def _makers(jaxpr: Any) -> Iterator[tuple[Any, Any]]:
    for eqn in open_jaxpr(jaxpr).eqns:
        for var in eqn.outvars:
            yield var, eqn
        for _, body in inner_jaxprs(eqn):
            yield from _makers(body)
