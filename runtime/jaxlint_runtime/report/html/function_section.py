"""The section of the page about one function on one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint_runtime.proof.gain import gain_of, is_proven
from jaxlint_runtime.protocol.report_forms import ResultJson, peak_of
from jaxlint_runtime.report.best_versions import Subject
from jaxlint_runtime.report.candidate_lines import memory_cell, speed_cell, values_cell
from jaxlint_runtime.report.html.markup import Child, Markup, tag
from jaxlint_runtime.report.html.plots import memory_chart, roofline_chart, times_chart
from jaxlint_runtime.report.html.svg_chart import Chart
from jaxlint_runtime.report.html.tables import badge, bar, figures, table
from jaxlint_runtime.report.inspection_tables import PEAK_KINDS
from jaxlint_runtime.wording.edit_names import label
from jaxlint_runtime.wording.function_names import short_name
from jaxlint_runtime.wording.units import amount, milliseconds, size

_WIDE, _NARROW = 560, 350
_SHOWN_FACTS, _SHOWN_LINES = 8, 10


def function_section(
    subject: Subject, run: Mapping[str, Any], diffs: Sequence[Mapping[str, Any]], anchor: str
) -> Markup:
    """Everything known about one function on one target."""
    name, path, line = subject.place
    known = next(
        (f for f in run["functions"] if (f["function"], f["path"], f["line"]) == subject.place), None
    )
    return tag(
        "section",
        tag(
            "h2", tag("code", short_name(name)), " ", tag("span", f"{path}:{line}", class_="place"), id=anchor
        ),
        tag("p", _verdict(subject)),
        _figures(subject),
        _pictures(subject, run),
        _candidates(subject.results),
        [diff_part(diff) for diff in diffs],
        _compiles(known, run, subject),
        _facts(subject),
        _lines(subject),
        _alive(subject),
    )


def charts(subject: Subject, run: Mapping[str, Any], width: int) -> dict[str, Chart]:
    """The charts by name: "memory", "roofline", "times"; those with data."""
    found: dict[str, Chart] = {}
    name, peaks = subject.place[0], run["peaks"]
    if subject.original is not None:
        after = subject.improved["memory"] if subject.improved else None
        limit = peaks["memory"] if peaks else None
        found["memory"] = memory_chart(subject.original["memory"], after, limit, name, width)
        if peaks is not None:
            roofline = roofline_chart(peaks, _versions(subject), name, width)
            if roofline is not None:
                found["roofline"] = roofline
    shown = subject.best if subject.best and subject.best["pairs_ms"] else None
    shown = shown or next((result for result in subject.results if result["pairs_ms"]), None)
    if shown is not None:
        found["times"] = times_chart(shown["pairs_ms"], f"{name}, {shown['candidate']}", width)
    return found


def _versions(subject: Subject) -> dict[str, Mapping[str, Any]]:
    """For the roofline: the inspections with their times."""
    costs = (subject.best["before"], subject.best["after"]) if subject.best else (None, None)
    found: dict[str, Mapping[str, Any]] = {}
    for side, one, cost in zip(("before", "after"), (subject.original, subject.improved), costs, strict=True):
        if one is not None:
            measured = cost.get("time_ms") if cost else None
            time = {**measured, "kind": cost["time_kind"]} if cost and measured else None
            found[side] = {**one, "time": time}
    return found


def _verdict(subject: Subject) -> Child:
    """One sentence."""
    best = subject.best
    if best is None:
        tried = [result for result in subject.results if result["status"] != "not-applicable"]
        if not tried:
            reasons = {result["reason"] for result in subject.results}
            return f"Nothing was tried: {reasons.pop()}." if len(reasons) == 1 else "No candidate applies."
        return (
            f"None of {len(tried)} candidates is better."
            if len(tried) > 1
            else "The candidate is not better."
        )
    gain = gain_of(best)
    parts = [gain.time.text] if gain.time is not None and best["status"] == "verified" else []
    before, after = peak_of(best["before"]), peak_of(best["after"])
    if before and after:
        parts.append(f"peak memory {size(before)} to {size(after)}")
    how = "Proven by measurement" if best["status"] == "verified" else "Values checked, gain by the compiler"
    return [tag("b", label(best["candidate"])), " ", badge(best["status"]), f" {'; '.join(parts)}. {how}."]


def _figures(subject: Subject) -> Markup | None:
    """The figures of the best version and of the original; of the original only if nothing is proven."""
    if subject.best is not None:
        sides = (subject.best["before"], subject.best["after"])
        return figures(*sides, (subject.original, subject.improved), gain_of(subject.best))
    if subject.original is None or subject.original["cost"] is None:
        return None
    return figures(subject.original["cost"], None, (subject.original, None))


def _pictures(subject: Subject, run: Mapping[str, Any]) -> Markup | None:
    wide, narrow = charts(subject, run, _WIDE), charts(subject, run, _NARROW)
    if not wide:
        return None
    said = {
        "memory": (
            "Memory over program order",
            "estimate: liveness over the jaxpr, without fusion; the strip below the axis shows the forward and backward pass",
        ),
        "roofline": (
            "Roofline",
            "filled: the whole call; triangles: the upper bound for the forward (up) and backward (down) pass; "
            "FLOPs counted, bytes estimated from the compiled program; caches can lift a point above the roof",
        ),
        "times": (
            "Paired times",
            "measured: one pair of points for each A-B-B-A block; bars are medians",
        ),
    }
    sides = ("before", "after") if subject.best is not None else ("before",)
    keys = [tag("span", tag("span", class_=f"key {side}"), side, class_="keyed") for side in sides]
    return tag(
        "div",
        [
            tag(
                "figure",
                tag(
                    "figcaption",
                    tag("b", said[name][0]),
                    keys,
                    tag("br"),
                    tag("span", said[name][1], class_="faint"),
                ),
                wide[name].svg("wide"),
                narrow[name].svg("narrow"),
            )
            for name in wide
        ],
        class_="plots",
    )


def _candidates(results: Sequence[ResultJson]) -> Markup | None:
    """The tried candidates, the proven ones first; the others folded, with the reasons."""
    if not results:
        return None
    tried = [result for result in results if result["before"] is not None and result["after"] is not None]
    rest = [result for result in results if result not in tried]
    rows: list[list[Child]] = [
        [
            label(result["candidate"]),
            badge(result["status"]),
            speed_cell(result),
            memory_cell(result, "→"),
            values_cell(result["numerics"]),
            _why(result),
        ]
        for result in sorted(tried, key=lambda one: (not is_proven(one), -gain_of(one).weight))
    ]
    columns = [
        ("candidate", ""),
        ("status", ""),
        ("times as fast", "n"),
        ("memory", "n"),
        ("values", ""),
        ("why", "why"),
    ]
    folded: list[list[Child]] = [
        [
            "nothing tried" if one["candidate"] == "all" else label(one["candidate"]),
            badge(one["status"]),
            _why(one),
        ]
        for one in rest
    ]
    return tag(
        "div",
        tag("h3", "Candidates"),
        table("Proven and rejected candidates", columns, rows) if rows else None,
        tag(
            "details",
            tag("summary", f"Not tried ({len(rest)})"),
            table("Why not", [("candidate", ""), ("status", ""), ("why", "why")], folded),
        )
        if rest
        else None,
    )


def _why(result: ResultJson) -> Child:
    parts: list[Child] = [result["reason"]]
    if result["evidence"]:
        parts += [tag("br"), tag("span", result["evidence"], class_="faint")]
    return parts


def diff_part(diff: Mapping[str, Any]) -> Markup | None:
    """The edit for a proven result, or why there is none."""
    if not diff["diff"]:
        note = diff["note"] or "there is no fix"
        return tag("p", tag("b", label(diff["candidate"])), f" is not written: {note}")
    lines = []
    for line in diff["diff"].splitlines():
        kind = {"+": "add", "-": "del", "@": "at"}.get(line[:1])
        kind = "at" if line.startswith(("+++", "---")) else kind
        lines.append(tag("span", line or " ", class_=kind))
    of = f" of {short_name(diff['function'])}" if diff["function"] else ""
    heading = f"{diff['candidate']}{of}"
    return tag(
        "div",
        tag("h3", heading),
        tag("pre", lines, class_="diff", tabindex="0", role="region", aria_label=heading),
    )


def _compiles(known: Mapping[str, Any] | None, run: Mapping[str, Any], subject: Subject) -> Markup | None:
    if known is None:
        return None
    parts: list[Child] = []
    called = [f"{known['calls']} call{'s' if known['calls'] != 1 else ''}"]
    if known["call_ms"] is not None:
        called.append(f"{milliseconds(known['call_ms'])} a call in the run (measured)")
    row = next((c for c in run["compiles"] if (c["function"], c["path"], c["line"]) == subject.place), None)
    causes = row["causes"] if row else []
    called.append(f"{len(causes)} compile{'s' if len(causes) != 1 else ''}")
    if row and causes:
        called.append(f"{row['trace_s'] + row['lower_s'] + row['compile_s']:.2f} s to compile (measured)")
    parts.append(tag("p", ", ".join(called)))
    if len(causes) > 1:
        items = [tag("li", f"compile {n}: {cause['cause']}") for n, cause in enumerate(causes, start=1)]
        parts.append(tag("ul", items[:20], class_="plain"))
        if len(items) > 20:
            parts.append(tag("p", f"and {len(items) - 20} more in the JSON data", class_="faint"))
    items = [
        tag("li", f"captures {c['dtype']}{c['shape']} as a constant, {size(c['nbytes'])}")
        for c in known["constants"]
    ]
    for finding in known["findings"]:
        place = tag("span", f"{finding['path']}:{finding['line']}", class_="place")
        items.append(
            tag("li", tag("b", f"{finding['code']} {finding['name']}"), " ", place, f" {finding['message']}")
        )
    if items:
        parts.append(tag("ul", items, class_="plain"))
    return tag("div", tag("h3", "In the run"), parts)


def _facts(subject: Subject) -> Markup | None:
    shown = subject.improved or subject.original
    if shown is None or shown["hlo"] is None or not shown["hlo"]["facts"]:
        return None
    rows: list[list[Child]] = [
        [
            tag("span", _place(fact), class_="place"),
            badge(fact["kind"], "kind"),
            fact["text"],
            size(fact["bytes"]),
            f"{fact['count']}x",
        ]
        for fact in shown["hlo"]["facts"]
    ]
    columns = [
        ("line", ""),
        ("kind", ""),
        ("what the compiled program does", "why"),
        ("bytes a call", "n"),
        ("times", "n"),
    ]
    hlo = shown["hlo"]
    caption = (
        f"{hlo['kernels']} kernels ({hlo['fusions']} fusions), {hlo['launches']} launches a call"
        + (f"; {hlo['facts_left_out']} smaller facts left out" if hlo["facts_left_out"] else "")
        + f". {'After' if subject.improved else 'As written'}; bytes are estimates."
    )
    return tag(
        "div", tag("h3", "What the compiled program does"), _folded(caption, columns, rows, _SHOWN_FACTS)
    )


def _lines(subject: Subject) -> Markup | None:
    shown = subject.improved or subject.original
    if shown is None or not shown["lines"]:
        return None
    most = max((line["bytes"] or 0 for line in shown["lines"]), default=0) or 1
    work = max((line["flops"] for line in shown["lines"]), default=0) or 1
    rows: list[list[Child]] = [
        [
            tag("span", f"{line['path']}:{line['line']}", class_="place"),
            line["function"] or "",
            [amount(line["flops"], "FLOP"), bar(line["flops"] / work)],
            [size(line["bytes"]), bar((line["bytes"] or 0) / most)],
        ]
        for line in shown["lines"]
    ]
    columns = [("line", ""), ("function", ""), ("work (counted)", "n"), ("through memory (estimate)", "n")]
    return tag(
        "div",
        tag("h3", "Work and bytes by line"),
        _folded("Heaviest lines first", columns, rows, _SHOWN_LINES),
    )


def _alive(subject: Subject) -> Markup | None:
    shown = subject.improved or subject.original
    if shown is None or not shown["memory"]["alive"]:
        return None
    memory = shown["memory"].get("assigned") or shown["memory"]
    rows: list[list[Child]] = [
        [
            tag("code", value["shape"] or "-"),
            f"{value['count']}x",
            size(value["bytes"]),
            "an argument" if value["operation"] == "argument" else value["operation"],
            tag("span", _place(value), class_="place"),
        ]
        for value in memory["alive"]
    ]
    columns = [("value", ""), ("how many", "n"), ("bytes", "n"), ("made by", ""), ("line", "")]
    where = f" at {memory['peak_path']}:{memory['peak_line']}" if memory["peak_path"] else ""
    caption = f"The peak of {size(memory['peak_bytes'])} is in {memory['peak_operation']}{where} ({PEAK_KINDS[memory['kind']]})"
    return tag("div", tag("h3", "What is alive at the peak"), _folded(caption, columns, rows, 5))


def _folded(caption: str, columns: Any, rows: list[list[Child]], most: int) -> Child:
    """A table with its rest folded away."""
    first = table(caption, columns, rows[:most])
    if len(rows) <= most:
        return first
    return [
        first,
        tag("details", tag("summary", f"{len(rows) - most} more"), table("", columns, rows[most:])),
    ]


def _place(entry: Mapping[str, Any]) -> str:
    return f"{entry['path']}:{entry['line']}" if entry["path"] else "-"
