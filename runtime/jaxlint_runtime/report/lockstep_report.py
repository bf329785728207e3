"""The report of `verify --lockstep`: the verdict, the position of each process, and the programs that span them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any, TextIO

from rich.text import Text

from jaxlint.report.escaping import escaped
from jaxlint_runtime.lockstep.batches import Batches, compared
from jaxlint_runtime.lockstep.order import Order, Rank
from jaxlint_runtime.lockstep.verdict import Kind, Verdict, of_batches
from jaxlint_runtime.protocol.launch_records import Compiled, Place
from jaxlint_runtime.report.document import SCHEMA_VERSION
from jaxlint_runtime.report.plain_table import plain_table, plain_text
from jaxlint_runtime.wording.paths import display_path
from jaxlint_runtime.wording.units import seconds, size

_HEADS = {
    Kind.SAME: "In step",
    Kind.DIVERGED: "Diverged",
    Kind.ENDED: "Diverged",
    Kind.DIED: "Died",
    Kind.STALLED: "Stalled",
    Kind.UNKNOWN: "Unknown",
}
_SHOWN_PROCESSES = 16
_SHOWN_PROGRAMS = 20


def as_json(verdict: Verdict, order: Order, took: float) -> dict[str, Any]:
    """The documented form of `--lockstep --output-format json`."""
    apart = verdict.apart
    return {
        "schema_version": SCHEMA_VERSION,
        "lockstep": {
            "verdict": verdict.kind.value,
            "message": verdict.message,
            "processes": list(verdict.processes),
            "why": verdict.why,
            "condition": None
            if apart is None
            else {
                "path": display_path(apart.path),
                "line": apart.line,
                "text": apart.text,
                "certain": apart.sure,
            },
            "batches": [_batches(one) for one in compared(order)],
            "programs_in_step": order.started,
            "seconds": took,
            "ranks": [_rank(number, rank) for number, rank in sorted(order.ranks.items())],
            "programs": _programs(order),
        },
    }


def _batches(batches: Batches) -> dict[str, Any]:
    return {
        "message": of_batches(batches),
        "kind": "copies" if batches.copies else "same",
        **_place(batches.place),
        "processes": list(batches.processes),
        "calls": batches.calls,
        "of": batches.of,
    }


def _rank(number: int, rank: Rank) -> dict[str, Any]:
    last = rank.last
    return {
        "process": number,
        "host": rank.began.host if rank.began else None,
        "pid": rank.began.pid if rank.began else None,
        "launched": len(rank.launches),
        "in_step": rank.met,
        "last": None if last is None else {"program": last.program.name, **_place(last.place)},
        "stands": _place(rank.standing[-1]) if rank.standing else None,
        "ending": rank.over.message if rank.over else rank.death,
    }


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"path": None, "line": None, "function": None}
    return {**asdict(place), "path": display_path(place.path)}


def _programs(order: Order) -> list[dict[str, Any]]:
    """The programs that span processes, in the order of their first launch, with the largest number of
    launches in any process.
    """
    found: dict[str, dict[str, Any]] = {}
    for rank in order.ranks.values():
        counts = Counter(one.program for one in rank.launches)
        for index, launch in enumerate(rank.launches):
            program = rank.programs[launch.program]
            if program.hash not in found:
                place = rank.launched(index).place
                found[program.hash] = {
                    "program": program.name,
                    "hash": program.hash,
                    **_place(place),
                    "processes": list(program.processes),
                    **_compiled(order, program.hash),
                    "arguments": program.arguments,
                    "launches": 0,
                }
        for number, count in counts.items():
            row = found[rank.programs[number].hash]
            row["launches"] = max(row["launches"], count)
    return list(found.values())


def _compiled(order: Order, digest: str) -> dict[str, Any]:
    """The compilers' figures for a program: the process with the longest compile, and the one that needs the most memory."""
    found = [rank.compiled[digest] for rank in order.ranks.values() if digest in rank.compiled]
    most = max(found, key=lambda one: one.bytes or 0, default=Compiled())
    return {
        "collectives": dict(most.collectives),
        "compile_s": max((one.seconds for one in found), default=None),
        "bytes": most.bytes,
        "donated_bytes": most.donated,
    }


def print_lockstep(verdict: Verdict, order: Order, stream: TextIO) -> None:
    """The verdict in one line, the condition that separated the processes in another, then two tables."""
    found = as_json(verdict, order, 0.0)["lockstep"]
    stream.write(escaped(f"{_HEADS[verdict.kind]}: {verdict.message}.") + "\n")
    if verdict.why:
        stream.write(escaped(f"Why: {verdict.why}.") + "\n")
    for one in found["batches"]:
        stream.write(escaped(f"Data: {one['message']}.") + "\n")
    ranks = _first(found["ranks"], verdict.processes)
    programs = found["programs"][:_SHOWN_PROGRAMS]
    _table(
        stream,
        _title("Processes", len(found["ranks"]) - len(ranks)),
        ["process", "programs", "last program", "stands at", "ending"],
        [
            [
                str(one["process"]),
                str(one["launched"]),
                _named(one["last"]) if one["last"] else "-",
                f"{one['stands']['path']}:{one['stands']['line']}" if one["stands"] else "-",
                one["ending"] or "-",
            ]
            for one in ranks
        ],
    )
    _table(
        stream,
        _title("Programs that span processes", len(found["programs"]) - len(programs)),
        ["program", "launches", "collectives", "compiling", "on a device", "donated"],
        [
            [
                _named(one),
                str(one["launches"]),
                _counted(one["collectives"]),
                seconds(one["compile_s"]),
                size(one["bytes"]),
                size(one["donated_bytes"]),
            ]
            for one in programs
        ],
    )


def _first(ranks: list[dict[str, Any]], named: tuple[int, ...]) -> list[dict[str, Any]]:
    """The processes of the verdict, then the others, in the order of their numbers."""
    chosen = sorted(ranks, key=lambda one: one["process"] not in named)[:_SHOWN_PROCESSES]
    return sorted(chosen, key=lambda one: one["process"])


def _named(one: dict[str, Any]) -> str:
    return f"{one['program']} ({one['path']}:{one['line']})" if one["path"] else str(one["program"])


def _counted(collectives: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in collectives.items()) or "none"


def _title(text: str, left: int) -> str:
    return f"{text}, {left} more not shown" if left > 0 else text


def _table(stream: TextIO, title: str, heads: list[str], rows: list[list[str]]) -> None:
    if not rows:
        return
    table = plain_table(title)
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*(Text(escaped(cell)) for cell in row))
    stream.write("\n" + plain_text([table]))
