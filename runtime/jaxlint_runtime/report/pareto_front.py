"""The choices: the proven versions of a function that no other version beats in time, memory and compile time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from jaxlint_runtime.proof.gain import is_proven
from jaxlint_runtime.protocol.report_forms import CostJson, ResultJson

_AS_IT_IS = "as written"
_SAME = 1.02  # closer times and sizes count as equal


@dataclass(frozen=True, slots=True)
class Point:
    """One version: milliseconds a call and the kind of that time, bytes and seconds, as far as known.

    `written`: `--apply` can write it; None if unknown.
    """

    name: str
    time_ms: float | None
    time_kind: str | None
    peak_bytes: float | None
    compile_s: float | None
    written: bool | None = None

    @property
    def costs(self) -> tuple[float | None, ...]:
        return self.time_ms, self.peak_bytes, self.compile_s


def parts_of(result: ResultJson) -> frozenset[str]:
    """The candidates in a version: its own, and those that it was tried on top of."""
    names = [*str(result.get("base") or "").split(" + "), *str(result["candidate"]).split(" + ")]
    return frozenset(name for name in names if name)


def front(results: Iterable[ResultJson], writable: Set[str] | None = None) -> list[Point]:
    """The Pareto front of one function on one target, including the original if it is on it; the fastest first.

    `results` are those of the function, in the order of decision. `writable`: the candidates that can be written. A
    fully writable version is on the front if no other writable version beats it, whatever advice would.
    """
    points: list[Point] = []
    for result in results:
        if not is_proven(result) or not result["before"] or not result["after"]:
            continue
        if not points:
            points.append(_point(_AS_IT_IS, result["before"]))
        written = None if writable is None else parts_of(result) <= writable
        points.append(_point(result["candidate"], result["after"], written))
    own = [one for one in points if one.written or one.name == _AS_IT_IS]
    kept = [one for one in points if _is_best(one, points) or (one.written and _is_best(one, own))]
    return sorted(kept, key=lambda one: (one.time_ms is None, one.time_kind or "", one.time_ms or 0.0))


def _is_best(one: Point, points: Sequence[Point]) -> bool:
    return not any(_dominates(other, one) for other in points if other is not one)


def _point(name: str, cost: CostJson, written: bool | None = None) -> Point:
    time = cost.get("time_ms")
    kind = cost.get("time_kind") if time else None
    return Point(
        name, time["median"] if time else None, kind, cost.get("peak_bytes"), cost.get("compile_s"), written
    )


def _dominates(one: Point, other: Point) -> bool:
    """Whether `one` is worse in nothing and better in something. Times of different kinds are not comparable."""
    if one.time_ms is not None and other.time_ms is not None and one.time_kind != other.time_kind:
        return False
    pairs: Sequence[tuple[float, float]] = [
        (a, b) for a, b in zip(one.costs, other.costs, strict=True) if a is not None and b is not None
    ]
    return bool(pairs) and all(a <= b * _SAME for a, b in pairs) and any(a * _SAME < b for a, b in pairs)
