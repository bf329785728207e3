"""What a function needs on each target, originally and at best: one row each, for every report format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jaxlint_runtime.proof.gain import is_proven
from jaxlint_runtime.protocol.report_forms import CostJson, ResultJson, peak_of
from jaxlint_runtime.report.best_versions import Subject, subjects
from jaxlint_runtime.wording.units import amount, milliseconds, size


@dataclass(frozen=True, slots=True)
class Row:
    """Texts of one row; `fits` is "fits", "too big" or "" if the memory of the device is unknown."""

    function: str
    target: str
    version: str
    compile_only: bool
    memory: str
    limit: str
    fits: str
    flops: str
    moved: str
    sent: str
    kernels: str
    time: str


def rows_of(runs: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows of all targets, those of one function adjacent."""
    found = [(subject.place, row) for run in runs for subject in subjects(run) for row in _rows(subject, run)]
    order = {place: number for number, place in enumerate(dict.fromkeys(place for place, _ in found))}
    return [row for _, row in sorted(found, key=lambda pair: order[pair[0]])]


def worth_showing(rows: Sequence[Row]) -> bool:
    """Whether there are targets other than the current device."""
    return len({row.target for row in rows}) > 1 or any(row.compile_only for row in rows)


def verdicts(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The functions that do not fit their device's memory, and what makes them fit; for compile-only targets, that
    the others fit."""
    for run in runs:
        memory = run["peaks"]["memory"] if run["peaks"] else None
        if memory is None:
            continue
        fitting = []
        for subject in subjects(run):
            cost = subject.original["cost"] if subject.original else None
            if not cost or not cost["peak_bytes"]:
                continue
            if _fits(cost, memory):
                fitting.append((cost["peak_bytes"], subject))
            else:
                yield _too_big(subject, cost, memory, run["target"])
        if fitting and compile_only(run):
            most, subject = max(fitting, key=lambda pair: pair[0])
            which = subject.place[0] if len(fitting) == 1 else f"each of {len(fitting)} functions"
            needs = "it needs" if len(fitting) == 1 else f"{subject.place[0]} needs most,"
            yield f"{which} fits the {size(memory)} of {run['target']}: {needs} {size(most)}{_smaller(subject)}"


def compile_only(run: Mapping[str, Any]) -> bool:
    """Whether a run's target is compile-only."""
    return ":" in run["target"]


def _fits(cost: CostJson, memory: float) -> bool:
    return (peak_of(cost) or 0) <= memory and cost.get("fits") is not False


def _shown(subject: Subject) -> list[tuple[int, ResultJson]]:
    """The proven candidates with known memory, and that memory."""
    return [(peak, r) for r in subject.results if (peak := peak_of(r["after"])) and is_proven(r)]


def _smaller(subject: Subject) -> str:
    """What the smallest version needs, if it is less."""
    peak, least = min(_shown(subject), key=lambda one: one[0], default=(0, None))
    before = subject.original["cost"]["peak_bytes"] if subject.original else 0
    if least is None or peak > 0.98 * before:
        return ""
    return f", with {_all_of(least)} {size(peak)}"


def _all_of(result: ResultJson) -> str:
    """All candidates of a result's version, including those that it was tried on top of."""
    base = result.get("base")
    return f"{base} + {result['candidate']}" if base else str(result["candidate"])


def _too_big(subject: Subject, cost: CostJson, memory: float, target: str) -> str:
    bound = "at least " if cost.get("fits") is False else ""
    what = f"{subject.place[0]} does not fit the {size(memory)} of {target}: it needs {bound}{size(cost['peak_bytes'])}"
    tried = _shown(subject)
    fitting = [(peak, r) for peak, r in tried if r["after"] and _fits(r["after"], memory)]
    if fitting:
        peak, best = min(fitting, key=lambda one: (_all_of(one[1]).count(" + "), one[0]))
        return f"{what}; with {_all_of(best)} it needs {size(peak)} and fits"
    if tried:
        peak, least = min(tried, key=lambda one: one[0])
        return f"{what}; {_all_of(least)} brings it to {size(peak)}, still too much"
    return f"{what}; no candidate makes it smaller"


def _rows(subject: Subject, run: Mapping[str, Any]) -> Iterator[Row]:
    costs = (subject.best["before"], subject.best["after"]) if subject.best else (None, None)
    names = ("as written", subject.best["candidate"] if subject.best else "")
    for name, one, cost in zip(names, (subject.original, subject.improved), costs, strict=True):
        if one is None:
            continue
        figures = dict(one["cost"] or {})
        if not figures or not compile_only(run):  # the current device's time is that of the proof
            figures.update({key: value for key, value in (cost or {}).items() if value is not None})
        if name == "as written" and one["cost"]:
            figures["peak_bytes"] = one["cost"]["peak_bytes"]
        yield _row(subject.place[0], name, one, cast(CostJson, figures), run)


def _time(milliseconds_: float, kind: str) -> str:
    """A time with its kind; a roofline time is a bound."""
    return f"{'≥ ' if kind == 'roofline' else ''}{milliseconds(milliseconds_)} ({kind})"


def _row(function: str, version: str, one: Mapping[str, Any], cost: CostJson, run: Mapping[str, Any]) -> Row:
    hlo = one["hlo"]
    peak = cost.get("peak_bytes")
    memory = run["peaks"]["memory"] if run["peaks"] else None
    fits = "" if peak is None or memory is None else "fits" if peak <= memory else "too big"
    if cost.get("fits") is False:
        fits = "too big"
    custom = sum(hlo["custom_calls"].values()) if hlo else 0
    time = cost.get("time_ms")
    sent = sum(entry["bytes"] for entry in hlo["collectives"].values()) if hlo else None
    return Row(
        function=function,
        target=run["target"],
        version=version,
        compile_only=compile_only(run),
        memory=("at least " if cost.get("fits") is False else "") + size(peak),
        limit=size(memory),
        fits=fits,
        flops=amount(cost.get("flops"), "FLOP"),
        moved=size(sum(one["bytes"].values()) if one["bytes"] else None),
        sent=size(sent) if sent else "-",
        kernels="-" if hlo is None else f"{hlo['kernels']}" + (f", {custom} custom" if custom else ""),
        time=_time(time["median"], str(cost["time_kind"])) if time else "-",
    )
