"""The first lines for a reader: what is proven, how much faster and smaller it is, and the next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jaxlint_runtime.proof.gain import Gain, between_runs, gain_of, is_proven, tally
from jaxlint_runtime.protocol.report_forms import before_and_after
from jaxlint_runtime.report.candidate_lines import ADVICE, WRITABLE, WRITTEN, candidate_lines, ways_of
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.time_outside import time_outside
from jaxlint_runtime.wording.edit_names import label
from jaxlint_runtime.wording.function_names import short_name
from jaxlint_runtime.wording.paths import display_path
from jaxlint_runtime.wording.units import times

_SHOWN_FUNCTIONS = 2
_MUCH_FASTER = 1.5
_LEAST_SHARE = 0.01  # a smaller share is not reported


def first_lines(document: Document) -> list[str]:
    """At most three lines, without styles, and the causes of remaining cost if no edit helped; the answer of
    --compare comes before them.
    """
    said = list(_of_baseline(document))
    if not document.results:
        return said + time_outside(document)
    said.append(_of_candidates(document))
    said += _gains(document)
    if not _is_faster(document):
        said += time_outside(document)
    said.append(f"Next: {_next(document, ways_of(document))}")
    return said


def _of_baseline(document: Document) -> Iterator[str]:
    """The answer of --compare."""
    if document.baseline is None:
        return
    name, worse = display_path(document.baseline), len(document.regressions)
    if not document.in_baseline:
        yield f"Nothing was compared: {name} has none of the functions of this run."
        return
    costs = (
        f"{worse} figure{'s are' if worse > 1 else ' is'} worse than in"
        if worse
        else "Nothing costs more than in"
    )
    functions = f"{document.in_baseline} function{'s' if document.in_baseline > 1 else ''}"
    yield f"{costs} {name}: {functions} compared."


def _of_candidates(document: Document) -> str:
    """How many candidates were proven; a few that were not, by name."""
    counted = tally([result for _, result in document.results])
    untried = _untried(document)
    if not counted.tried:
        return f"No candidate was tried{': ' if untried else ''}{untried}."
    lines = candidate_lines(document)
    earlier = sum(bool(result.get("earlier")) for _, result in document.results if is_proven(result))
    if counted.proven or not 0 < counted.tried == len(lines) <= _SHOWN_FUNCTIONS:
        said = [counted.text, f"{earlier} by an earlier run"] if earlier else [counted.text]
        return f"{', '.join(said)}{'; ' if untried else ''}{untried}."
    tried = "; ".join(f"{line.candidate} of {line.function}: {line.outcome}" for line in lines)
    return f"{counted.text} ({tried})."


def _untried(document: Document) -> str:
    """Why nothing was tried on the function that takes the most time, if that is so: it is usually the function of interest."""
    shares = _shares(document)
    place = max(shares, key=lambda place: shares[place], default=None)
    for _, result in document.results:
        if (result["path"], result["line"]) == place and result["candidate"] == "all":
            return f"{short_name(result['function'])}: {result['reason']}"
    return ""


def _is_faster(document: Document) -> bool:
    """Whether the whole program is proven to be faster."""
    gains = (gain_of(result) for _, result in document.results if is_proven(result))
    return any(gain.whole and gain.faster for gain in gains)


def _gains(document: Document) -> Iterator[str]:
    """One line: the whole program if it was measured, otherwise the functions with the largest gains."""
    proven = [
        (result, gain)
        for _, result in document.results
        if is_proven(result) and (gain := gain_of(result)).better
    ]
    whole = [(result, gain) for result, gain in proven if gain.whole]
    if whole:
        result, gain = max(whole, key=lambda pair: pair[1].weight)
        yield f"The whole program: {_of_program(result, gain)} with {label(result['candidate'])}."
        return
    best: dict[tuple[str, int], tuple[Mapping[str, Any], Gain]] = {}
    for result, gain in proven:
        place = (result["path"], result["line"])
        if place not in best or gain.weight > best[place][1].weight:
            best[place] = (result, gain)
    shares = _shares(document)
    ranked = sorted(
        best.values(), key=lambda pair: -pair[1].weight * shares.get((pair[0]["path"], pair[0]["line"]), 1.0)
    )
    parts = [
        f"{short_name(result['function'])}{_share(shares.get((result['path'], result['line'])))}: {gain.brief} with {label(result['candidate'])}"
        for result, gain in ranked[:_SHOWN_FUNCTIONS]
    ]
    if left := len(ranked) - len(parts):
        parts.append(f"and {left} more function{'s' if left > 1 else ''}")
    if parts:
        yield "; ".join(parts) + "."


def _of_program(result: Mapping[str, Any], gain: Gain) -> str:
    """The gain of a whole run, compiling included; also the gain without compiling if that is larger."""
    total = (result.get("ratios") or {}).get("total")
    if total is None or not gain.faster:
        return gain.brief
    assert gain.time is not None
    whole = between_runs("time", result.get("pairs") or 0, total["median"], total["low"], total["high"])
    steady = f"{times(gain.time.ratio)}x without compile time"
    parts = [f"{whole.brief} ({steady})" if whole.brief else f"{gain.time.brief} without compile time"]
    parts += [one.brief for one in (gain.memory, gain.compile) if one is not None]
    return ", ".join(part for part in parts if part)


def _shares(document: Document) -> dict[tuple[str, int], float]:
    """Each function's share of the time in jitted functions, without compilation."""
    spent = {(one["path"], one["line"]): one.get("seconds") or 0.0 for one in document.functions}
    whole = sum(spent.values())
    return {place: seconds / whole for place, seconds in spent.items()} if whole else {}


