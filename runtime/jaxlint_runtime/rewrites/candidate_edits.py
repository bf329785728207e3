"""The edits of the source that are worth a run, according to the first run of the program."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.source.file import SourceFile
from jaxlint_runtime.capture.watched_functions import definitions
from jaxlint_runtime.rewrites.grown_arrays import from_growing
from jaxlint_runtime.rewrites.joined_rows import from_rows
from jaxlint_runtime.rewrites.loop_edits import from_compiled, from_loops, without_those
from jaxlint_runtime.rewrites.loop_steps import from_host_loops
from jaxlint_runtime.rewrites.model_calls import from_model_calls
from jaxlint_runtime.rewrites.padded_arguments import from_lengths
from jaxlint_runtime.rewrites.padded_ends import from_ends
from jaxlint_runtime.rewrites.proposals import Rewrite, from_findings, to_jit
from jaxlint_runtime.rewrites.regions import from_regions, script
from jaxlint_runtime.rewrites.repeated_jits import from_repeated_jits
from jaxlint_runtime.rewrites.setup_calls import from_eager_calls
from jaxlint_runtime.rewrites.state_dtypes import from_weak_starts
from jaxlint_runtime.rewrites.static_numbers import from_numbers, with_selections
from jaxlint_runtime.rewrites.tried_edit import is_writable
from jaxlint_runtime.rewrites.wider_regions import over_findings
from jaxlint_runtime.run import Run
from jaxlint_runtime.source_analysis.calling_loops import least_calls
from jaxlint_runtime.source_analysis.parsing import tree_of

_OBSERVED = 40


def planned(run: Run) -> tuple[list[Rewrite], list[tuple[str, str]]]:
    """The edits to try, and the functions whose results are compared, by path and name."""
    rewrites = propose(run)
    observe = [(one["path"], one["function"]) for one in run.document.watched if one["calls"]]
    observe += [(one.path, one.function) for one in rewrites if one.function != "<module>"]
    return rewrites, list(dict.fromkeys(observe))[:_OBSERVED]


def propose(run: Run, sources: Mapping[str, SourceFile] | None = None) -> list[Rewrite]:
    """The edits that are worth a run, the most promising first. `sources`: the files, with the code that a
    run reached once that is known.
    """
    document, check = run.document, run.check
    if check is None or not document.ran or document.interrupted or not check.sources:
        return []
    if document.targets and all(":" in name for name in document.targets):
        return []  # nothing runs here
    sources = check.sources if sources is None else sources
    seconds = {(one["path"], one["function"]): one["seconds"] or 0.0 for one in document.watched}
    calls = {(one["path"], one["function"]): one["calls"] or 0 for one in document.watched}
    rewrites = with_selections(from_findings(check.findings, seconds, run.fails, calls))
    if not run.fails:
        busy = from_run(
            _called_in_loops(run, sources), sources, script_of(run, run.run_seconds, document.watched)
        )
        busy = with_compiled(busy, from_compiled(document.functions, sources))
        rewrites, busy = over_findings(without_those(rewrites, busy), busy)
        rewrites += busy
        rewrites += from_model_calls(document.watched, sources)
        changed = {one.function.rpartition(".")[2] for one in rewrites}
        setups = [one for kind in ("calls", "inner") for one in document.eager.get(kind, ())]
        rewrites += from_eager_calls(setups, sources, document.watched, changed)
        rewrites += from_numbers(document.functions, sources, rewrites)
        rewrites += from_rows(document.eager.get("rows", ()), sources)
        rewrites += from_weak_starts(document.functions, document.watched, sources)
        # first: any other edit around the calls would compile for each length, or for each call of a method, as well
        first = max((one.estimate for one in rewrites), default=0.0)
        rewrites = [
            dataclasses.replace(one, estimate=max(one.estimate, 1.01 * first))
            for one in (
                *from_lengths(document.functions, sources),
                *from_ends(document.functions, sources),
                *from_repeated_jits(document.functions, sources),
            )
        ] + rewrites
    return sorted(rewrites, key=lambda one: -one.estimate)


def with_compiled(busy: Sequence[Rewrite], compiled: Sequence[Rewrite]) -> list[Rewrite]:
    """Edits of what the host runs, and of loops that a trace unrolls. Where both rewrite the loops of a function, the edit counts for
    what costs more: its time on the host, or the compile time of what calls it.
    """
    costs = {(one.path, one.function): one.estimate for one in compiled}
    loops = {(one.path, one.function) for one in busy if one.name.startswith("loops:")}
    found = [
        dataclasses.replace(one, estimate=max(one.estimate, costs.get((one.path, one.function), 0.0)))
        if one.name.startswith("loops:")
        else one
        for one in busy
    ]
    return [*found, *(one for one in compiled if (one.path, one.function) not in loops)]


def _called_in_loops(run: Run, sources: Mapping[str, SourceFile]) -> Sequence[Mapping[str, Any]]:
    """The watched functions. If the --budget stopped the program in a first call inside a loop, that call counts as often as the loop calls it."""
    watched = run.document.watched
    if run.request.ends is None or (run.document.ending or {}).get("how") != "stopped":
        return watched
    least = least_calls(sources.values())
    return [
        {**one, "calls": least.get(one["function"].rpartition(".")[2], 1)} if one["calls"] == 1 else one
        for one in watched
    ]


def script_of(run: Run, seconds: float, watched: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The module-level statements of a script, with the time of a run that no function of it took."""
    if run.request.kind != "script" or run.request.target is None:
        return []
    spent = max((one["seconds"] or 0.0 for one in watched), default=0.0)
    return [script(run.request.target, max(seconds - spent, 0.0))]


def from_run(
    watched: Sequence[Mapping[str, Any]],
    sources: Mapping[str, SourceFile],
    scripts: Sequence[Mapping[str, Any]] = (),
) -> list[Rewrite]:
    """Edits of functions that the host runs op by op: the array code between host operations, their loops, and `jit`."""
    loops = from_loops(watched, sources)
    whole = {(one.path, one.function) for one in loops}
    steps = from_host_loops([*watched, *scripts], sources)
    steps = [one for one in steps if (one.path, one.function) not in whole]
    jits = to_jit(watched, sources)
    in_parts = _not_whole(jits, sources)
    grown = from_growing([*watched, *scripts], sources)
    return loops + steps + jits + from_regions([*watched, *scripts], sources, in_parts) + grown


def _not_whole(jits: Sequence[Rewrite], sources: Mapping[str, SourceFile]) -> set[tuple[str, str]]:
    """The functions that cannot be compiled as a whole, as they take an object that is no tree, or no run reached some of their code; their statements may be."""
    return {(one.path, one.function) for one in jits if not is_writable(one, sources)}


def run_again(
    watched: Sequence[Mapping[str, Any]],
    functions: Mapping[str, Mapping[str, Any]],
    sources: Mapping[str, SourceFile],
) -> list[dict[str, Any]]:
    """The watched functions with the calls and times of another run, at their lines in its sources; only
    those that it recorded.
    """
    lines: dict[tuple[str, str], int] = {}
    for path, source in sources.items():
        tree = tree_of(source)
        for node, name in definitions(tree) if tree is not None else ():
            lines.setdefault((os.path.realpath(path), name), node.lineno)
    found = []
    for one in watched:
        seen, line = functions.get(one["function"]), lines.get((one["path"], one["function"]))
        if seen is not None and line is not None and seen["path"] == one["path"]:
            found.append({**one, "line": line, "calls": seen["calls"], "seconds": seen["seconds"]})
    return found
