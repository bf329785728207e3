"""Tables, samples and differences of outcomes, as text that also reads as Markdown."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora.run import Outcome

Row = Sequence[str]


def table(header: Row, rows: Iterable[Row]) -> str:
    """A Markdown table, columns padded; the first column left, the others right."""
    cells = [list(header), *map(list, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Row) -> str:
        texts = (
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        return "| " + " | ".join(texts) + " |"

    rule = ["-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(cells[0]), line(rule), *map(line, cells[1:])])


def summary(outcomes: Sequence[Outcome]) -> str:
    """One row per corpus: size, time, memory, crashes, complaints and findings by severity.

    Columns: `s` wall time, `libcst` and `ast` that time over the bare parse of the same files, `MB` the resident
    peak, `unread` what check could not read or parse.
    """
    sizes, times = ["files", "kLOC"], ["s", "kLOC/s", "libcst", "ast", "MB"]
    header = ["corpus", *sizes, *times, "crash", "unread", "errors", "warnings", "info"]
    rows = [_row(outcome, int(outcome.crash is not None)) for outcome in outcomes]
    if len(outcomes) > 1:
        rows.append(_row(_total(outcomes), sum(outcome.crash is not None for outcome in outcomes)))
    return table(header, rows)


def _row(outcome: Outcome, crashes: int) -> Row:
    severity = outcome.by_severity()
    ratio = lambda base: f"{outcome.seconds / base:.2f}" if base else "-"  # noqa: E731
    return (
        outcome.corpus,
        str(outcome.files),
        f"{outcome.lines / 1000:.1f}",
        f"{outcome.seconds:.2f}",
        f"{outcome.lines / 1000 / outcome.seconds:.0f}",
        ratio(outcome.libcst_seconds),
        ratio(outcome.ast_seconds),
        f"{outcome.peak_mb:.0f}",
        str(crashes),
        str(len(outcome.complaints)),
        *(str(severity[level]) for level in ("error", "warning", "info")),
    )


def _total(outcomes: Sequence[Outcome]) -> Outcome:
    """All corpora as one; its peak is the largest peak."""
    known = [o for o in outcomes if o.libcst_seconds is not None]
    complete = len(known) == len(outcomes)
    return Outcome(
        corpus="all",
        root="",
        files=sum(o.files for o in outcomes),
        lines=sum(o.lines for o in outcomes),
        seconds=sum(o.seconds for o in outcomes),
        peak_mb=max(o.peak_mb for o in outcomes),
        complaints=[text for o in outcomes for text in o.complaints],
        findings=[finding for o in outcomes for finding in o.findings],
        ast_seconds=sum(o.ast_seconds or 0 for o in known) if complete else None,
        libcst_seconds=sum(o.libcst_seconds or 0 for o in known) if complete else None,
    )


def rules(outcomes: Sequence[Outcome]) -> str:
    """Findings by rule: a row per rule with its count in each corpus that has any."""
    hit = [outcome for outcome in outcomes if outcome.findings]
    total: Counter[str] = sum((outcome.by_rule() for outcome in hit), Counter())
    rows = [
        (rule, str(count), ", ".join(f"{o.corpus} {o.by_rule()[rule]}" for o in hit if o.by_rule()[rule]))
        for rule, count in sorted(total.items(), key=lambda item: (-item[1], item[0]))
    ]
    return table(("rule", "all", "where"), rows) if rows else "no findings"


Sampled = tuple[Outcome, dict[str, Any]]


def sample(outcomes: Sequence[Outcome], count: int, seed: int, per_rule: bool) -> list[Sampled]:
    """`count` findings drawn at random (the same ones for the same seed), or `count` of each rule."""
    pool = [(outcome, finding) for outcome in outcomes for finding in outcome.findings]
    draw = random.Random(seed)
    if not per_rule:
        return draw.sample(pool, min(count, len(pool)))
    groups: dict[str, list[Sampled]] = {}
    for item in pool:
        groups.setdefault(item[1]["code"], []).append(item)
    return [
        item for code in sorted(groups) for item in draw.sample(groups[code], min(count, len(groups[code])))
    ]


def show(number: int, outcome: Outcome, finding: dict[str, Any], context: int) -> str:
    """One finding with the lines around it, to be read by hand."""
    where = f"{outcome.corpus}: {finding['path']}:{finding['line']}:{finding['column']}"
    cell = f" cell {finding['cell']}" if finding["cell"] is not None else ""
    head = [
        f"--- {number}. {where}{cell}  [{finding['severity']}] {finding['code']} {finding['name']}",
        f"    {finding['message']}",
        f"    reason: {finding['reason']}",
    ]
    if finding["fix"]:
        head.append(f"    fix ({finding['fix']['safety']}): {finding['fix']['message']}")
    return "\n".join([*head, *_code(outcome, finding, context)])


def _code(outcome: Outcome, finding: dict[str, Any], context: int) -> Iterator[str]:
    root = Path(outcome.root)
    path = (root if root.is_dir() else root.parent) / finding["path"]
    if path.suffix != ".py":
        return
    lines = path.read_bytes().decode(errors="replace").splitlines()
    first, last = finding["line"], min(finding["end_line"], finding["line"] + 3)
    for number in range(max(1, first - context), min(len(lines), last + context) + 1):
        yield f"{'>' if first <= number <= last else ' '} {number:5d} {lines[number - 1]}"


def difference(before: Path, outcomes: Sequence[Outcome]) -> tuple[list[Sampled], list[Sampled]]:
    """Findings that are new and findings that are gone, against a file written by `--save`."""
    old = load(before)
    names = {outcome.corpus for outcome in outcomes}
    return _beyond(outcomes, old), _beyond([o for o in old if o.corpus in names], outcomes)


def _beyond(these: Sequence[Outcome], those: Sequence[Outcome]) -> list[Sampled]:
    known = {_identity(outcome, finding) for outcome in those for finding in outcome.findings}
    return [(o, f) for o in these for f in o.findings if _identity(o, f) not in known]


def _identity(outcome: Outcome, finding: dict[str, Any]) -> tuple[object, ...]:
    return (outcome.corpus, *(finding[key] for key in ("path", "cell", "line", "column", "code")))


def load(path: Path) -> list[Outcome]:
    return [Outcome(**record) for record in json.loads(path.read_text())]
