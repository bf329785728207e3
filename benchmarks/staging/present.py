"""The truth table, the causes and single disagreements, as text that also reads as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpora.present import table
from benchmarks.staging import join
from benchmarks.staging.packages import Subject


@dataclass(slots=True)
class Result:
    """One package, held against the truth."""

    subject: Subject
    truth: dict[str, Any]
    joined: join.Join
    contradicted: list[dict[str, Any]]
    errors: int

    def parts(self) -> dict[str, list[join.Pair]]:
        pairs = self.joined.pairs
        return {
            "all": pairs,
            "package": [pair for pair in pairs if not pair.test],
            "tests": [pair for pair in pairs if pair.test],
        }


HEADER = (
    "package",
    "part",
    "executed",
    "traced",
    "recall",
    "precision",
    "visible",
    "under trace",
    "tested",
    "param recall",
    "param precision",
    "param tested",
)


def scores(results: Sequence[Result]) -> str:
    """Functions and parameters: of the traced, predicted; of the predicted, traced."""
    rows = []
    totals: dict[str, join.Score] = {}
    for result in results:
        for part, pairs in result.parts().items():
            score = join.score(pairs)
            totals[part] = totals.get(part, join.Score()) + score
            rows.append(_row(result.subject.name, part, score))
    if len(results) > 1:
        rows += [_row("together", part, score) for part, score in totals.items()]
    return table(HEADER, rows)


def _row(name: str, part: str, score: join.Score) -> list[str]:
    return [
        name,
        part,
        str(score.executed),
        str(score.traced),
        str(score.recall),
        str(score.precision),
        str(score.precision_visible),
        str(score.in_trace),
        str(score.tested),
        str(score.parameter_recall),
        str(score.parameter_precision),
        str(score.parameter_tested),
    ]


def runs(results: Sequence[Result]) -> str:
    """What was run, and what the join left out."""
    header = ("package", "version", "jax", "python", "tests run", "of", "test files", "files not collected", "ambiguous", "unlisted", "errors", "contradicted")  # fmt: skip
    rows = []
    for result in results:
        tests = result.truth["tests"]
        done = sum(tests.get(name, 0) for name in ("passed", "failed", "skipped"))
        rows.append(
            [
                result.subject.name,
                result.subject.version,
                str(result.truth["jax"]),
                result.truth["python"],
                str(done),
                str(tests.get("collected", 0)),
                f"{len(result.truth['reached'])} of {result.truth['files']}"
                if "files" in result.truth
                else "-",
                str(tests.get("files not collected", 0)),
                str(len(result.joined.ambiguous)),
                str(len(result.joined.unlisted)),
                str(result.errors),
                str(len(result.contradicted)),
            ]
        )
    return table(header, rows)


def causes(results: Sequence[Result]) -> str:
    """How often each cause is behind a disagreement, over all packages."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for kind, found in join.causes(result.joined.pairs).items():
            counts.setdefault(kind, Counter()).update(found)
    rows = [(kind, cause, str(n)) for kind, found in counts.items() for cause, n in found.most_common()]
    return table(("disagreement", "cause", "count"), rows) if rows else "no disagreement"


def misses(result: Result, most: int) -> Iterable[str]:
    """Missed functions that do not follow from another missed one, the most consequential first."""
    by_key = {pair.key: pair for pair in result.joined.pairs}
    for pair, following in join.roots(result.joined.pairs)[:most]:
        yield f"MISS {join.miss_cause(pair, by_key)}; {following} more follow\n{_detail(result, pair)}"


def false_claims(result: Result, most: int) -> Iterable[str]:
    """Functions said to be staged that ran and were not traced; those that the run really speaks against first."""
    wrong = [pair for pair in result.joined.pairs if pair.staged and not pair.traced]
    for pair in sorted(wrong, key=lambda p: (p.observed["under"] > 0, not p.reason_ran, p.key))[:most]:
        yield f"FALSE {join.false_cause(pair)}\n{_detail(result, pair)}"


def parameters(result: Result, most: int) -> Iterable[str]:
    """Disagreements about parameters of functions rightly said to be staged."""
    found = [
        f"PARAM {name}: {join.parameter_cause(pair, name)}\n{_detail(result, pair)}"
        for pair in result.joined.pairs
        if pair.traced and pair.staged
        for name, times in pair.observed["parameters"].items()
        if (pair.predicted["params"].get(name) == "traced") != (times > 0)
    ]
    yield from found[:most]


def contradictions(result: Result) -> Iterable[str]:
    """Error-level findings at lines that ran under trace."""
    for finding in result.contradicted:
        yield (
            f"CONTRADICTED {finding['code']} {finding['name']}\n"
            f"    {_source(result.subject.root, finding['path'], finding['line'])}\n"
            f"    {finding['message']}\n    reason: {finding['reason']}"
        )


def _detail(result: Result, pair: join.Pair) -> str:
    predicted, observed = pair.predicted, pair.observed
    held = [name for name, times in observed["parameters"].items() if times]
    lines = [
        f"{_source(result.subject.root, predicted['path'], predicted['line'])}   [{predicted['qualname']}]",
        f"predicted {predicted['staged']}/{predicted['basis']}: {predicted['reason']}",
        f"predicted params {predicted['params']}",
        f"observed {observed['calls']} calls, {observed['traced']} with tracers in {held or '-'}"
        + (f" and closure {observed['closure']}" if observed["closure"] else "")
        + f"; {observed['under']} under trace without, {observed['concrete']} with concrete tracers",
    ]
    for caller in observed["callers"][:2]:
        where = f"{caller['path']}:{caller['at']} [{caller['qualname']}]" if caller["path"] else "outside"
        lines.append(f"called from {where} through {' < '.join(caller['between']) or 'nothing'}")
    return "\n".join(f"    {line}" for line in lines)


def _source(root: Path, path: str, line: int) -> str:
    text = (root / path).read_bytes().decode(errors="replace").splitlines()
    return f"{path}:{line}: {text[line - 1].strip() if line <= len(text) else ''}"
