"""Joins what jaxlint predicts with what was observed, counts, and puts each disagreement down to a rough cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.staging.packages import is_test
from benchmarks.staging.reasons import enclosing_line as enclosing_line
from benchmarks.staging.reasons import mark_reasons as mark_reasons

Record = dict[str, Any]
Key = tuple[str, int, str]


@dataclass(slots=True)
class Ratio:
    """`hit` of `all`."""

    hit: int = 0
    all: int = 0

    def add(self, right: bool) -> None:
        self.hit += right
        self.all += 1

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(self.hit + other.hit, self.all + other.all)

    def __str__(self) -> str:
        return f"{self.hit / self.all:.1%} ({self.hit}/{self.all})" if self.all else "-"


@dataclass(slots=True)
class Pair:
    """One function: jaxlint's record, and the plugin's, merged over the code objects of one place."""

    predicted: Record
    observed: Record
    reason_ran: bool = True
    """Whether the function in which the reason lies was executed, and a call that gives tracers; if not, the observation says little against it."""
    idle: set[str] = field(default_factory=set)
    """Of `wrong_parameters`, those of which no call was run that is said to give them tracers."""

    @property
    def key(self) -> Key:
        return key(self.predicted)

    @property
    def test(self) -> bool:
        return is_test(self.predicted["path"])

    @property
    def traced(self) -> bool:
        return bool(self.observed["traced"])

    @property
    def staged(self) -> bool:
        return bool(self.predicted["staged"] == "yes")

    @property
    def visible(self) -> bool:
        return self.staged and self.predicted["basis"] == "visible"

    def wrong_parameters(self) -> list[str]:
        """Those that are said to be traced and never were."""
        claims = self.predicted["params"]
        return [
            name
            for name, times in self.observed["parameters"].items()
            if not times and claims.get(name) == "traced"
        ]


@dataclass(slots=True)
class Score:
    """The figures of one package, or of part of it."""

    executed: int = 0
    traced: int = 0
    recall: Ratio = field(default_factory=Ratio)
    precision: Ratio = field(default_factory=Ratio)
    precision_visible: Ratio = field(default_factory=Ratio)
    in_trace: Ratio = field(default_factory=Ratio)
    """As `precision`, where running under a trace is enough, tracers among the arguments or not."""
    tested: Ratio = field(default_factory=Ratio)
    """As `in_trace`, without the claims whose reason lies in code that never ran, or rests on calls that never did."""
    parameter_recall: Ratio = field(default_factory=Ratio)
    parameter_precision: Ratio = field(default_factory=Ratio)
    parameter_tested: Ratio = field(default_factory=Ratio)
    """As `parameter_precision`, without the claims that rest on calls none of which was run."""

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, name) + getattr(other, name) for name in Score.__slots__))


@dataclass(slots=True)
class Join:
    """Pairs, and what has no partner: executed functions that `inspect` does not list, and places that cannot be told apart."""

    pairs: list[Pair]
    unlisted: list[Record]
    ambiguous: list[Key]


def key(record: Record) -> Key:
    """What names a function on both sides."""
    return record["path"], record["line"], record["qualname"]


def join(predicted: Iterable[Record], observed: Iterable[Record]) -> Join:
    """Pairs by path, first line and qualified name.

    Several code objects of one place (a module imported twice) are one function. Several predictions for one place (two
    lambdas in a line) are used only when they say the same.
    """
    claims: dict[Key, list[Record]] = defaultdict(list)
    for record in predicted:
        claims[key(record)].append(record)
    seen: dict[Key, list[Record]] = defaultdict(list)
    for record in observed:
        seen[key(record)].append(record)
    result = Join([], [], [])
    for place, records in seen.items():
        found = claims.get(place, [])
        if not found:
            result.unlisted.append(merge(records))
        elif len(found) > 1 and any(_claim(other) != _claim(found[0]) for other in found):
            result.ambiguous.append(place)
        else:
            result.pairs.append(Pair(found[0], merge(records)))
    return result


def _claim(record: Record) -> tuple[Any, ...]:
    return record["staged"], record["basis"], record["params"]


def merge(records: Sequence[Record]) -> Record:
    """What several code objects of one function saw, as one record."""
    merged = dict(records[0])
    for record in records[1:]:
        for name in ("calls", "traced", "under", "concrete"):
            merged[name] += record[name]
        names = merged["parameters"].keys() | record["parameters"].keys()
        merged["parameters"] = {
            name: merged["parameters"].get(name, 0) + record["parameters"].get(name, 0) for name in names
        }
        for name in ("closure", "lines", "raised"):
            merged[name] = sorted({*merged[name], *record[name]})
        merged["callers"] = merged["callers"] + record["callers"]
    return merged


def score(pairs: Iterable[Pair]) -> Score:
    """The figures over these pairs; functions that never ran are in none of them."""
    total = Score()
    for pair in pairs:
        total.executed += 1
        total.traced += pair.traced
        if pair.traced:
            total.recall.add(pair.staged)
            for name, times in pair.observed["parameters"].items():
                claimed = pair.predicted["params"].get(name) == "traced"
                if times:
                    total.parameter_recall.add(claimed)
                if claimed:
                    total.parameter_precision.add(times > 0)
                    if times or name not in pair.idle:
                        total.parameter_tested.add(times > 0)
        if pair.staged:
            total.precision.add(pair.traced)
            in_trace = pair.traced or pair.observed["under"] > 0
            total.in_trace.add(in_trace)
            if in_trace or pair.reason_ran:
                total.tested.add(in_trace)
            if pair.visible:
                total.precision_visible.add(pair.traced)
    return total


def contradicted(findings: Iterable[Record], pairs: Iterable[Pair]) -> list[Record]:
    """Error-level findings at a line that ran under trace and never raised there."""
    fine: set[tuple[str, int]] = set()
    raised: set[tuple[str, int]] = set()
    for pair in pairs:
        path = pair.observed["path"]
        fine.update((path, line) for line in pair.observed["lines"])
        raised.update((path, line) for line in pair.observed["raised"])
    return [
        finding
        for finding in findings
        if finding["severity"] == "error" and (finding["path"], finding["line"]) in fine - raised
    ]


def shape(pair: Pair) -> str:
    """What kind of function it is."""
    qualname: str = pair.predicted["qualname"]
    outer, _, name = qualname.rpartition(".")
    if name == "<lambda>":
        return "lambda"
    if outer.endswith("<locals>"):
        return "nested function"
    return "method" if outer else "function"


def miss_cause(pair: Pair, by_key: dict[Key, Pair]) -> str:
    """Why a function that JAX traced is not said to be staged: what called it decides."""
    causes = [_call_cause(pair, caller, by_key) for caller in pair.observed["callers"]] or ["no caller seen"]
    # A call from a staged function is a missed edge of its own; one from a missed function only follows from that.
    return f"{shape(pair)}: {min(causes, key=lambda cause: cause.startswith('follows'))}"


def _call_cause(pair: Pair, caller: Record, by_key: dict[Key, Pair]) -> str:
    between = [name for name in caller["between"] if not name.startswith("jax._src.linear_util")]
    if caller["path"] is None:
        return f"called by {_entry(between)}" if between else "called from outside"
    up = by_key.get(key(caller))
    if between:
        how = f"handed to {_entry(between)}"
    else:
        how = "called directly"
    if up is None or up.key == pair.key:
        return how
    if not up.staged and up.traced:
        return "follows from a missed caller"
    state = "staged caller" if up.staged else "host caller"
    return f"{how} in a {state}"


def _entry(between: Sequence[str]) -> str:
    """The library function that the program called: the outermost one."""
    name = between[-1].replace(".<locals>", "")
    for start, public in _PUBLIC.items():
        if name.startswith(start):
            return public
    return name


_PUBLIC = {
    "jax._src.pjit._cpp_pjit": "a jitted function",
    "jax._src.custom_derivatives.custom_": "a custom derivative",
    "jax._src.tree.": "jax.tree",
    "jax._src.tree_util.": "jax.tree",
    "jax._src.api.vmap": "jax.vmap",
    "jax._src.api.value_and_grad": "jax.grad",
    "jax._src.api.grad": "jax.grad",
    "jax._src.lax.control_flow.": "lax control flow",
}


def false_cause(pair: Pair) -> str:
    """Why a function said to be staged was not traced: what its calls were like."""
    observed = pair.observed
    if observed["under"]:
        how = "ran under a trace without a tracer among its arguments"
    elif observed["concrete"]:
        how = "only tracers with values (eager differentiation)"
    elif not pair.reason_ran:
        how = "ran on the host only, and the code of its reason never ran"
    else:
        how = "ran on the host only"
    return f"{shape(pair)}, {pair.predicted['basis']}: {how}"


def parameter_cause(pair: Pair, name: str) -> str:
    """A disagreement about one parameter."""
    claimed = pair.predicted["params"].get(name, "not listed")
    truth = "traced" if pair.observed["parameters"][name] else "never traced"
    staged = "staged" if pair.staged else "missed function"
    what = name if name in ("self", "cls", "args", "kwargs") else "parameter"
    idle = ", by calls that never ran" if name in pair.idle else ""
    return f"{what} {truth}, said to be {claimed}{idle} ({staged})"


def causes(pairs: Sequence[Pair]) -> dict[str, Counter[str]]:
    """Counts of the causes by kind of disagreement."""
    by_key = {pair.key: pair for pair in pairs}
    counts: dict[str, Counter[str]] = {
        "misses": Counter(),
        "false claims": Counter(),
        "parameters": Counter(),
    }
    for pair in pairs:
        if pair.traced and not pair.staged:
            counts["misses"][miss_cause(pair, by_key)] += 1
        if pair.staged and not pair.traced:
            counts["false claims"][false_cause(pair)] += 1
        if pair.traced:
            for name, times in pair.observed["parameters"].items():
                if (pair.predicted["params"].get(name) == "traced") != (times > 0):
                    counts["parameters"][parameter_cause(pair, name)] += 1
    return counts


def roots(pairs: Sequence[Pair]) -> list[tuple[Pair, int]]:
    """The misses that do not follow from another, each with the number of misses that follow from it, most first."""
    by_key = {pair.key: pair for pair in pairs}
    missed = {pair.key for pair in pairs if pair.traced and not pair.staged}

    def parent(place: Key) -> Key | None:
        callers = [key(caller) for caller in by_key[place].observed["callers"]]
        if not callers or any(caller not in missed or caller == place for caller in callers):
            return None
        return callers[0]

    counts: Counter[Key] = Counter()
    for place in missed:
        path = {place}
        at = place
        while (up := parent(at)) is not None and up not in path:
            path.add(up)
            at = up
        counts[at] += 1
    return [(by_key[place], count - 1) for place, count in counts.most_common()]
