"""The report for people: what is proven and what to do next, every candidate in a line, then the facts of the run."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jaxlint_runtime.proof.gain import Change, gain_of, is_proven
from jaxlint_runtime.protocol.report_forms import FlaggedJson, FunctionJson, ResultJson, SyncJson
from jaxlint_runtime.report.candidate_lines import (
    ADVICE,
    WRITABLE,
    WRITTEN,
    CandidateLine,
    candidate_lines,
    kinds_of_figures,
)
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.escaped_report import harmless
from jaxlint_runtime.report.first_lines import first_lines
from jaxlint_runtime.report.inspection_tables import inspected
from jaxlint_runtime.report.pareto_front import front
from jaxlint_runtime.report.plain_table import plain_console, plain_table, plain_text
from jaxlint_runtime.report.sharding_tables import sharded
from jaxlint_runtime.report.sizes_table import cells, headings
from jaxlint_runtime.report.targets_table import verdicts
from jaxlint_runtime.wording.edit_names import label
from jaxlint_runtime.wording.function_names import short_name
from jaxlint_runtime.wording.paths import display_path
from jaxlint_runtime.wording.units import milliseconds, seconds, size

_STYLES = {
    "verified": "bold green",
    "compiled": "green",
    "rejected": "yellow",
    "failed": "red",
    "not-applicable": "dim",
}
_STAGES = (("trace", "trace_s"), ("lower", "lower_s"), ("compile", "compile_s"))
_STAGE_KEYS = [key for _, key in _STAGES]
_SHOWN_CAUSES = 4
_SHOWN_SYNCS = 12
_SHOWN_FLAGGED = 12
_SHOWN_EAGER = 3
_DONE = (WRITTEN, WRITABLE)
_FELT = 1e-3  # seconds of one host sync
_COSTLY = 0.03  # share of the time in all functions: such a function is shown, even if it is called once


def print_report(document: Document, stream: TextIO, verbose: bool = False) -> None:
    """Prints the known results; plain text of a fixed width if `stream` is not a terminal.

    `verbose`: also describes each compiled program by line.
    """
    parts = render(harmless(document), verbose)
    if not stream.isatty():
        stream.write(plain_text(parts))
        return
    console = plain_console(file=stream)
    for part in parts:
        console.print(part)


def render(document: Document, verbose: bool = False) -> Iterator[RenderableType]:
    """The parts of the report: the result, the candidates, the manual edits, then the facts of the run."""
    yield _headline(document)
    yield from _outcome(document, verbose)
    lines = candidate_lines(document)
    if lines or document.results:
        yield ""
        yield from _candidates(document, lines, verbose)
        yield from _fronts(document)
        yield from _by_hand(lines, verbose)
    yield from _of_the_run(document, verbose)
    if verbose:
        for target in document.targets:
            if results := document.results_of(target):
                yield ""
                yield from _results(target, results)
        yield from _costs(document)
    for _, sharding in document.shardings:
        yield ""
        yield from sharded(sharding)
    if document.inspections:
        yield from inspected(document, verbose)
    if document.sizes:
        yield ""
        yield _sizes(document.sizes)


def _outcome(document: Document, verbose: bool) -> Iterator[RenderableType]:
    """What was proven and what to do next, and the errors."""
    proven = bool(document.proven())
    for number, line in enumerate(first_lines(document)):
        yield Text(line, style=("bold green" if proven else "bold") if number < 2 else "")
    for verdict in verdicts(document.as_json()["runs"]):
        yield Text(verdict, style="red" if " does not fit " in verdict else "green")
    for entry in document.applied:
        place = f"{short_name(entry['function'])} ({display_path(entry['path'])}:{entry['line']})"
        if entry["kept"]:
            more = f": {entry['message']}" if verbose else ""
            yield Text(f"written: {label(entry['candidate'])} of {place}{more}", style="bold green")
        else:
            yield Text(
                f"not written: {label(entry['candidate'])} of {place}: {entry['message']}", style="yellow"
            )
    for message in document.regressions:
        yield Text(f"worse than the baseline: {message}", style="red")
    for message in document.errors:
        yield Text(f"problem: {message}", style="red")


def _of_the_run(document: Document, verbose: bool) -> Iterator[RenderableType]:
    """The facts of the run: compiles, eager operations, flagged functions, host syncs."""
    if document.functions:
        yield ""
        yield _functions(document.functions, verbose)
        yield from _causes(document.functions)
    elif document.ran:
        why = (
            "the program jits no function of its own"
            if document.used_jax
            else "the program does not import jax"
        )
        why += ", so only edits of the source were tried" if document.results else ""
        yield Text(f"No function was captured: {why}.", style="yellow")
    if count := document.eager.get("compiles"):
        operations = "operation" if count == 1 else "operations"
        where = [
            f"{one['compiles']} at {display_path(one['path'])}:{one['line']}"
            for one in document.eager.get("calls", ())[:_SHOWN_EAGER]
        ]
        yield Text(
            f"Outside jit: {count} {operations} compiled one by one, {document.eager['seconds']:.2f} s"
            + (f" ({', '.join(where)})" if where else ""),
            style="dim",
        )
    if document.flagged:
        yield ""
        yield _flagged(document.flagged)
    if document.syncs:
        yield ""
        yield _syncs(document)


def _headline(document: Document) -> Text:
    jax = document.versions.get("jax")
    about = [part for part in (document.device, f"jax {jax}" if jax else None) if part]
    text = Text.assemble(("jaxlint verify ", "bold"), (str(document.program["target"]), "bold cyan"))
    if about:
        text.append(f"  ({', '.join(about)})", style="dim")
    if document.ending is not None:
        text.append(f"\n{document.ending['message']}; {document.seconds:.1f} s")
    return text


def _functions(functions: Sequence[FunctionJson], verbose: bool) -> Table:
    table = plain_table("Jitted functions")
    once = _called_once(functions)
    least = _COSTLY * sum(map(_spent, functions))
    costly = [one for one in functions if _spent(one) > least]
    shown = [one for one in functions if verbose or one in costly or (one["path"], one["line"]) not in once]
    if left := len(functions) - len(shown):
        table.caption = (
            f"and {left} more that {'was' if left == 1 else 'were'} called once; --verbose shows all"
        )
    for heading in ("function", "at"):
        table.add_column(heading, overflow="fold", min_width=8)
    stages = [heading for heading, _ in _STAGES] if verbose else ["compiling"]
    for heading in ("calls", "a call", "between", "compiles", *stages, "running"):
        table.add_column(heading, justify="right", no_wrap=True)
    for function in shown:
        known = [c for c in function["compiles"] if c["compile_s"] is not None]
        calls = str(function["calls"])
        if function["inner_calls"]:
            calls += f" (+{function['inner_calls']} inner)"
        spent = [_total(known, (key,)) for _, key in _STAGES] if verbose else [_total(known, _STAGE_KEYS)]
        many = len(function["compiles"]) > 1
        table.add_row(
            short_name(function["function"]),
            f"{display_path(function['path'])}:{function['line']}",
            calls,
            milliseconds(function["call_ms"]),
            milliseconds(function["period_ms"]),
            Text(str(len(function["compiles"])), style="yellow" if many else ""),
            *spent,
            seconds(function["seconds"]),
        )
    return table


def _total(compiles: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    return seconds(sum(compiled[key] for compiled in compiles for key in keys) if compiles else None)


def _causes(functions: Sequence[FunctionJson]) -> Iterator[RenderableType]:
    """Why functions compiled more than once, and what check says about them."""
    for function in functions:
        causes = [c["cause"] for c in function["compiles"]][1:]
        lines = [Text(f"compile {n}: {cause}") for n, cause in enumerate(causes[:_SHOWN_CAUSES], start=2)]
        if len(causes) > _SHOWN_CAUSES:
            lines.append(Text(f"... and {len(causes) - _SHOWN_CAUSES} more"))
        lines += [Text(text, style="yellow") for text in (*_growth(function), *_lengths(function))]
        lines += [Text(_constant(constant)) for constant in function.get("constants", ())[:_SHOWN_CAUSES]]
        lines += [Text(_finding(finding), style="dim") for finding in function.get("findings", ())]
        if lines:
            yield Text(f"  {short_name(function['function'])}", style="cyan")
            yield Padding(Group(*lines), (0, 0, 0, 4))


def _growth(function: Mapping[str, Any]) -> Iterator[str]:
    """What to do about arguments that grow with each compile, and the time of the compiles."""
    grown = function.get("growing", ())
    known = [sum(c[key] for key in _STAGE_KEYS) for c in function["compiles"] if c["compile_s"] is not None]
    if not grown or not known or "arrays" in (function.get("padding") or {}):
        return
    places = ", ".join(f"`{one['place']}` (axis {one['axis']})" for one in grown[:_SHOWN_CAUSES])
    first, last = grown[0]["first"], grown[0]["last"]
    yield (
        f"{places} grows from {first} to {last}: {len(known)} compiles, {sum(known):.2f} s. Use one buffer of the final size, "
        f"jax.lax.dynamic_update_slice and a mask: one compile, about {statistics.median(known):.2f} s"
    )


def _lengths(function: Mapping[str, Any]) -> Iterator[str]:
    """Whether arguments whose lengths differ from call to call may be padded."""
    padding = function.get("padding")
    if not padding or ("refused" in padding and function.get("growing")):
        return
    shown = [f"`{place}`" for place in padding["places"][:_SHOWN_CAUSES]]
    names = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    if "refused" in padding:
        yield f"{names}: rows that pad to one length would change the results: {padding['refused']}"
    elif padding["masks"]:
        yield f"{names}: padded to one length, with a mask for reductions, they need one compile"
    else:
        yield f"{names}: padded to one length, they need one compile; the added rows reach no result"


def _constant(constant: Mapping[str, Any]) -> str:
    shape = ",".join(map(str, constant["shape"]))
    return f"captures {constant['dtype']}[{shape}] as a constant, {size(constant['nbytes'])}"


def _flagged(functions: Sequence[FlaggedJson]) -> Table:
    table = plain_table("Functions with findings that are not jitted")
    for heading in ("function", "at"):
        table.add_column(heading, overflow="fold")
    for heading in ("calls", "total", "a call"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("check says", overflow="fold")
    for function in functions[:_SHOWN_FLAGGED]:
        calls = "-" if function["calls"] is None else str(function["calls"])
        if function["inner_calls"]:
            calls += f" (+{function['inner_calls']} traced)"
        said = dict.fromkeys(f"{finding['code']} {finding['name']}" for finding in function["findings"])
        if function["uncounted"]:
            said[f"({function['uncounted']}: not counted)"] = None
        table.add_row(
            short_name(function["function"]),
            f"{display_path(function['path'])}:{function['line']}",
            calls,
            seconds(function["seconds"]),
            milliseconds(function["call_ms"]),
            ", ".join(said),
        )
    if len(functions) > _SHOWN_FLAGGED:
        table.caption = f"and {len(functions) - _SHOWN_FLAGGED} more; --output-format json shows all"
    return table


def _finding(finding: Mapping[str, Any]) -> str:
    return f"check: {display_path(finding['path'])}:{finding['line']} {finding['code']} {finding['name']}: {finding['message']}"


def _syncs(document: Document) -> Table:
    table = plain_table("Host syncs: where the host waits for the device")
    table.add_column("at", overflow="fold")
    table.add_column("what", no_wrap=True)
    for heading in ("times", f"per {short_name(document.step or 'step')}", "waited"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("check says", overflow="fold")
    syncs = [one for one in document.syncs if _is_felt(one)] or document.syncs
    for sync in syncs[:_SHOWN_SYNCS]:
        table.add_row(
            f"{display_path(sync['path'])}:{sync['line']}",
            sync["kind"],
            str(sync["count"]),
            "-" if sync["per_step"] is None else f"{sync['per_step']:.3g}",
            seconds(sync["seconds"]),
            ", ".join(f"{finding['code']} {finding['name']}" for finding in sync.get("findings", ())),
        )
    if left := len(document.syncs) - len(syncs[:_SHOWN_SYNCS]):
        table.caption = f"and {left} more line{'s' if left > 1 else ''}; --output-format json shows all"
    return table


def _is_felt(sync: SyncJson) -> bool:
    """Whether the host syncs of a line are frequent, long or reported by check."""
    return bool(sync["count"] > 1 or sync["seconds"] >= _FELT or sync.get("findings"))


def _spent(function: Mapping[str, Any]) -> float:
    """Seconds of compiling and running a function, as far as known."""
    compiling = sum(compiled[key] or 0.0 for compiled in function["compiles"] for key in _STAGE_KEYS)
    return float(compiling + (function["seconds"] or 0.0))


def _called_once(functions: Sequence[FunctionJson]) -> set[tuple[str, int]]:
    """Where functions are that a run calls once, beside others that it calls repeatedly."""
    once = {(one["path"], one["line"]) for one in functions if (one["calls"] or 0) <= 1}
    return once if len(once) < len(functions) else set()


def _style(change: Change | None, of_line: str) -> str:
    """The colour of one figure: in the line of a proven candidate only what is claimed is green."""
    return of_line if of_line != "green" or (change is not None and change.better) else ""


def _candidates(
    document: Document, lines: Sequence[CandidateLine], verbose: bool
) -> Iterator[RenderableType]:
    """The table of candidates, and how many more had no result."""
    several = len(document.targets) > 1
    if lines:
        table = plain_table("Candidates")
        table.add_column("function", overflow="fold", min_width=8)
        table.add_column("candidate", overflow="fold", min_width=8)
        timed = any(line.time != "-" for line in lines)
        for heading in ("time", "speed-up") if timed else ():
            table.add_column(heading)
        for heading in ("memory", "values"):
            table.add_column(heading)
        table.add_column("outcome", overflow="fold", min_width=8)
        for line in lines:
            style = "green" if line.proven else "red" if line.outcome == "failed" else "dim"
            on = f" on {line.target}" if several else ""
            gain = gain_of(line.result)
            speed, memory = (_style(change, style) for change in (gain.time, gain.memory))
            times: list[RenderableType] = [line.time, Text(line.speed, style=speed)] if timed else []
            table.add_row(
                Text(line.function + on, style="cyan" if line.proven else "dim"),
                Text(line.candidate),
                *times,
                Text(line.memory, style=memory),
                line.values,
                Text(line.outcome, style="bold green" if line.outcome in _DONE else style),
            )
        yield table
        yield Text(kinds_of_figures(lines), style="dim")
    rest = [result for _, result in document.results if result["before"] is None or result["after"] is None]
    failed = sum(result["status"] == "failed" for result in rest)
    counts = [f"{failed} failed"] if failed else []
    others = len(rest) - failed
    counts += (
        [f"{others} {'was' if others == 1 else 'were'} refused or had nothing to change"] if others else []
    )
    if counts and not verbose:
        yield Text(
            f"{'Besides, ' if lines else 'Of the candidates '}{' and '.join(counts)}; --verbose says why.",
            style="dim",
        )


def _by_hand(lines: Sequence[CandidateLine], verbose: bool) -> Iterator[RenderableType]:
    """How to write the best advice, for each function."""
    told: set[tuple[str, int]] = set()
    for line in lines:
        code = line.result.get("parameters", {}).get("code")
        place = (line.result["path"], line.result["line"])
        if not line.proven or ADVICE not in line.outcome or place in told or verbose:
            continue
        told.add(place)
        at = f"{display_path(place[0])}:{place[1]}"
        yield ""
        yield Text.assemble((f"{line.candidate} of {line.function}, by hand", "bold"), (f"  {at}", "dim"))
        yield Padding(Text(code, style="cyan") if code else Text(line.result["reason"]), (0, 0, 0, 2))


def _results(target: str, results: Sequence[ResultJson]) -> Iterator[RenderableType]:
    """Why each candidate was decided that way, by function."""
    yield Text(f"Why, on {target}", style="bold")
    places = dict.fromkeys((result["function"], result["path"], result["line"]) for result in results)
    for function, path, line in places:
        mine = [r for r in results if (r["function"], r["path"], r["line"]) == (function, path, line)]
        yield Text.assemble(("  " + function, "cyan"), (f"  {display_path(path)}:{line}", "dim"))
        yield from _reasons(mine)


def _reasons(results: Sequence[ResultJson]) -> Iterator[RenderableType]:
    told = ""
    shown: list[str] = []
    for result in results:
        label = result["candidate"] if result["candidate"] != "all" else "nothing tried"
        text = Text.assemble(
            (f"{label} ({result['status']}): ", _STYLES.get(result["status"], "")), result["reason"]
        )
        if result["before"] is not None and result["evidence"] != told:
            told = result["evidence"]
            text.append(f" [{told}]", style="dim")
        yield Padding(text, (0, 0, 0, 4))
        code = result.get("parameters", {}).get("code")
        if code and is_proven(result) and code not in shown:
            shown.append(code)
            yield Padding(Text(code, style="cyan"), (0, 0, 0, 8))


def _kind(time_kind: str | None) -> str:
    """The kind of a time, if it was not measured."""
    return f" ({time_kind})" if time_kind and time_kind != "measured" else ""


def _mebibytes(size: float) -> str:
    value = size / 2**20
    return f"{value:.1f}" if value >= 0.1 else f"{value:.4f}"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _costs(document: Document) -> Iterator[RenderableType]:
    """What this run of verify cost, by phase, beside the captured run of the program."""
    spent = document.spent
    if not spent.phases:
        return
    table = plain_table("What verify spent")
    table.add_column("on", overflow="fold")
    for heading in ("times", "time", "processor time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, phase in spent.phases.items():
        table.add_row(name, str(phase.times), seconds(phase.seconds), seconds(phase.processor_s))
    whole, program = spent.whole, spent.program_s
    table.add_row("all of it", "", seconds(whole.seconds), seconds(whole.processor_s))
    yield ""
    yield table
    if program:
        price = whole.processor_s / program
        yield Text(f"{price:.1f} times the processor time of the captured run", style="dim")


def _sizes(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The figures of each version for each size of --sizes."""
    table = plain_table("By size")
    for heading in headings(rows):
        table.add_column(heading, overflow="fold")
    previous: list[str] | None = None
    for texts in cells(rows):
        new = [] if previous is None or texts[:2] != previous[:2] else ["", ""]
        table.add_row(*new, *texts[len(new) :])
        previous = texts
    return table


