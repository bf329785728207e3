"""One self-contained page for one run: it loads nothing and has no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from jaxlint_runtime.proof.gain import Tally, gain_of, is_proven, tally
from jaxlint_runtime.protocol.report_forms import ResultJson
from jaxlint_runtime.report.best_versions import Subject, subjects
from jaxlint_runtime.report.candidate_lines import memory_cell, speed_cell
from jaxlint_runtime.report.html.function_section import diff_part, function_section
from jaxlint_runtime.report.html.markup import Child, Markup, tag
from jaxlint_runtime.report.html.sharding_section import shardings
from jaxlint_runtime.report.html.tables import badge, table
from jaxlint_runtime.report.sizes_table import cells, headings
from jaxlint_runtime.report.targets_table import rows_of, verdicts, worth_showing
from jaxlint_runtime.wording.edit_names import label
from jaxlint_runtime.wording.function_names import short_name
from jaxlint_runtime.wording.units import milliseconds, ratio, seconds

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(
    document: Mapping[str, Any],
    data_name: str | None = None,
    when: str | None = None,
    first_lines: Sequence[str] = (),
) -> str:
    """The page of a report in the form of `Document.as_json`.

    `data_name` is the data file beside it; `first_lines` say what is proven and what to do next.
    """
    runs = document["runs"]
    program = document["program"]
    sections: list[Child] = []
    links: list[tuple[str, str]] = []
    changes = [diff for diff in document["diffs"] if diff["diff"]]
    notes = [diff for diff in document["diffs"] if not diff["diff"]]  # why a proven result is not written
    idle: list[Child] = []  # functions without candidates
    for run in runs:
        found = sorted(subjects(run), key=_interest)
        for number, subject in enumerate(found):
            anchor = f"f{len(links)}"
            links.append(
                (anchor, short_name(subject.place[0]) + (f" on {run['target']}" if len(runs) > 1 else ""))
            )
            mine = [d for d in notes if (d["function"], d["path"], d["line"]) == subject.place]
            mine = mine if run is runs[0] else []
            into = sections if _interest(subject) < _IDLE else idle
            if len(runs) > 1 and not number:
                of = [] if ":" in run["target"] else [f" {run['device']}"]
                into.append(tag("p", badge(run["target"], "kind"), *of, class_="meta"))
            into.append(function_section(subject, run, mine, anchor))
    if idle:
        title = f"Functions to which nothing applies ({len(idle)})"
        sections.append(tag("details", tag("summary", title), idle))
    body = [
        tag("a", "Skip to the report", href="#main", class_="skip"),
        tag("header", _head(document, runs, when)),
        tag(
            "main",
            _problems(document),
            [tag("p", line, class_="lead") for line in first_lines],
            _summary(document, runs),
            _contents(links),
            _changes(changes),
            _targets(runs),
            _sizes(document.get("sizes", ())),
            sections,
            list(shardings(runs)),
            _whole_run(runs[0]) if runs else None,
            _ending(document),
            id="main",
        ),
        tag(
            "footer",
            _how_to_read(),
            tag("p", "Data: ", tag("a", data_name, href=data_name)) if data_name else None,
        ),
    ]
    style = resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"jaxlint verify: {program['target']}"),
        tag("style", Markup(style)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


_IDLE = 2


def _interest(subject: Subject) -> int:
    """Proven results come first, then tried ones; `_IDLE` for functions without candidates."""
    if subject.best is not None:
        return 0
    return 1 if any(result["status"] != "not-applicable" for result in subject.results) else _IDLE


def _head(document: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], when: str | None) -> list[Markup]:
    program = document["program"]
    about = []
    if runs:
        about.append(", ".join(run["device"] or run["target"] for run in runs))
        about += [f"{name} {version}" for name, version in runs[0]["versions"].items()]
    if when:
        about.append(when)
    arguments = " ".join(program["arguments"])
    ending = [f"{program['ending']['message']}; {program['seconds']:.1f} s"] if program["ending"] else []
    return [
        tag("h1", "jaxlint verify ", tag("code", f"{program['target']} {arguments}".strip())),
        tag("p", " · ".join(about), class_="meta"),
        *(tag("p", line, class_="meta") for line in ending),
        *(tag("p", line) for line in verdicts(runs)),
    ]


def _contents(links: Sequence[tuple[str, str]]) -> Markup | None:
    if len(links) < 2:
        return None
    return tag(
        "nav",
        tag("ul", [tag("li", tag("a", name, href=f"#{anchor}")) for anchor, name in links]),
        aria_label="Functions",
    )


def _problems(document: Mapping[str, Any]) -> list[Markup]:
    said = [f"worse than the baseline: {line}" for line in document["regressions"]] + list(document["errors"])
    if document["interrupted"]:
        said.append("interrupted: the report holds the results so far")
    return [tag("p", line, class_="alert") for line in said]


def _summary(document: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> list[Child]:
    results = [r for run in runs for r in run["results"] if r["candidate"] != "original"]
    placed = [(run["target"], r) for run in runs for r in run["results"] if is_proven(r)]
    counted = tally(results)
    tiles = [*_gains(counted, [r for _, r in placed]), *(_of_run(runs[0]) if runs else ())]
    parts: list[Child] = [tag("ul", tiles, class_="tiles")]
    if placed:
        title = "Proven" if counted.verified else "Gains by the compiler, values checked here"
        parts.append(_proven(title, placed, len(runs) > 1))
    elif not results:
        parts.append(tag("p", "No jitted function was captured, so nothing could be tried."))
    return parts


def _changes(changes: Sequence[Mapping[str, Any]]) -> Child:
    """The changes in the source, for people."""
    if not changes:
        return None
    return tag("section", tag("h2", "What --apply writes"), [diff_part(diff) for diff in changes])


def _gains(counted: Tally, proven: Sequence[ResultJson]) -> list[Child]:
    """The number of proven candidates, and their largest gains."""
    what = "tried candidates are proven"
    if counted.compiled:
        what = (
            f"{what}, {counted.compiled} more gain by the compiler"
            if counted.verified
            else "tried candidates gain by the compiler"
        )
    tiles: list[Child] = [_tile(f"{counted.proven} of {counted.tried}", what, bool(proven))]
    gains = [(gain_of(r), r["function"]) for r in proven if r["status"] == "verified"]
    times = [(g.time, name) for g, name in gains if g.time is not None and g.time.better]
    if times:
        fastest, name = max(times, key=lambda pair: pair[0].ratio)
        tiles.append(_tile(ratio(fastest.ratio), f"as fast, measured: {name}", True))
    sizes = [(gain_of(r).memory, r["function"]) for r in proven]
    saved = [(memory, name) for memory, name in sizes if memory is not None and memory.better]
    if saved:
        smallest, name = max(saved, key=lambda pair: pair[0].ratio)
        how = "by the compiler" if smallest.exact else "measured"
        tiles.append(_tile(ratio(1 / smallest.ratio), f"the memory, {how}: {name}", True))
    return tiles


def _of_run(run: Mapping[str, Any]) -> list[Child]:
    """Compiles and host syncs of the run."""
    compiles = sum(len(one["causes"]) for one in run["compiles"])
    functions = _plural(len(run["functions"]), "jitted function")
    tiles: list[Child] = [
        _tile(str(compiles), f"compile{'' if compiles == 1 else 's'} of {functions}", False)
    ]
    if run["syncs"]:
        waits = sum(sync["per_step"] or 0.0 for sync in run["syncs"])
        tiles.append(_tile(f"{waits:.2g}", f"host syncs per call of {run['step'] or 'the step'}", False))
    return tiles


def _proven(title: str, placed: Sequence[tuple[str, ResultJson]], several: bool) -> Child:
    """The table of proven results; with their targets if there are several."""
    rows: list[list[Child]] = [
        [
            [tag("code", r["function"]), f" on {target}" if several else None],
            label(r["candidate"]),
            badge(r["status"]),
            speed_cell(r),
            memory_cell(r, "→"),
        ]
        for target, r in placed
    ]
    columns = [
        ("function", ""),
        ("candidate", ""),
        ("status", ""),
        ("times as fast", "n"),
        ("peak memory", "n"),
    ]
    return table(title, columns, rows)


def _plural(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _tile(figure: str, text: str, good: bool) -> Markup:
    return tag("li", tag("b", figure), tag("span", text), class_="gain" if good else None)


def _targets(runs: Sequence[Mapping[str, Any]]) -> Child:
    """What each function needs on each target, originally and at best."""
    rows = rows_of(runs)
    if not worth_showing(rows):
        return None
    columns = [
        ("function", ""),
        ("target", "whole"),
        ("version", "name"),
        ("peak memory (compiler)", "n"),
        ("fits", ""),
    ]
    columns += [("work (counted)", "n"), ("through memory (estimate)", "n")]
    sent = any(row.sent != "-" for row in rows)
    columns += [("sent (compiler)", "n")] if sent else []
    columns += [("kernels", "n"), ("time a call", "n")]
    shown: list[list[Child]] = []
    for row in rows:
        fits: Child = "-"
        if row.fits:
            badges = {"fits": "fits", "too big": "over"}
            fits = badge(f"{row.fits} {'for ' if row.fits == 'too big' else ''}{row.limit}", badges[row.fits])
        cells: list[Child] = [
            tag("code", short_name(row.function)),
            row.target,
            row.version,
            row.memory,
            fits,
        ]
        cells += [row.flops, row.moved, *([row.sent] if sent else []), row.kernels, row.time]
        shown.append(cells)
    return tag(
        "section",
        tag("h2", "Targets", id="targets"),
        table("Per device; targets with a colon are compiled, not run", columns, shown),
    )


def _sizes(rows: Sequence[Mapping[str, Any]]) -> Child:
    """The figures of each version for each size of --sizes."""
    if not rows:
        return None
    columns = [(name, "n" if number > 1 else "") for number, name in enumerate(headings(rows))]
    return tag("section", tag("h2", "By size"), table("Versions of functions by size", columns, cells(rows)))


def _whole_run(run: Mapping[str, Any]) -> list[Child]:
    """Facts about the program as a whole: host syncs, flagged functions, eager compiles."""
    parts: list[Child] = []
    if run["syncs"]:
        rows: list[list[Child]] = [
            [
                tag("span", f"{s['path']}:{s['line']}", class_="place"),
                s["kind"],
                str(s["count"]),
                "-" if s["per_step"] is None else f"{s['per_step']:.3g}",
                milliseconds(s["seconds"] * 1e3),
                ", ".join(f"{f['code']} {f['name']}" for f in s.get("findings", ())),
            ]
            for s in run["syncs"]
        ]
        columns = [
            ("line", ""),
            ("what", ""),
            ("times", "n"),
            ("a step", "n"),
        ]
        columns += [("waited (measured)", "n"), ("check says", "why")]
        parts.append(
            tag(
                "section",
                tag("h2", "Host syncs: where the host waits for the device"),
                table(f"By line; a step is a call of {run['step'] or 'the busiest function'}", columns, rows),
            )
        )
    if run["flagged"]:
        rows = [
            [
                [tag("code", f["function"]), " ", tag("span", f"{f['path']}:{f['line']}", class_="place")],
                "-" if f["calls"] is None else str(f["calls"]),
                seconds(f["seconds"]),
                milliseconds(f["call_ms"]),
                ", ".join(dict.fromkeys(f"{one['code']} {one['name']}" for one in f["findings"]))
                + (f" ({f['uncounted']}: not counted)" if f["uncounted"] else ""),
            ]
            for f in run["flagged"]
        ]
        columns = [
            ("function", ""),
            ("calls", "n"),
            ("total (measured)", "n"),
            ("a call", "n"),
            ("check says", "why"),
        ]
        parts.append(
            tag(
                "section",
                tag("h2", "Functions with findings that are not jitted"),
                table("Time on the host", columns, rows),
            )
        )
    if run["eager_compiles"].get("compiles"):
        count, spent = run["eager_compiles"]["compiles"], run["eager_compiles"]["seconds"]
        parts.append(
            tag("p", f"Outside jit: {_plural(count, 'operation')} compiled one by one, {spent:.2f} s.")
        )
    return parts


def _ending(document: Mapping[str, Any]) -> list[Child]:
    parts: list[Child] = []
    if document["applied"]:
        items = [
            tag(
                "li",
                badge(
                    "applied" if entry["kept"] else "not applied", "verified" if entry["kept"] else "rejected"
                ),
                " ",
                tag("span", f"{entry['path']}:{entry['line']}", class_="place"),
                f" {entry['message']}",
            )
            for entry in document["applied"]
        ]
        parts.append(tag("section", tag("h2", "Written by --apply"), tag("ul", items, class_="plain")))
    if document["notes"]:
        items = [tag("li", note) for note in document["notes"]]
        parts.append(
            tag(
                "details",
                tag("summary", f"Notes on the run ({len(items)})"),
                tag("ul", items, class_="plain"),
            )
        )
    return parts


def _how_to_read() -> Markup:
    return tag(
        "p",
        tag("b", "Kinds of figures. "),
        "Measured: run here in A-B-B-A blocks, median with a 95% bootstrap interval. Compiler: XLA's own plan for the compiled "
        "program. Counted: over the jaxpr, loops by their iterations. Estimate: neither run nor planned. "
        "Verified: values and gain were measured. Compiled: values were checked on another device, and the gain comes from the "
        "compiler for a device that is not here. Values are relative differences.",
    )
