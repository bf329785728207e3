"""How figures change over the sizes of `--sizes`: one row for each function, candidate and size, for every report
format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint_runtime.protocol.report_forms import CostJson
from jaxlint_runtime.wording.units import from_to, milliseconds, seconds, size

HEADINGS = ("function", "version", "status", "time", "ratio", "memory", "compile", "pays after")


def headings(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns: function and version, the swept dimensions, then the figures."""
    return [*HEADINGS[:2], *(rows[0]["dims"] if rows else ()), *HEADINGS[2:]]


def cells(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Texts in the order of `headings`; all sizes of one version are adjacent.

    An original function has its own row only if nothing was tried on it.
    """
    order: dict[tuple[Any, ...], int] = {}
    for row in rows:
        order.setdefault(_version(row), len(order))
    tried = {_version(row)[:-1] for row in rows if row["candidate"] != "original"}
    shown = [row for row in rows if row["candidate"] != "original" or _version(row)[:-1] not in tried]
    return [_cells(row) for row in sorted(shown, key=lambda row: order[_version(row)])]


def _version(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["target"], row["path"], row["line"], row["candidate"]


def _cells(row: Mapping[str, Any]) -> list[str]:
    original = row["candidate"] == "original"
    before, after = row["before"], row["after"]

    def pair(key: str, shown: Any) -> str:
        new = _figure(after, key)
        if before is None:
            return str(shown(new))
        old = _figure(before, key)
        return f"{shown(old)} -> {shown(new)}" if old is None or new is None else from_to(old, new, shown)

    return [
        row["function"],
        "as written" if original else row["candidate"],
        *map(str, row["dims"].values()),
        "" if original else row["status"],
        pair("time_ms", milliseconds),
        row["ratio"],
        pair("peak_bytes", size),
        pair("compile_s", seconds),
        "" if original else _paid(row["break_even_calls"]),
    ]


def _paid(calls: int | None) -> str:
    if calls is None:
        return "-"
    return "at once" if calls == 0 else f"{calls} call{'' if calls == 1 else 's'}"


def _figure(cost: CostJson, key: str) -> float | None:
    value: Any = cost.get(key)
    return value["median"] if isinstance(value, Mapping) else value