def _share(share: float | None) -> str:
    return (
        f" ({share:.0%} of the time in jitted functions)"
        if share is not None and share >= _LEAST_SHARE
        else ""
    )


def _next(document: Document, ways: Mapping[tuple[str, int, str], str]) -> str:
    """The next command or page."""
    names: dict[str, list[str]] = {WRITTEN: [], WRITABLE: [], ADVICE: []}
    files = []
    options = "--apply"
    for target, result in document.results:
        way = ways.get((result["path"], result["line"], result["candidate"]))
        if way == WRITABLE and result["status"] == "compiled" and ":" in target:
            options = "--apply --accept-compiled"
        name = f"{label(result['candidate'])} of {short_name(result['function'])}"
        if way is not None and name not in names[way]:
            names[way].append(name)
            if way == WRITTEN and (path := display_path(result["path"])) not in files:
                files.append(path)
    if names[WRITTEN]:
        return (
            f"review {' and '.join(files)}, where {_listed(names[WRITTEN])} {_verb(names[WRITTEN])} written."
        )
    if names[WRITABLE] and document.program.get("joins"):
        return f"run it with --launcher or --processes, and --apply, to write {_listed(names[WRITABLE])}."
    if names[WRITABLE]:
        return f"run the same command with {options} to write {_listed(names[WRITABLE])}."
    if names[ADVICE]:
        return "write the proven changes by hand, as shown below."
    if traded := _faster_with_more_memory(document):
        return traded
    if any("--budget" in result["reason"] for _, result in document.results):
        return "give it more time, with --budget TIME."
    return "add --verbose to see why each candidate was rejected."


def _faster_with_more_memory(document: Document) -> str:
    """A version that was rejected only for its memory, and is much faster; empty if there is none."""
    best, most = None, _MUCH_FASTER
    for line in candidate_lines(document):
        gain = gain_of(line.result)
        before, after = before_and_after(line.result, "time_ms")
        if (
            gain.bigger
            and not line.proven
            and before
            and after
            and before["median"] >= most * after["median"]
        ):
            best, most = (line, gain), before["median"] / after["median"]
    if best is None:
        return ""
    line, gain = best
    return (
        f"decide whether memory matters: {line.candidate} of {line.function} is {most:.1f} times as fast in one run "
        f"and needs {line.memory}; --verbose shows what it changes."
    )


def _listed(names: list[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(names: list[str]) -> str:
    return "is" if len(names) == 1 and not names[0].startswith(("edits", "all edits")) else "are"
