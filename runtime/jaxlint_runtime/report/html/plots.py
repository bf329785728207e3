"""The charts of one function on one target: memory over program order, the roofline, the paired times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint_runtime.report.html.svg_chart import Chart, powers, ticks
from jaxlint_runtime.wording.units import amount, milliseconds, size

_GIB, _MIB, _KIB = 2**30, 2**20, 2**10
_SIDES = ("before", "after")

_LEAST_MOVED = 0.01  # share of a call's bytes: a smaller pass is not shown on a roofline


def memory_chart(
    before: Mapping[str, Any], after: Mapping[str, Any] | None, limit: int | None, name: str, width: int
) -> Chart:
    """Live bytes over program order. `limit` is the device's memory, shown if the program comes close to it."""
    sides = [side for side in (before, after) if side is not None]
    most = max(side["peak_bytes"] for side in sides) or 1
    near = limit is not None and limit < 3 * most
    top = max(most, limit) if near and limit is not None else most
    unit, label = next(
        ((u, n) for u, n in ((_GIB, "GiB"), (_MIB, "MiB"), (_KIB, "KiB")) if top >= u), (1, "B")
    )
    title = f"{name}: memory over program order, estimated from the jaxpr. " + "; ".join(
        f"{side} peak {size(data['peak_bytes'])}" for side, data in zip(_SIDES, sides, strict=False)
    )
    chart = Chart(
        title,
        width,
        250,
        (0, 100),
        (0, top * 1.1 / unit),
        "place in the program, %",
        f"alive, {label}",
        top=22,
        bottom=52,
    )
    chart.grid(
        ticks(0, 100, 5),
        ticks(0, top * 1.1 / unit, 5),
        lambda value: f"{value:g}",
        lambda value: f"{value:g}",
    )
    _phases(chart, before)
    for side, data in reversed(list(zip(_SIDES, sides, strict=False))):
        points = _steps(data["bytes"], unit)
        chart.area(points, side)
        chart.line(points, side)
    for side, data in zip(_SIDES, sides, strict=False):
        x = _at(data["peak_index"], data["bytes"])
        y = data["peak_bytes"] / unit
        chart.dot(x, y, side, hint=f"{side}: {size(data['peak_bytes'])}")
        anchor = "end" if x > 70 else "start"
        below = side == "after" and abs(y - before["peak_bytes"] / unit) < 0.12 * top / unit
        chart.label(
            *(x, y, f"{side} {size(data['peak_bytes'])}", anchor, "strong"),
            dx=-7 if anchor == "end" else 7,
            dy=16 if below else -5,
        )
    if near and limit is not None:
        chart.rule(limit / unit, "limit dash line")
        chart.words(
            chart.width - chart.right,
            chart.y(limit / unit) - 4,
            f"device memory {size(limit)}",
            "end",
            "strong",
        )
    return chart


def _phases(chart: Chart, data: Mapping[str, Any]) -> None:
    """The pass of each part of the program, as a strip under the axis."""
    phases: Sequence[str] = data["phases"]
    y = chart.height - chart.bottom + 21
    named: set[str] = set()
    start = 0
    for index in range(1, len(phases) + 1):
        if index < len(phases) and phases[index] == phases[start]:
            continue
        left, right = _at(start, phases, edge=True), _at(index, phases, edge=True)
        if phases[start] != "other":
            chart.band(left, right, phases[start], y, 13)
            wide = chart.x(right) - chart.x(left) > 52
            if wide and phases[start] not in named:
                named.add(phases[start])
                chart.words((chart.x(left) + chart.x(right)) / 2, y + 10.5, phases[start], "middle")
        start = index


def _at(index: int, values: Sequence[Any], edge: bool = False) -> float:
    """Per cent of the way through the program."""
    return 100 * (index if edge else index + 0.5) / max(1, len(values))


def _steps(nbytes: Sequence[int], unit: int) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for index, value in enumerate(nbytes):
        points += [
            (_at(index, nbytes, edge=True), value / unit),
            (_at(index + 1, nbytes, edge=True), value / unit),
        ]
    return points


