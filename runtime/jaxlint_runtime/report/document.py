"""The report of one `jaxlint verify` run, filled event by event, so that it is whole whenever it is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.proof.gain import gain_of, is_proven, tally
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.protocol.report_forms import (
    AppliedJson,
    CompileJson,
    DiffJson,
    FindingJson,
    FlaggedJson,
    FunctionJson,
    ResultJson,
    SyncJson,
)
from jaxlint_runtime.protocol.worker_events import Busy, Captured, Constants, Inspected, Watch
from jaxlint_runtime.spent import Spent
from jaxlint_runtime.wording.paths import display_path

SCHEMA_VERSION = 1


@dataclass(slots=True)
class Document:
    """The known results of a run; the forms of its parts are those of `protocol.report_forms`.

    `functions`, `flagged` and `syncs` are as the worker sent them, with the findings of check for each.
    """

    program: dict[str, Any]
    targets: list[str]
    ending: dict[str, Any] | None = None
    seconds: float = 0.0
    used_jax: bool = True
    device: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    functions: list[FunctionJson] = field(default_factory=list)
    flagged: list[FlaggedJson] = field(default_factory=list)
    # all counted functions, with or without findings
    watched: list[FlaggedJson] = field(default_factory=list)
    syncs: list[SyncJson] = field(default_factory=list)
    eager: dict[str, Any] = field(default_factory=dict)
    step: str | None = None
    loops: dict[str, tuple[str, int]] = field(default_factory=dict)  # file and line, by what they call
    results: list[tuple[str, ResultJson]] = field(default_factory=list)
    # Descriptions of versions of functions, see `inspection.overview`.
    inspections: list[dict[str, Any]] = field(default_factory=list)
    peaks: dict[str, dict[str, Any]] = field(default_factory=dict)  # by target
    # The edits for proven results, see `apply.preview`.
    diffs: list[DiffJson] = field(default_factory=list)
    # By target, see `sharding.placement_record`.
    shardings: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    applied: list[AppliedJson] = field(default_factory=list)
    # The file of --compare, how many functions are in it and in this run, and the figures that are worse.
    baseline: str | None = None
    in_baseline: int = 0
    regressions: list[str] = field(default_factory=list)
    sizes: list[dict[str, Any]] = field(default_factory=list)  # figures by size, see `sweep.rows_of`
    interrupted: bool = False
    ran: bool = False  # whether the program could be run at all
    spent: Spent = field(default_factory=Spent)

    def captured(self, event: Captured) -> None:
        """The program has ended."""
        self.ran = True
        self.targets = event.targets or self.targets
        self.ending, self.seconds, self.used_jax = to_plain(event.ending), event.seconds, event.used_jax
        self.spent.program_s = event.cpu_s
        self.device, self.versions, self.step = event.device, event.versions, event.step
        self.functions, self.syncs, self.eager = event.functions, event.syncs, event.eager
        self.watched = list(event.flagged)
        # The values of variables, and what was seen of loops, only serve the search for edits.
        self.flagged = []
        for one in event.flagged:
            shown_of_it = one.copy()
            for only_searched in ("variables", "weak", "lengths", "callers"):
                shown_of_it.pop(only_searched, None)  # type: ignore[misc]
            self.flagged.append(shown_of_it)

    def inspected(self, event: Inspected) -> None:
        """The description of a version; each process repeats it when it begins."""
        names = ("target", "version", "function", "path", "line")
        entry = {**{name: getattr(event, name) for name in names}, **event.overview}
        known = [[one[name] for name in names if name != "function"] for one in self.inspections]
        if [entry[name] for name in names if name != "function"] not in known:
            self.inspections.append(entry)

    def learned(self, event: Constants) -> None:
        """Facts about one function from its traced program, beyond its candidates."""
        for function in self.functions:
            if (function["path"], function["line"]) == (event.path, event.line):
                function["constants"] = event.constants

    def progressed(self, event: Watch) -> None:
        """The program is running: these are the known facts if nothing more comes."""
        if self.ending is None:
            self.seconds = event.seconds
            self.functions = [_unfinished(one) for one in event.functions]

    def add_findings(self, findings: Iterable[Mapping[str, Any]]) -> None:
        """Assigns findings of check to functions, and to host syncs on the same lines."""
        findings = list(findings)
        self._add_to_flagged(findings)
        for function in self.functions:
            function["findings"] = [_brief(finding) for finding in findings if _speaks_of(finding, function)]
        for sync in self.syncs:
            sync["findings"] = [
                _brief(finding)
                for finding in findings
                if finding["path"] == sync["path"]
                and finding["line"] <= sync["line"] <= finding["end_line"]
                and finding["category"] in ("transfer", "tracing")
            ]

    def _add_to_flagged(self, findings: list[Mapping[str, Any]]) -> None:
        """Assigns each finding to the innermost flagged function around it, unless a jitted function shows it
        already."""
        for function in self.flagged:
            function["findings"] = []
        for finding in findings:
            if any(_speaks_of(finding, function) for function in self.functions):
                continue
            around = [function for function in self.flagged if _lies_in(finding, function)]
            if around:
                max(around, key=lambda function: function["line"])["findings"].append(_brief(finding))
        self.flagged = [function for function in self.flagged if function["findings"]]

    def join(self, again: Document) -> None:
        """Merges the results for the edited program; a function that edits moved keeps its first place."""

        results = []
        for target, result in again.results:
            moved = result.copy()
            moved["line"] = self.line_of(result["path"], result["function"], result["line"])
            results.append((target, moved))
        for applied in again.applied:
            entry = applied.copy()
            entry["line"] = self.line_of(entry["path"], entry["function"], entry["line"])
            self.applied.append(entry)
        self.errors += again.errors
        self.results += results

    def line_of(self, path: str, function: str, line: int) -> int:
        """The line at which the run saw a function, or at which its results place it; otherwise `line`."""
        seen = (*self.functions, *self.watched, *(result for _, result in self.results))
        return next((one["line"] for one in seen if (one["path"], one["function"]) == (path, function)), line)

    def results_of(self, target: str) -> list[ResultJson]:
        """The tried candidates of one target."""
        return [result for name, result in self.results if name == target]

    def proven(self) -> list[ResultJson]:
        """The results that may be called an improvement."""
        return [result for _, result in self.results if is_proven(result)]

    def best_speedup(self) -> float | None:
        """The largest lower bound of a measured and claimed speed-up; None if there is none."""
        times = [gain_of(result).time for _, result in self.results if result["status"] == "verified"]
        return max((time.low for time in times if time is not None and time.better), default=None)

    def as_json(self) -> dict[str, Any]:
        """The documented form of `--output-format json`; paths inside the working directory are relative to it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "program": {
                **self.program,
                "ending": self.ending,
                "seconds": self.seconds,
                "processor_s": self.spent.program_s,
                "used_jax": self.used_jax,
            },
            "notes": list(self.notes),
            "errors": list(self.errors),
            "spent": self.spent.as_json(),
            "interrupted": self.interrupted,
            "regressions": list(self.regressions),
            "summary": tally([result for _, result in self.results]).as_json(),
            "sizes": [shown(row) for row in self.sizes],
            "applied": [shown(entry) for entry in self.applied],
            "diffs": [shown(entry) for entry in self.diffs],
            "runs": [self._run(target) for target in self.targets],
        }

    def _run(self, target: str) -> dict[str, Any]:
        return {
            "target": target,
            "device": f"{target}, by its compiler alone" if ":" in target else self.device,
            "versions": dict(self.versions),
            "step": self.step,
            "functions": [
                shown({**function, "compiles": len(function["compiles"])}) for function in self.functions
            ],
            "compiles": [shown(_compiles(function)) for function in self.functions],
            "flagged": [shown(function) for function in self.flagged],
            "eager_compiles": {
                **{name: what for name, what in self.eager.items() if name not in ("inner", "rows")},
                "calls": [
                    shown({name: one[name] for name in ("path", "line", "function", "compiles", "seconds")})
                    for one in self.eager.get("calls", ())
                ],
            },
            "syncs": [shown(sync) for sync in self.syncs],
            "results": [
                {**shown(result), "gain": gain_of(result).as_json()} for result in self.results_of(target)
            ],
            "inspections": [_inspection(one) for one in self.inspections if one["target"] == target],
            "peaks": self.peaks.get(target),
            "sharding": [shown(one) for name, one in self.shardings if name == target],
        }


