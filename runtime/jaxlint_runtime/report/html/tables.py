"""Tables of the page: on a narrow screen each row becomes a card with labelled cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint_runtime.proof.gain import Change, Claim, Gain
from jaxlint_runtime.report.html.markup import Child, Markup, tag
from jaxlint_runtime.wording.units import amount, milliseconds, ratio, seconds, size

Column = tuple[str, str]  # heading, class: "n" for numbers, "why" for prose


def table(caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Child]]) -> Markup:
    """A table whose first column names the row."""
    head = tag("tr", [tag("th", name, scope="col", class_=kind or None) for name, kind in columns])
    body = []
    for row in rows:
        cells = [tag("th", row[0], scope="row")]
        for (name, kind), cell in zip(columns[1:], row[1:], strict=True):
            cells.append(tag("td", _whole(cell), class_=kind or None, data_label=name))
        body.append(tag("tr", cells))
    return tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body), class_="stack")


def _whole(cell: Child) -> Child:
    """A cell with several parts as one element, so that a card lays it out as one."""
    return cell if isinstance(cell, str | int | float) or cell is None else tag("span", cell)


def badge(text: str, kind: str = "") -> Markup:
    """A short word in a box."""
    return tag("span", text, class_=f"badge {kind or text}".strip())


def bar(share: float) -> Markup:
    """A line below a number, proportional to its share of the largest."""
    return tag("span", class_="bar", style=f"width:{100 * share:.0f}%", aria_hidden="true")


def figures(
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    inspections: Sequence[Any],
    gain: Gain | None = None,
) -> Markup:
    """Every figure of two versions with its kind. `inspections` are those of both, None if there is none.

    `gain`: the claims about time and memory.
    """
    rows: list[list[Child]] = []
    time, memory = (gain.time, gain.memory) if gain is not None else (None, None)

    def add(
        name: str, kind: str, values: Sequence[float | None], shown: Any, judged: bool | Change = True
    ) -> None:
        if values[0] is None and values[1] is None:
            return
        row: list[Child] = [
            [name, " ", badge(kind, "kind")],
            shown(values[0]),
            shown(values[1]) if after else None,
        ]
        rows.append([*row, change(values[0], values[1], judged) if after else None])

    def cost(key: str) -> list[float | None]:
        return [(side or {}).get(key) for side in (before, after)]

    times = [((side or {}).get("time_ms") or {}).get("median") for side in (before, after)]
    add(
        "Time a call", str((before or after or {}).get("time_kind") or ""), times, milliseconds, time or False
    )
    add(
        "Peak memory",
        "measured" if gain and gain.whole else "compiler",
        cost("peak_bytes"),
        size,
        memory or False,
    )
    add(
        "Temporaries in the peak", "compiler", cost("temp_bytes"), size, judged=False
    )  # a donation may raise them
    add("Peak of live arrays", "estimate", [one and one["memory"]["peak_bytes"] for one in inspections], size)
    add("Residuals of the backward pass", "estimate", cost("residual_bytes"), size)
    add("Floating-point operations", "counted", cost("flops"), lambda value: amount(value, "FLOP"))
    moved = [sum(one["bytes"].values()) if one and one["bytes"] else None for one in inspections]
    add("Bytes through memory", "estimate", moved, size)
    add("Bytes accessed, loop bodies once", "compiler", cost("bytes_accessed"), size)
    if any(cost("collective_bytes")):
        add("Sent between devices", "compiler", cost("collective_bytes"), size)
    kernels = [one["hlo"]["kernels"] if one and one["hlo"] else None for one in inspections]
    add("Kernels", "compiler", kernels, lambda value: "-" if value is None else str(value), judged=False)
    add("Compile time, once", "measured", cost("compile_s"), seconds, judged=False)
    columns: list[Column] = [("figure", ""), ("before" if after else "as written", "n")]
    if after:
        columns += [("after", "n"), ("change", "n")]
    else:
        rows = [row[:2] for row in rows]
    return table(
        "Each figure is measured here, planned by the compiler, counted, or an estimate", columns, rows
    )


def change(before: float | None, after: float | None, judged: bool | Change = True) -> Markup | None:
    """How many times as much, marked by its claim; a count is marked if it differs by over 2%."""
    if not before or after is None:
        return None
    value = after / before
    if isinstance(judged, bool):
        kind = "better" if value < 0.98 else "worse" if value > 1.02 else None
        return tag("span", ratio(value), class_=kind if judged else None)
    if judged.claim is Claim.NONE:
        return tag("span", ratio(value) if judged.exact else "not clear")
    return tag("span", ratio(1 / judged.ratio), class_=judged.claim.value)
