"""For the terminal: what each function needs on each target, and what its compiled program does, by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jaxlint_runtime.report.best_versions import Subject, subjects
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.plain_table import plain_table
from jaxlint_runtime.report.targets_table import Row, rows_of, worth_showing
from jaxlint_runtime.wording.function_names import short_name
from jaxlint_runtime.wording.units import amount, size

_SHOWN_FACTS, _SHOWN_LINES = 6, 5
_SHOWN_PEAKS, _SHOWN_ALIVE = 3, 4  # functions, and values of each
_LARGE = 2**20  # bytes at the peak that are worth a list


def inspected(document: Document, verbose: bool) -> Iterator[RenderableType]:
    """The table of targets, if there are others than the current device; with `verbose` also the facts."""
    runs = document.as_json()["runs"]
    rows = rows_of(runs)
    if worth_showing(rows):
        yield ""
        yield _targets(rows)
    yield from peaks(runs)
    if verbose:
        for run in runs:
            for subject in subjects(run):
                yield from _facts(subject, run, len(runs) > 1)


PEAK_KINDS = {
    "compiler": "the compiler's buffer assignment",
    "estimate": "liveness over the jaxpr (estimate, without fusion)",
}


def peaks(runs: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """The live values at an original function's peak, by the line that created them."""
    told = None
    for subject in subjects(runs[0])[:_SHOWN_PEAKS] if runs else ():
        memory = subject.original["memory"] if subject.original else None
        memory = (memory.get("assigned") or memory) if memory else None
        if not memory or memory["peak_bytes"] < _LARGE:
            continue
        if told != memory["kind"]:
            told = memory["kind"]
            yield Text(f"Alive at the peak, by {PEAK_KINDS[told]}", style="bold")
        at = f" at {memory['peak_path']}:{memory['peak_line']}" if memory["peak_path"] else ""
        yield Text.assemble(
            (f"  {short_name(subject.place[0])}", "cyan"),
            f"  {size(memory['peak_bytes'])}, {memory['peak_operation']}{at}",
        )
        for one in memory["alive"][:_SHOWN_ALIVE]:
            where = f"{one['path']}:{one['line']} {one['operation']}" if one["path"] else one["operation"]
            many = f"{one['count']} x " if one["count"] > 1 else ""
            what = f", {many}{one['shape']}" if one["shape"] else f", {one['count']} buffers"
            yield Padding(Text(f"{size(one['bytes']):>9}  {where}{what}"), (0, 0, 0, 4))


def _targets(rows: Sequence[Row]) -> Table:
    table = plain_table("Targets")
    table.add_column("function", overflow="fold")
    table.add_column("target", no_wrap=True)
    table.add_column("version", overflow="fold", min_width=12)
    headings = ["peak\nmemory", "fits", "work", "through\nmemory", "kernels", "time a call"]
    sent = any(row.sent != "-" for row in rows)
    if sent:
        headings.insert(4, "sent")
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        fits = Text(f"{row.fits} {'for ' if row.fits == 'too big' else ''}{row.limit}" if row.fits else "-")
        fits.stylize({"fits": "green", "too big": "red"}.get(row.fits, ""))
        name = short_name(row.function)
        cells: list[RenderableType] = [
            row.memory,
            fits,
            row.flops,
            row.moved,
            *([row.sent] if sent else []),
            row.kernels,
            row.time,
        ]
        table.add_row(name, row.target, row.version, *cells)
    return table


def _facts(subject: Subject, run: Mapping[str, Any], several: bool) -> Iterator[RenderableType]:
    shown = subject.improved or subject.original
    if shown is None or not shown["hlo"]:
        return
    hlo = shown["hlo"]
    on = f" on {run['target']}" if several else ""
    yield ""
    yield Text.assemble(
        (f"What {subject.place[0]} does{on}", "bold"),
        (f"  {hlo['kernels']} kernels, {hlo['launches']} launches a call; bytes are estimates", "dim"),
    )
    for fact in hlo["facts"][:_SHOWN_FACTS]:
        place = f"{fact['path']}:{fact['line']}" if fact["path"] else "-"
        yield Padding(
            Text.assemble((f"{size(fact['bytes']):>9}  ", ""), (f"{place}  ", "dim"), fact["text"]),
            (0, 0, 0, 2),
        )
    for line in shown["lines"][:_SHOWN_LINES]:
        moved = f", {size(line['bytes'])} through memory" if line["bytes"] else ""
        text = f"{line['path']}:{line['line']}  {amount(line['flops'], 'FLOP')}{moved}"
        yield Padding(Text(text, style="dim"), (0, 0, 0, 2))