def roofline_chart(
    peaks: Mapping[str, Any], versions: Mapping[str, Mapping[str, Any]], name: str, width: int
) -> Chart | None:
    """FLOP/s against FLOPs a byte. `versions` has, by "before" and "after", an inspection and its `time`.

    A filled circle is a call at its time. Triangles are the passes at the device's limit for their intensity. None if
    a version moves no bytes or computes nothing.
    """
    peak_flops, bandwidth = _peak_flops(peaks, versions), peaks["bandwidth"]
    ridge = peak_flops / bandwidth
    points = []
    for side, version in versions.items():
        for phase, flops, moved in _passes(version):
            points.append((side, phase, flops / moved, flops, version.get("time")))
    if not points:
        return None
    intensities = [x for _, _, x, _, _ in points]
    low, high = min(*intensities, ridge) / 4, max(*intensities, ridge) * 6
    attained = [flops / (t["median"] / 1e3) for _, phase, _, flops, t in points if t and phase == "all"]
    bottom = min([low * bandwidth, *attained]) / 2
    chart = Chart(
        f"{name}: roofline of {peaks['name']}: {amount(peak_flops, 'FLOP/s')} and {amount(bandwidth, 'B/s')}, {peaks['kind']}",
        width, 270, (low, high), (bottom, peak_flops * 3), "FLOPs a byte", "FLOP/s", x_log=True, y_log=True, top=22, left=66,
    )  # fmt: skip
    chart.grid(
        powers(low, high, 6 if width > 480 else 4),
        powers(bottom, peak_flops * 3, 6),
        lambda value: f"{value:g}",
        lambda value: amount(value),
    )
    chart.line([(low, low * bandwidth), (ridge, peak_flops), (high, peak_flops)], "roof")
    roof = f"roof: {amount(peak_flops, 'FLOP/s')}, {amount(bandwidth, 'B/s')}, {peaks['kind']}"
    chart.words(chart.left + 8, chart.top + 14, roof, "start", "faint")  # above the roof there is room
    for side, phase, x, flops, taken in points:
        most = min(peak_flops, x * bandwidth)
        if phase == "all" and taken:
            y = flops / (taken["median"] / 1e3)
            share = f"{100 * y / most:.0f}% of the roof"
            chart.dot(x, y, side, 5.5, f"{side}: {amount(y, 'FLOP/s')} ({taken['kind']} time), {share}")
            left = _share(chart, x) > (0.4 if side == "before" else 0.65)
            chart.label(
                *(x, y, f"{side}, {share}", "end" if left else "start", "strong"),
                dx=-10 if left else 10,
                dy=-8 if side == "before" else 16,
            )
        elif phase != "all":
            chart.triangle(
                x,
                most,
                f"hollow {side}",
                phase == "forward",
                f"{side}, {phase} pass: at most {amount(most, 'FLOP/s')}",
            )
    return chart


def _share(chart: Chart, x: float) -> float:
    return (chart.x(x) - chart.left) / (chart.width - chart.left - chart.right)


def _peak_flops(peaks: Mapping[str, Any], versions: Mapping[str, Mapping[str, Any]]) -> float:
    table = peaks["flops"]
    dtype = next((version["matmul_dtype"] for version in versions.values() if version["matmul_dtype"]), None)
    return float(table.get(dtype, min(table.values())))


def _passes(version: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """(pass, FLOPs, bytes) of the whole and of each pass; not for a pass whose values stay on the chip."""
    flops, moved = version["flops"], version["bytes"]
    if not moved:
        return []
    sums = [("all", sum(flops.values()), sum(moved.values()))]
    sums += [(phase, flops.get(phase, 0), moved.get(phase, 0)) for phase in ("forward", "backward")]
    least = _LEAST_MOVED * sums[0][2]
    return [(phase, work, nbytes) for phase, work, nbytes in sums if work > 0 and nbytes > least]


def times_chart(pairs: Sequence[Sequence[float]], name: str, width: int) -> Chart:
    """Milliseconds a call of both versions, block by block; a thin line joins the two in a block."""
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    ordered = sorted([*before, *after])
    low, high = ordered[0], ordered[-1]
    cut = ordered[min(len(ordered) - 1, int(0.97 * len(ordered)))]
    if high > 2 * cut:  # a burst of other load must not squeeze the other points
        high = cut
    pad = max((high - low) * 0.08, low * 0.01)
    span = (max(0.0, low - pad), high + pad)
    title = f"{name}: measured milliseconds a call in {len(pairs)} blocks; medians {_median(before):.3g} and {_median(after):.3g}"
    chart = Chart(title, width, 168, span, (0, 2), "ms a call (measured)", top=10)
    chart.grid(ticks(*span, 6 if width > 480 else 4), [], lambda value: f"{value:.4g}", str)
    for number, (a, b) in enumerate(pairs):
        if a <= high and b <= high:
            chart.line([(a, 1.5 + _shift(number)), (b, 0.5 + _shift(number))], "grid thin")
    for values, row, side in ((before, 1.5, "before"), (after, 0.5, "after")):
        shown = [(number, value) for number, value in enumerate(values) if value <= high]
        for number, value in shown:
            chart.dot(value, row + _shift(number), f"dot {side}", 3.5)
        middle = _median(values)
        chart.line([(middle, row - 0.4), (middle, row + 0.4)], side)
        beyond = len(values) - len(shown)
        text = f"{side} {milliseconds(middle)}" + (f" ({beyond} beyond the edge)" if beyond else "")
        chart.words(6, chart.y(row + 0.42) - 2, text, "start", "strong")
    return chart


def _shift(number: int) -> float:
    """A small constant offset, so that equal times can be distinguished."""
    return 0.26 * math.sin(number * 2.399963)


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
