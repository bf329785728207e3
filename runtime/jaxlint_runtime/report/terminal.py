"""The report as people read it: what the run shows, then every candidate with its figures for and against."""

from __future__ import annotations

import io
import statistics
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jaxlint_runtime.optimiser_settings import TRANSFORMS
from jaxlint_runtime.proof.gain import gain_of, is_proven, tally
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.harmless import harmless
from jaxlint_runtime.report.inspection_tables import inspected
from jaxlint_runtime.report.pareto_front import front
from jaxlint_runtime.report.plain_table import plain_table
from jaxlint_runtime.report.sharding_tables import sharded
from jaxlint_runtime.report.sizes_table import cells, headings
from jaxlint_runtime.report.targets_table import verdicts
from jaxlint_runtime.wording.paths import display_path

_STYLES = {
    "verified": "bold green",
    "compiled": "green",
    "rejected": "yellow",
    "failed": "red",
    "not-applicable": "dim",
}
_STAGES = ("trace_s", "lower_s", "compile_s")
_PLAIN_WIDTH = 120
_SHOWN_CAUSES = 4
_SHOWN_SYNCS = 12
_SHOWN_FLAGGED = 12
_SHOWN_EAGER = 3
_MANY = 2  # transforms with nothing to do in a function, whose reasons are left out
_FELT = 1e-3  # seconds of one wait
_COSTLY = 0.03  # of all that functions take: what does is shown, though it is called once


def print_report(document: Document, stream: TextIO, verbose: bool = False) -> None:
    """Print what is known; plain text of a fixed width where `stream` is no terminal.

    `verbose`: what each compiled program does, by line, as well.
    """
    if stream.isatty():
        _print(document, verbose, file=stream)
        return
    buffer = io.StringIO()
    _print(document, verbose, file=buffer, width=_PLAIN_WIDTH, color_system=None)
    stream.write("".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines()))


def _print(document: Document, verbose: bool, **how: Any) -> None:
    """Names and messages come from the program: none of them is markup, an emoji or a command to the terminal."""
    console = Console(highlight=False, markup=False, emoji=False, **how)
    for part in render(harmless(document), verbose):
        console.print(part)


def render(document: Document, verbose: bool = False) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    yield _headline(document)
    for verdict in verdicts(document.as_json()["runs"]):
        yield Text(verdict, style="red" if " does not fit " in verdict else "green")
    if document.functions:
        yield ""
        yield _functions(document.functions, verbose)
        yield from _causes(document.functions)
    elif document.ran:
        why = "it jitted no function of its own" if document.used_jax else "it never imported jax"
        why += ", so that only edits of the source were tried" if document.results else ""
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
    for target in document.targets:
        if results := document.results_of(target):
            yield ""
            once = set() if verbose else _called_once(document.functions)
            yield from _results(target, results, once, verbose)
    for _, sharding in document.shardings:
        yield ""
        yield from sharded(sharding)
    if document.inspections:
        yield from inspected(document, verbose)
    if document.sizes:
        yield ""
        yield _sizes(document.sizes)
    for entry in document.applied:
        style = "bold green" if entry["kept"] else "yellow"
        what = f"{entry['candidate']} of {entry['function']} ({display_path(entry['path'])}:{entry['line']})"
        yield Text(
            f"{'applied' if entry['kept'] else 'not applied'}: {what}: {entry['message']}", style=style
        )
    for message in document.regressions:
        yield Text(f"worse than the baseline: {message}", style="red")
    for message in document.errors:
        yield Text(f"problem: {message}", style="red")
    yield from _summary(document)


def _headline(document: Document) -> Text:
    jax = document.versions.get("jax")
    about = [part for part in (document.device, f"jax {jax}" if jax else None) if part]
    text = Text.assemble(("jaxlint verify ", "bold"), (str(document.program["target"]), "bold cyan"))
    if about:
        text.append(f"  ({', '.join(about)})", style="dim")
    if document.ending is not None:
        text.append(f"\n{document.ending['message']}; {document.seconds:.1f} s")
    return text