def _fronts(document: Document) -> Iterator[RenderableType]:
    """The choices, if no version is best in everything."""
    groups: dict[tuple[str, str, int], list[ResultJson]] = {}
    for target, result in document.results:
        if not result["candidate"].startswith("source"):  # those are times of the whole program
            groups.setdefault((target, result["path"], result["line"]), []).append(result)
    table = plain_table("Trade-offs: no version is best in everything")
    for heading in ("function", "version"):
        table.add_column(heading, overflow="fold")
    for heading in ("time ms", "memory MiB", "compile s"):
        table.add_column(heading, justify="right")
    table.add_column("--apply")
    for (target, _, _), results in groups.items():
        place = (results[0]["path"], results[0]["line"])
        kept = {
            one["candidate"]
            for one in document.applied
            if (one["path"], one["line"]) == place and one["kept"]
        }
        writable = {
            one["candidate"] for one in document.diffs if (one["path"], one["line"]) == place and one["diff"]
        }
        points = front(results, writable | kept)
        name = short_name(results[0]["function"]) + (f" on {target}" if len(document.targets) > 1 else "")
        for point in points if len(points) > 1 else ():
            memory = "-" if point.peak_bytes is None else _mebibytes(point.peak_bytes)
            time = _number(point.time_ms) + _kind(point.time_kind)
            parts = frozenset(point.name.split(" + "))
            how = "" if point.written is None else "writes it" if point.written else "advice"
            how = "written" if parts <= kept else how
            table.add_row(name, label(point.name), time, memory, _number(point.compile_s), how)
    if table.row_count:
        yield table