def _unfinished(busy: Busy) -> FunctionJson:
    """The known facts about a function while the program runs."""
    cause = "unknown: the program did not finish"
    unseen: CompileJson = {"trace_s": None, "lower_s": None, "compile_s": None, "cause": cause}
    return {
        "end_line": 0,
        "jit_path": None,
        "jit_line": None,
        "options": {},
        "wrappers": None,
        "seconds": None,
        "weight_seconds": None,
        "call_ms": None,
        "period_ms": None,
        "captured_call": None,
        "captured_bytes": 0,
        "refused": None,
        "rebound": None,
        "constants": [],
        "growing": [],
        "findings": [],
        "function": busy.function,
        "path": busy.path,
        "line": busy.line,
        "calls": busy.calls,
        "inner_calls": busy.inner_calls,
        "compiles": [unseen] * busy.compiles,
    }


def _compiles(function: Mapping[str, Any]) -> dict[str, Any]:
    known = [compiled for compiled in function["compiles"] if compiled["compile_s"] is not None]
    return {
        "function": function["function"],
        "path": function["path"],
        "line": function["line"],
        "count": len(function["compiles"]),
        "calls": function["calls"],
        "trace_s": sum(compiled["trace_s"] for compiled in known),
        "lower_s": sum(compiled["lower_s"] for compiled in known),
        "compile_s": sum(compiled["compile_s"] for compiled in known),
        "causes": [dict(compiled) for compiled in function["compiles"]],
    }


def _lies_in(finding: Mapping[str, Any], function: Mapping[str, Any]) -> bool:
    return finding["path"] == function["path"] and function["line"] <= finding["line"] <= function["end_line"]


def _speaks_of(finding: Mapping[str, Any], function: Mapping[str, Any]) -> bool:
    """Whether a finding lies inside a jitted function, or where it is jitted."""
    at_jit = (finding["path"], finding["line"]) == (function["jit_path"], function["jit_line"])
    return at_jit or _lies_in(finding, function)


def _brief(finding: Mapping[str, Any]) -> FindingJson:
    return {
        "path": finding["path"],
        "line": finding["line"],
        "code": finding["code"],
        "name": finding["name"],
        "severity": finding["severity"],
        "message": finding["message"],
    }


def _inspection(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An inspection with its paths in readable form."""

    def walk(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                key: display_path(item)
                if key in ("path", "peak_path") and isinstance(item, str)
                else walk(item)
                for key, item in value.items()
            }
        return [walk(item) for item in value] if isinstance(value, list) else value

    found: dict[str, Any] = walk(entry)
    return found


def shown(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with its paths, and those of its findings, in readable form."""
    out = dict(entry)
    for key in ("path", "jit_path"):
        if isinstance(out.get(key), str):
            out[key] = display_path(out[key])
    if "findings" in out:
        out["findings"] = [shown(finding) for finding in out["findings"]]
    return out
