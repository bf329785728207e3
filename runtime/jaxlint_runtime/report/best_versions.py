"""The versions of a function that a reader looks at first: the original, and the best proven one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.proof.gain import gain_of, is_proven
from jaxlint_runtime.protocol.report_forms import ResultJson

Place = tuple[str, str, int]  # function, path, line


@dataclass(frozen=True, slots=True)
class Subject:
    """One function on one target: its candidates, the inspection of the original, the best result and its inspection."""

    place: Place
    results: list[ResultJson]
    original: Mapping[str, Any] | None
    best: ResultJson | None
    improved: Mapping[str, Any] | None


def subjects(run: Mapping[str, Any]) -> list[Subject]:
    """The functions in a run of the document, in the order in which they were tried."""
    places = dict.fromkeys(place_of(result) for result in run["results"])
    places.update(dict.fromkeys(place_of(one) for one in run["inspections"]))
    found = []
    for place in places:
        results = [
            result
            for result in run["results"]
            if place_of(result) == place and result["candidate"] != "original"
        ]
        versions = {one["version"]: one for one in run["inspections"] if place_of(one) == place}
        best = best_of(results)
        improved = versions.get(best["candidate"]) if best is not None else None
        found.append(Subject(place, results, versions.get("original"), best, improved))
    return found


def place_of(entry: Mapping[str, Any]) -> Place:
    """The key that identifies a function."""
    return entry["function"], entry["path"], entry["line"]


def best_of(results: Sequence[ResultJson]) -> ResultJson | None:
    """The proven combination, otherwise the proven candidate with the largest gain in time and memory together."""
    proven = [result for result in results if is_proven(result) and result["before"] and result["after"]]
    return max(
        proven, key=lambda result: (" + " in result["candidate"], gain_of(result).weight), default=None
    )