def _functions(functions: Sequence[Mapping[str, Any]], verbose: bool) -> Table:
    table = plain_table("Jitted functions")
    once = _called_once(functions)
    least = _COSTLY * sum(map(_spent, functions))
    costly = [one for one in functions if _spent(one) > least]
    shown = [one for one in functions if verbose or one in costly or (one["path"], one["line"]) not in once]
    if left := len(functions) - len(shown):
        table.caption = (
            f"and {left} more that {'was' if left == 1 else 'were'} called once; --verbose has them all"
        )
    for heading in ("function", "at"):
        table.add_column(heading, overflow="fold")
    for heading in (
        "calls",
        "ms a call",
        "ms between",
        "compiles",
        "trace s",
        "lower s",
        "compile s",
        "run s",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for function in shown:
        known = [c for c in function["compiles"] if c["compile_s"] is not None]
        calls = str(function["calls"])
        if function["inner_calls"]:
            calls += f" (+{function['inner_calls']} inner)"
        many = len(function["compiles"]) > 1
        table.add_row(
            function["function"],
            f"{display_path(function['path'])}:{function['line']}",
            calls,
            _number(function["call_ms"]),
            _number(function["period_ms"]),
            Text(str(len(function["compiles"])), style="yellow" if many else ""),
            *(_total(known, stage) for stage in ("trace_s", "lower_s", "compile_s")),
            "-" if function["seconds"] is None else f"{function['seconds']:.2f}",
        )
    return table


def _total(compiles: Sequence[Mapping[str, Any]], stage: str) -> str:
    return f"{sum(compiled[stage] for compiled in compiles):.2f}" if compiles else "-"


def _causes(functions: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Why functions compiled more than once, and what check says of them."""
    for function in functions:
        causes = [c["cause"] for c in function["compiles"]][1:]
        lines = [Text(f"compile {n}: {cause}") for n, cause in enumerate(causes[:_SHOWN_CAUSES], start=2)]
        if len(causes) > _SHOWN_CAUSES:
            lines.append(Text(f"... and {len(causes) - _SHOWN_CAUSES} more"))
        lines += [Text(text, style="yellow") for text in _growth(function)]
        lines += [Text(_constant(constant)) for constant in function.get("constants", ())[:_SHOWN_CAUSES]]
        lines += [Text(_finding(finding), style="dim") for finding in function.get("findings", ())]
        if lines:
            yield Text(f"  {function['function']}", style="cyan")
            yield Padding(Group(*lines), (0, 0, 0, 4))


def _growth(function: Mapping[str, Any]) -> Iterator[str]:
    """What to do about arguments that are longer at each compile, with what the compiles took."""
    grown = function.get("growing", ())
    known = [sum(c[key] for key in _STAGES) for c in function["compiles"] if c["compile_s"] is not None]
    if not grown or not known:
        return
    places = ", ".join(f"`{one['place']}` (axis {one['axis']})" for one in grown[:_SHOWN_CAUSES])
    first, last = grown[0]["first"], grown[0]["last"]
    yield (
        f"{places} grows from {first} to {last}: {len(known)} compiles, {sum(known):.2f} s. One buffer of the final size, written by "
        f"jax.lax.dynamic_update_slice and masked beyond what is filled, would compile once, in about {statistics.median(known):.2f} s"
    )


def _constant(constant: Mapping[str, Any]) -> str:
    shape = ",".join(map(str, constant["shape"]))
    return f"captures {constant['dtype']}[{shape}] as a constant of the compiled program, {_mebibytes(constant['nbytes'])} MiB"


def _flagged(functions: Sequence[Mapping[str, Any]]) -> Table:
    table = plain_table("Flagged functions that are not jitted")
    for heading in ("function", "at"):
        table.add_column(heading, overflow="fold")
    for heading in ("calls", "s in all", "ms a call"):
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
            function["function"],
            f"{display_path(function['path'])}:{function['line']}",
            calls,
            "-" if function["seconds"] is None else f"{function['seconds']:.2f}",
            _number(function["call_ms"]),
            ", ".join(said),
        )
    if len(functions) > _SHOWN_FLAGGED:
        table.caption = f"and {len(functions) - _SHOWN_FLAGGED} more; --output-format json has them all"
    return table


def _finding(finding: Mapping[str, Any]) -> str:
    return f"check: {display_path(finding['path'])}:{finding['line']} {finding['code']} {finding['name']}: {finding['message']}"


def _syncs(document: Document) -> Table:
    table = plain_table("Where the host waits for the device")
    table.add_column("at", overflow="fold")
    table.add_column("what", no_wrap=True)
    for heading in ("times", f"per {document.step or 'step'}", "waited ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("check says", overflow="fold")
    syncs = [one for one in document.syncs if _is_felt(one)] or document.syncs
    for sync in syncs[:_SHOWN_SYNCS]:
        table.add_row(
            f"{display_path(sync['path'])}:{sync['line']}",
            sync["kind"],
            str(sync["count"]),
            "-" if sync["per_step"] is None else f"{sync['per_step']:.3g}",
            _number(sync["seconds"] * 1e3),
            ", ".join(f"{finding['code']} {finding['name']}" for finding in sync.get("findings", ())),
        )
    if left := len(document.syncs) - len(syncs[:_SHOWN_SYNCS]):
        table.caption = f"and {left} more line{'s' if left > 1 else ''}; --output-format json has them all"
    return table


def _is_felt(sync: Mapping[str, Any]) -> bool:
    """Whether the host waits in a line again and again, or long, or where check says so."""
    return bool(sync["count"] > 1 or sync["seconds"] >= _FELT or sync.get("findings"))


def _spent(function: Mapping[str, Any]) -> float:
    """Seconds in compiling and running a function, as far as they are known."""
    compiling = sum(compiled[stage] or 0.0 for compiled in function["compiles"] for stage in _STAGES)
    return float(compiling + (function["seconds"] or 0.0))


def _called_once(functions: Sequence[Mapping[str, Any]]) -> set[tuple[str, int]]:
    """Where functions are that a run calls once, beside others that it calls again and again."""
    once = {(one["path"], one["line"]) for one in functions if (one["calls"] or 0) <= 1}
    return once if len(once) < len(functions) else set()


def _results(
    target: str, results: Sequence[Mapping[str, Any]], minor: Set[tuple[str, int]], verbose: bool
) -> Iterator[RenderableType]:
    """Every candidate, function by function: those with figures as a table, then why each was decided as it was.

    Of functions in `minor` to which nothing applies the names are told, and no more; so it is, but for `verbose`, with
    transforms that have nothing to do in a function.
    """
    yield Text(f"Candidates on {target}", style="bold")
    places = dict.fromkeys((result["function"], result["path"], result["line"]) for result in results)
    left = []
    for function, path, line in places:
        mine = [r for r in results if (r["function"], r["path"], r["line"]) == (function, path, line)]
        if (path, line) in minor and all(
            r["status"] == "not-applicable" and r["before"] is None for r in mine
        ):
            left.append(f"{function} ({display_path(path)}:{line})")
            continue
        yield Text.assemble(("  " + function, "cyan"), (f"  {display_path(path)}:{line}", "dim"))
        figures = [result for result in mine if result["before"] is not None and result["after"] is not None]
        if figures:
            yield Padding(_figures(figures), (0, 0, 0, 4), expand=False)
        idle = [] if verbose else [result for result in mine if _has_nothing_to_do(result)]
        if len(idle) < _MANY:
            idle = []
        yield from _reasons([result for result in mine if result not in idle])
        if idle:
            names = ", ".join(result["candidate"] for result in idle)
            said = f"not applicable (--verbose says why): {names}"
            yield Padding(Text(said, style="dim"), (0, 0, 0, 4))
    if left:
        said = f"called once at most, and nothing applies (--verbose says why): {', '.join(left)}"
        yield Padding(Text(said, style="dim"), (0, 0, 0, 2))


def _has_nothing_to_do(result: Mapping[str, Any]) -> bool:
    """Whether a transform proposed nothing for a function; an edit of the source that is refused says more."""
    return (
        result["status"] == "not-applicable"
        and result["before"] is None
        and result["candidate"] in TRANSFORMS
    )


def _figures(results: Sequence[Mapping[str, Any]]) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column("candidate", overflow="fold", min_width=8)
    table.add_column("status", no_wrap=True)
    for heading in ("time ms", "ratio", "memory MiB", "numerics"):
        table.add_column(heading)
    for result in results:
        table.add_row(
            result["candidate"],
            Text(result["status"], style=_STYLES.get(result["status"], "")),
            _times(result),
            _ratio(result),
            _memory(result),
            _numerics(result["numerics"]),
        )
    return table


def _reasons(results: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
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


def _times(result: Mapping[str, Any]) -> str:
    before, after = (_median(result[side]) for side in ("before", "after"))
    if before is None or after is None:
        return "-"
    return f"{_number(before)} -> {_number(after)}{_kind(result['after'].get('time_kind'))}"


def _kind(time_kind: str | None) -> str:
    """The kind of a time, where it was not measured."""
    return f" ({time_kind})" if time_kind and time_kind != "measured" else ""


def _median(cost: Mapping[str, Any] | None) -> float | None:
    if cost is None or cost.get("time_ms") is None:
        return None
    return float(cost["time_ms"]["median"])


def _ratio(result: Mapping[str, Any]) -> str:
    time = gain_of(result).time
    return "-" if time is None else time.cell


def _memory(result: Mapping[str, Any]) -> str:
    for key, mark in (("peak_bytes", ""), ("residual_bytes", " (estimate)")):
        before, after = ((result[side] or {}).get(key) for side in ("before", "after"))
        if before is not None and after is not None:
            return f"{_mebibytes(before)} -> {_mebibytes(after)}{mark}"
    return "-"


def _mebibytes(size: float) -> str:
    value = size / 2**20
    return f"{value:.1f}" if value >= 0.1 else f"{value:.4f}"


def _numerics(numerics: Mapping[str, Any] | None) -> str:
    if numerics is None:
        return "-"
    verdict = "ok" if numerics["passed"] else "differs"
    rel = numerics["max_rel"]
    return verdict if rel is None else f"{verdict} ({rel:.1e})"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _sizes(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The figures of each version over the sizes of --sizes."""
    table = plain_table("By size")
    for heading in headings(rows):
        table.add_column(heading, overflow="fold")
    previous: list[str] | None = None
    for texts in cells(rows):
        new = [] if previous is None or texts[:2] != previous[:2] else ["", ""]
        table.add_row(*new, *texts[len(new) :])
        previous = texts
    return table


def _summary(document: Document) -> Iterator[RenderableType]:
    if not document.results:
        return
    proven = document.proven()
    targets = {
        id(result): f" on {target}" for target, result in document.results if len(document.targets) > 1
    }
    counted = tally([result for _, result in document.results])
    yield ""
    yield Text(f"{counted.text}.", style="bold green" if proven else "bold")
    if not proven:
        return
    table = plain_table("")
    table.title = None
    for heading in ("function", "candidate", "speed-up", "memory"):
        table.add_column(heading, overflow="fold")
    for result in proven:
        table.add_row(
            result["function"] + targets.get(id(result), ""),
            result["candidate"],
            _ratio(result),
            _memory_ratio(result),
        )
    yield Padding(table, (0, 0, 0, 2), expand=False)
    yield from _fronts(document)


def _fronts(document: Document) -> Iterator[RenderableType]:
    """Where no version is the best in everything: what there is to choose from."""
    groups: dict[tuple[str, str, int], list[Mapping[str, Any]]] = {}
    for target, result in document.results:
        groups.setdefault((target, result["path"], result["line"]), []).append(result)
    table = plain_table("To choose from: no version is better in all")
    for heading in ("function", "version"):
        table.add_column(heading, overflow="fold")
    for heading in ("time ms", "memory MiB", "compile s"):
        table.add_column(heading, justify="right")
    table.add_column("--apply")
    for (target, _, _), results in groups.items():
        place = (results[0]["path"], results[0]["line"])
        written = {
            one["candidate"] for one in document.diffs if (one["path"], one["line"]) == place and one["diff"]
        }
        points = front(results, written)
        name = results[0]["function"] + (f" on {target}" if len(document.targets) > 1 else "")
        for point in points if len(points) > 1 else ():
            memory = "-" if point.peak_bytes is None else _mebibytes(point.peak_bytes)
            time = _number(point.time_ms) + _kind(point.time_kind)
            how = "" if point.written is None else "writes it" if point.written else "advice"
            table.add_row(name, point.name, time, memory, _number(point.compile_s), how)
    if table.row_count:
        yield table


def _memory_ratio(result: Mapping[str, Any]) -> str:
    before, after = ((result[side] or {}).get("peak_bytes") for side in ("before", "after"))
    return f"{after / before:.2f}x ({_memory(result)} MiB)" if before and after else "-"
