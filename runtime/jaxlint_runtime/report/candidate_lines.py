"""One line for each tried candidate, the largest gain first; every report format shows these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxlint_runtime.proof.gain import gain_of, is_proven
from jaxlint_runtime.protocol.report_forms import CostJson, NumericsJson, ResultJson, before_and_after
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.wording.edit_names import label
from jaxlint_runtime.wording.function_names import short_name
from jaxlint_runtime.wording.units import from_to, milliseconds, size

WRITTEN, WRITABLE, ADVICE = "written", "--apply writes it", "advice"
EARLIER = "earlier"
BY_COMPILER, COMPILED_WRITABLE = "by the compiler alone", "--accept-compiled writes it"


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """The texts of one row; `result` is its subject."""

    function: str
    candidate: str
    time: str
    speed: str
    memory: str
    values: str
    outcome: str
    proven: bool
    target: str
    result: ResultJson


def candidate_lines(document: Document) -> list[CandidateLine]:
    """The candidates with figures: first the proven ones by gain, then the others in the order in which they were
    tried."""
    ways = ways_of(document)
    lines = [
        _line(target, result, ways.get(_key(result)))
        for target, result in document.results
        if result["candidate"] != "original" and result["before"] is not None and result["after"] is not None
    ]
    return sorted(
        lines, key=lambda line: (not line.proven, -gain_of(line.result).weight if line.proven else 0.0)
    )


def ways_of(document: Document) -> dict[tuple[str, int, str], str]:
    """How each proven result gets into the source, by place and candidate: written, writable or advice."""
    written = {(one["path"], one["line"], one["candidate"]) for one in document.applied if one["kept"]}
    left = {(one["path"], one["line"], one["candidate"]) for one in document.applied if not one["kept"]}
    source = any(one["candidate"] == "source" and one["diff"] for one in document.diffs)
    writable = {(one["path"], one["line"], one["candidate"]) for one in document.diffs if one["diff"]}
    found = {}
    for _, result in document.results:
        key = _key(result)
        if not is_proven(result):
            continue
        can_be = key in writable or (source and result["candidate"].startswith("source"))
        found[key] = WRITTEN if key in written else WRITABLE if can_be and key not in left else ADVICE
    return found


def _key(result: ResultJson) -> tuple[str, int, str]:
    return result["path"], result["line"], result["candidate"]


def _line(target: str, result: ResultJson, way: str | None) -> CandidateLine:
    return CandidateLine(
        short_name(result["function"]),
        label(result["candidate"]),
        time_cell(result) + (f" ({EARLIER})" if _is_of_an_earlier_run(result) else ""),
        speed_cell(result),
        memory_cell(result),
        values_cell(result["numerics"]),
        _outcome(target, result, way),
        is_proven(result),
        target,
        result,
    )


def _outcome(target: str, result: ResultJson, way: str | None) -> str:
    """The outcome in two or three words."""
    if way is not None:
        if result["status"] != "compiled" or way == WRITTEN:
            return way
        # For a compile-only target, results are written only on request.
        asked = COMPILED_WRITABLE if ":" in target else WRITABLE
        return f"{ADVICE}, {BY_COMPILER}" if way == ADVICE else asked
    if result["status"] in ("failed", "not-applicable"):
        return str(result["status"]).replace("-", " ")
    if result["numerics"] is not None and not result["numerics"]["passed"]:
        return "other values"
    gain = gain_of(result)
    return (
        "more memory"
        if gain.bigger
        else "slower"
        if gain.slower
        else "rejected"
        if gain.better
        else "no gain"
    )


def time_cell(result: ResultJson, arrow: str = "->") -> str:
    """The time of a call before and after, with its kind if it was not measured."""
    before, after = before_and_after(result, "time_ms")
    if before is None or after is None:
        return "-"
    _, kind = before_and_after(result, "time_kind")
    mark = f" ({kind})" if kind and kind != "measured" else ""
    return from_to(before["median"], after["median"], milliseconds, arrow) + mark


def _is_of_an_earlier_run(result: ResultJson) -> bool:
    """Whether its times were measured by an earlier run of `verify`."""
    return bool(result.get("earlier")) and time_cell(result) != "-"


def speed_cell(result: ResultJson) -> str:
    """How many times as fast, with its interval."""
    time = gain_of(result).time
    return "-" if time is None else time.cell


def memory_cell(result: ResultJson, arrow: str = "->") -> str:
    """The peak memory before and after; the residuals if the peak is unknown."""
    for key, mark in (("peak_bytes", ""), ("residual_bytes", " of residuals (estimate)")):
        before, after = before_and_after(result, key)
        if before is not None and after is not None:
            return from_to(before, after, size, arrow) + mark
    return "-"


def values_cell(numerics: NumericsJson | None) -> str:
    """The relative distance of the values."""
    if numerics is None:
        return "-"
    apart = numerics["max_rel"]
    if apart == 0.0:
        return "same bits"
    if not numerics["passed"]:
        return "differ" if apart is None else f"differ {apart:.0e}"
    return "agree" if apart is None else f"{apart:.0e}"


def kinds_of_figures(lines: Sequence[CandidateLine]) -> str:
    """The kinds of figures in these lines, in one sentence each."""
    said = []
    if any(
        line.speed != "-" and (line.result["after"] or CostJson()).get("time_kind", "measured") == "measured"
        for line in lines
    ):
        said.append("Times are medians with 95% intervals")
    if any(line.memory != "-" for line in lines):
        said.append("memory is the compiler's plan")
    if any(line.values not in ("-", "same bits") for line in lines):
        said.append("values are relative differences")
    if any(_is_of_an_earlier_run(line.result) for line in lines):
        said.append(f"'{EARLIER}' is a time of an earlier run on this machine (--no-cache measures again)")
    text = ", ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
