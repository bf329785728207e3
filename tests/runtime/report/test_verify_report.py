"""The report: filled event by event, whole at any moment, readable in a narrow terminal."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from jaxlint.report.escaping import escaped
from jaxlint_runtime.model import Cost, Interval, Numerics, Result, Status
from jaxlint_runtime.protocol.jobs import Assignment, Capture, Launch
from jaxlint_runtime.protocol.json_records import encode, from_plain, to_plain
from jaxlint_runtime.protocol.worker_events import Busy, Captured, Constants, Watch
from jaxlint_runtime.report.candidate_lines import candidate_lines
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.first_lines import first_lines
from jaxlint_runtime.report.progress_lines import Live
from jaxlint_runtime.report.terminal import print_report, render
from jaxlint_runtime.wording.edit_names import label


def captured_event(folder: Path) -> dict[str, Any]:
    path = str(folder / "train.py")
    first = {"trace_s": 0.1, "lower_s": 0.05, "compile_s": 0.2, "cause": "first call"}
    again = {"trace_s": 0.1, "lower_s": 0.05, "compile_s": 0.3, "cause": "`x`: float32[3] -> float32[4]"}
    return {
        "ending": {"how": "stopped", "status": 0, "message": "stopped the program after 20 calls of step"},
        "seconds": 3.0,
        "used_jax": True,
        "device": "cpu: cpu",
        "targets": ["cpu"],
        "versions": {"jax": "1.2.3"},
        "functions": [
            {
                "function": "step",
                "path": path,
                "line": 5,
                "end_line": 9,
                "jit_path": path,
                "jit_line": 20,
                "options": {},
                "calls": 20,
                "inner_calls": 1,
                "wrappers": 1,
                "seconds": 0.2,
                "weight_seconds": 0.2,
                "call_ms": 10.0,
                "period_ms": 11.0,
                "captured_call": 20,
                "captured_bytes": 100,
                "refused": None,
                "compiles": [first, again],
            }
        ],
        "flagged": [
            flagged("main", path, 15, 40, calls=1, seconds=2.5, call_ms=2500.0),
            flagged("evaluate", path, 28, 33, calls=4, inner_calls=2, seconds=0.5, call_ms=125.0),
            flagged("batches", path, 50, 60, uncounted="a generator"),
            flagged("quiet", path, 70, 80, calls=9, seconds=0.1, call_ms=11.0),
        ],
        "eager": {"compiles": 2, "seconds": 0.1},
        "step": "step",
        "syncs": [
            {"path": path, "line": 22, "kind": "float(x)", "count": 20, "seconds": 0.1, "per_step": 1.0}
        ],
        "files": [path],
        "problems": [],
    }


def flagged(name: str, path: str, line: int, end_line: int, **values: Any) -> dict[str, Any]:
    unknown = dict.fromkeys(("calls", "inner_calls", "seconds", "call_ms", "uncounted", "described_call"))
    return {"function": name, "path": path, "line": line, "end_line": end_line, **unknown, **values}


def finding(path: str, line: int, name: str, category: str) -> dict[str, Any]:
    place = {"path": path, "line": line, "end_line": line, "column": 1, "end_column": 2}
    return {
        **place,
        "code": "JAX999",
        "name": name,
        "category": category,
        "severity": "warning",
        "message": "it [costs]",
    }


def result(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "function": "step",
        "path": "train.py",
        "line": 5,
        "code": "JAX601",
        "candidate": "donation",
        "status": Status.VERIFIED,
        "evidence": "run on cpu",
        "reason": "memory halves",
        "before": Cost(time_ms=Interval(10.0, 9.0, 11.0), time_kind="measured", peak_bytes=2 * 2**20),
        "after": Cost(time_ms=Interval(8.0, 7.0, 9.0), time_kind="measured", peak_bytes=2**20),
        "speedup": Interval(1.25, 1.2, 1.3),
        "numerics": Numerics(0.0, 0.0, 1.0, 1e-5, True),
        "codemod": "add-donation",
    }
    plain: dict[str, Any] = to_plain(Result(**{**values, **changes}))
    return plain


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Document:
    monkeypatch.chdir(tmp_path)
    made = Document({"kind": "script", "target": "train.py", "arguments": []}, [])
    made.captured(from_plain(Captured, captured_event(tmp_path)))
    path = str(tmp_path / "train.py")
    made.add_findings(
        [
            finding(path, 7, "inside", "memory"),
            finding(path, 20, "at-the-jit", "memory"),
            finding(path, 22, "sync", "transfer"),
            finding(path, 22, "other-matter", "random"),
            finding(path, 30, "elsewhere", "memory"),
            finding(path, 55, "in-a-generator", "memory"),
            finding(path, 90, "nowhere", "memory"),
        ]
    )
    made.results = [
        ("cpu", result()),
        ("cpu", result(candidate="bf16", status=Status.REJECTED, reason="slower")),
        (
            "cpu",
            result(
                candidate="remat",
                status=Status.NOT_APPLICABLE,
                before=None,
                after=None,
                speedup=None,
                numerics=None,
            ),
        ),
    ]
    return made


def names(entry: dict[str, Any]) -> list[str]:
    return [one["name"] for one in entry["findings"]]


def test_findings_are_tied_to_functions_and_syncs(document: Document) -> None:
    assert names(document.functions[0]) == ["inside", "at-the-jit"]
    assert names(document.syncs[0]) == ["sync"]


def test_what_is_flagged_and_not_jitted_is_shown(document: Document) -> None:
    assert {entry["function"]: names(entry) for entry in document.flagged} == {
        "main": ["sync", "other-matter"],  # line 20 is told with the function that is jitted there
        "evaluate": ["elsewhere"],
        "batches": ["in-a-generator"],
    }
    (run,) = document.as_json()["runs"]
    assert [(entry["path"], entry["calls"]) for entry in run["flagged"]] == [
        ("train.py", 1),
        ("train.py", 4),
        ("train.py", None),
    ]
    stream = io.StringIO()
    print_report(document, stream)
    _, _, rest = stream.getvalue().partition("Functions with findings that are not jitted")
    lines = {line.split()[0]: line.split() for line in rest.splitlines()[:9] if line.strip()}
    assert lines["main"][1:8] == ["train.py:15", "1", "2.50", "s", "2.50", "s", "JAX999"]
    assert lines["evaluate"][1:9] == ["train.py:28", "4", "(+2", "traced)", "500", "ms", "125", "ms"]
    assert lines["batches"][1:5] == ["train.py:50", "-", "-", "-"]
    assert "(a generator: not counted)" in rest


def test_a_function_that_an_edit_moved_is_shown_once(document: Document) -> None:
    again = Document({"kind": "script", "target": "train.py", "arguments": []}, ["cpu"])
    again.results = [("cpu", result(line=12, candidate="bf16:all")), ("cpu", result(function="new", line=40))]
    again.applied = [{**result(line=12), "kept": True, "message": "written as tried"}]
    document.join(again)
    assert [(one["function"], one["line"]) for _, one in document.results[-2:]] == [("step", 5), ("new", 40)]
    assert [one["line"] for one in document.applied] == [5]
    assert document.line_of(str(Path.cwd() / "train.py"), "evaluate", 30) == 28  # where the run saw it
    assert document.line_of("train.py", "elsewhere", 30) == 30
    stream = io.StringIO()
    print_report(document, stream, verbose=True)
    assert stream.getvalue().count("step  train.py:5\n") == 1
    assert "written: donation of step (train.py:5): written as tried" in stream.getvalue()
    assert "step  train.py:12" not in stream.getvalue()


def test_the_json_form_is_plain_and_relative(document: Document) -> None:
    report = json.loads(json.dumps(document.as_json(), allow_nan=False))
    (run,) = report["runs"]
    assert run["compiles"][0]["count"] == 2
    assert run["compiles"][0]["compile_s"] == pytest.approx(0.5)
    assert run["functions"][0]["path"] == "train.py"
    assert run["functions"][0]["findings"][0]["path"] == "train.py"
    assert [r["status"] for r in run["results"]] == ["verified", "rejected", "not-applicable"]
    assert run["results"][0]["before"]["time_ms"] == {"median": 10.0, "low": 9.0, "high": 11.0, "level": 0.95}


def test_the_gate_looks_at_the_lower_bound_of_what_was_verified(document: Document) -> None:
    assert document.best_speedup() == 1.2
    document.results = [("cpu", result(status=Status.REJECTED)), ("cpu", result(status=Status.COMPILED))]
    assert document.best_speedup() is None


def test_a_program_that_never_ended_still_has_a_report(tmp_path: Path) -> None:
    made = Document({"kind": "script", "target": "train.py", "arguments": []}, ["cpu"])
    busy = Busy("step", str(tmp_path / "train.py"), 5, calls=3, inner_calls=0, compiles=1)
    made.progressed(Watch([busy], 1.5))
    made.errors.append("the program was killed")
    (run,) = made.as_json()["runs"]
    assert run["compiles"][0]["count"] == 1
    stream = io.StringIO()
    print_report(made, stream)
    assert "problem: the program was killed" in stream.getvalue()
    assert "step" in stream.getvalue()


def text_of(document: Document, verbose: bool = False) -> str:
    stream = io.StringIO()
    print_report(document, stream, verbose)
    return stream.getvalue()


def test_the_text_says_what_was_proven_and_what_was_not(document: Document) -> None:
    document.diffs = [{**result(), "diff": "--- a", "note": ""}]
    text = text_of(document)
    first = text.splitlines()[2:5]
    assert first == [
        "1 of 2 candidates proven.",
        "step: 1.25x as fast, 50% less memory with donation.",
        "Next: run the same command with --apply to write donation of step.",
    ]
    rows = [re.split(r"  +", line) for line in text.splitlines() if line.startswith("step")]
    donation = [
        "step",
        "donation",
        "10 -> 8 ms",
        "1.25x [1.20, 1.30]",
        "2 -> 1 MiB",
        "same bits",
        "--apply writes it",
    ]
    assert donation in rows
    for part in (
        "compile 2: `x`: float32[3] -> float32[4]",
        "JAX999 at-the-jit: it [costs]",
        "JAX999 sync",
        "1 was refused or had nothing to change; --verbose says why.",
    ):
        assert part in text
    assert "remat" not in text
    for part in ("donation (verified): memory halves", "bf16 (rejected): slower", "remat (not-applicable)"):
        assert part in text_of(document, verbose=True)
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_what_gains_most_comes_first_and_the_rejected_last(document: Document) -> None:
    worse = {"speedup": Interval(0.5, 0.4, 0.6), "after": Cost(time_ms=Interval(20.0, 19.0, 21.0), time_kind="measured", peak_bytes=2 * 2**20)}  # fmt: skip
    better = {"speedup": Interval(4.0, 3.9, 4.1), "after": Cost(time_ms=Interval(2.5, 2.4, 2.6), time_kind="measured", peak_bytes=2**20)}  # fmt: skip
    apart = {"numerics": Numerics(0.3, 0.3, 1.0, 1e-5, False)}
    document.results = [
        ("cpu", result(candidate="slow", status=Status.REJECTED, **worse)),
        ("cpu", result(candidate="small")),
        ("cpu", result(candidate="apart", status=Status.REJECTED, **apart)),
        ("cpu", result(candidate="fast", **better)),
        ("cpu", result(candidate="broken", status=Status.FAILED)),
    ]
    lines = candidate_lines(document)
    assert [(line.candidate, line.outcome) for line in lines] == [
        ("fast", "advice"),
        ("small", "advice"),
        ("slow", "slower"),
        ("apart", "other values"),
        ("broken", "failed"),
    ]
    assert first_lines(document)[1] == "step: 4.00x as fast, 50% less memory with fast."


def test_only_a_claimed_figure_is_green(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "400")
    document.results = [("cpu", result(speedup=Interval(1.25, 0.9, 1.8)))]

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    print_report(document, stream)
    (line,) = (line for line in stream.getvalue().splitlines() if "not clear" in line)
    green = "\x1b[32m"
    assert f"{green}not clear" not in line
    assert f"{green}2 -> 1 MiB" in line


def test_a_gain_is_told_with_what_it_is_a_share_of(document: Document) -> None:
    (step,) = document.functions
    document.functions.append({**step, "function": "rare", "line": 50, "seconds": 0.05})
    big = {"speedup": Interval(2.0, 1.9, 2.1), "after": Cost(time_ms=Interval(5.0, 4.9, 5.1), time_kind="measured", peak_bytes=2**20)}  # fmt: skip
    document.results = [
        ("cpu", result(path=step["path"])),
        ("cpu", result(path=step["path"], line=50, function="rare", **big)),
    ]
    assert first_lines(document)[1] == (
        "step (80% of the time in jitted functions): 1.25x as fast, 50% less memory with donation; "
        "rare (20% of the time in jitted functions): 2.00x as fast, 50% less memory with donation."
    )


def test_where_the_whole_program_was_measured_that_is_said(document: Document) -> None:
    ratios = {"memory": Interval(1.01, 0.99, 1.03), "total": Interval(1.4, 1.3, 1.5)}
    whole = {"ratios": ratios, "pairs": 5, "speedup": Interval(2.0, 1.9, 2.2)}
    document.results.append(("cpu", result(candidate="source:fix:jit", function="main", line=15, **whole)))
    assert (
        first_lines(document)[1] == "The whole program: 1.40x as fast (2.00x without compile time) with jit."
    )


def test_a_whole_program_that_is_no_faster_is_told_without_compile_time_alone(document: Document) -> None:
    ratios = {"memory": Interval(1.01, 0.99, 1.03), "total": Interval(1.0, 0.9, 1.1)}
    whole = {"ratios": ratios, "pairs": 5, "speedup": Interval(2.0, 1.9, 2.2)}
    document.results.append(("cpu", result(candidate="source:fix:jit", function="main", line=15, **whole)))
    assert first_lines(document)[1] == "The whole program: 2.00x as fast without compile time with jit."


@pytest.mark.parametrize(
    ("candidate", "name"),
    [
        ("bf16", "bf16"),
        ("donation + remat:dots_saveable", "donation + remat (dots_saveable)"),
        ("kernels:jaxlint_flash", "attention by jaxlint_flash"),
        ("cross_entropy:chunked", "cross entropy by chunked"),
        ("fusions:gated_linear_unit:recomputed", "gated linear unit recomputed"),
        ("microbatch:4", "4 microbatches"),
        ("source", "edits of the source"),
        ("source:together", "all edits"),
        ("source:fix:host-sync-in-loop", "host-sync-in-loop"),
        ("source:jit:jax.jit, k static", "jit (k static)"),
        ("source:jit-call:model.init", "jit of model.init"),
        ("source:loops:for-to-scan + add-jit:jax.jit, n static", "loop as scan, jit (n static)"),
        ("source:loop-to-steps:steps static", "one scan of all steps"),
        ("source:region-to-jit:eqx.filter_jit", "jit of statements"),
    ],
)
def test_a_candidate_is_named_by_what_it_does(candidate: str, name: str) -> None:
    assert label(candidate) == name


def test_where_nothing_was_tried_there_is_no_count(document: Document) -> None:
    document.results = [("cpu", result(status=Status.NOT_APPLICABLE))]
    assert first_lines(document)[0] == "No candidate was tried."


def test_after_apply_the_first_lines_say_what_was_written(document: Document) -> None:
    document.diffs = [{**result(), "diff": "--- a", "note": ""}]
    document.applied = [{**result(), "kept": True, "message": "measured again"}]
    assert first_lines(document)[2] == "Next: review train.py, where donation of step is written."
    text = text_of(document)
    assert "written: donation of step (train.py:5)\n" in text
    assert "measured again" not in text


def test_what_an_earlier_run_measured_is_marked(document: Document) -> None:
    assert "earlier" not in text_of(document)
    document.results = [("cpu", result(earlier="2026-11-27 10:00"))]
    assert first_lines(document)[0] == "1 of 1 candidate proven, 1 by an earlier run."
    text = " ".join(text_of(document).split())
    assert "10 -> 8 ms (earlier)" in text
    assert "'earlier' is a time of an earlier run on this machine (--no-cache measures again)" in text
    assert document.as_json()["runs"][0]["results"][0]["earlier"] == "2026-11-27 10:00"


def test_what_only_a_compiler_says_is_written_on_request(document: Document) -> None:
    document.results = [("tpu:v5e-1x1", result(status=Status.COMPILED))]
    document.diffs = [{**result(), "diff": "--- a", "note": ""}]
    (line,) = candidate_lines(document)
    assert line.outcome == "--accept-compiled writes it"
    assert "--apply --accept-compiled to write" in first_lines(document)[2]


def test_no_internal_name_is_shown(document: Document) -> None:
    document.results = [("cpu", result(function="chain.<locals>.init_fn"))]
    document.functions[0]["function"] = "main.<locals>.<lambda>"
    text = text_of(document)
    assert "<locals>" not in text
    assert "init_fn" in text


def test_advice_is_shown_as_code_to_write_by_hand(document: Document) -> None:
    document.results = [("cpu", result(candidate="microbatch:2", parameters={"code": "parts = split(x)"}, codemod=None))]  # fmt: skip
    text = text_of(document)
    assert "2 microbatches of step, by hand  train.py:5\n  parts = split(x)\n" in text
    assert first_lines(document)[2] == "Next: write the proven changes by hand, as shown below."


def test_advice_without_code_says_what_to_write(document: Document) -> None:
    reason = (
        "jax.checkpoint with policy nothing_saveable around the differentiated function: memory 4 to 2 MiB"
    )
    document.results = [("cpu", result(candidate="remat:nothing_saveable", reason=reason, codemod=None))]
    text = text_of(document)
    assert "of step, by hand  train.py:5\n  jax.checkpoint with policy nothing_saveable" in text


def test_functions_that_are_called_once_take_no_room(document: Document) -> None:
    (step,) = document.functions
    for number, calls in enumerate([1, 1, 1, 1, 1, 3]):
        name, line = f"{'init' if calls == 1 else 'evaluate'}_{number}", 100 + number
        seconds = 1.0 if number == 3 else 0.0
        document.functions.append({**step, "function": name, "line": line, "calls": calls, "seconds": seconds, "compiles": [], "findings": []})  # fmt: skip
        for candidate in ("donation", "remat"):
            changes: dict[str, Any] = dict.fromkeys(("before", "after", "speedup", "numerics"))
            entry = result(function=name, path=step["path"], line=line, candidate=candidate, status=Status.NOT_APPLICABLE, **changes)  # fmt: skip
            document.results.append(("cpu", entry))
    short, whole = text_of(document), text_of(document, verbose=True)
    assert "init_3" in short  # it takes a second
    assert "and 4 more that were called once; --verbose shows all" in short
    assert "init_1" not in short
    assert "donation (not-applicable)" not in short
    assert "13 were refused or had nothing to change; --verbose says why." in short
    assert whole.count("donation (not-applicable)") == 6
    assert "called once" not in whole
    document.functions[:] = document.functions[1:4]
    assert "init_0" in text_of(document)  # where nothing else is, they are shown


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_column_vanishes_in_a_narrow_terminal(document: Document, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, color_system=None, record=True)
    for part in render(document):
        console.print(part)
    text = console.export_text()
    for part in ("step", "donation", "bf16", "advice", "1.25x"):
        assert part in text


def test_records_become_plain_json() -> None:
    assert to_plain(
        {"a": math.nan, "b": np.float32(0.5), 3: (Status.FAILED, Path("x")), "c": np.int64(2)}
    ) == {
        "a": None,
        "b": 0.5,
        "3": ["failed", "x"],
        "c": 2,
    }


def test_a_job_of_another_version_is_refused() -> None:
    job = Assignment(Capture(Launch("script", "a.py", (), ("/",))))
    assert Assignment.from_json(encode(job).decode()) == job
    with pytest.raises(ValueError, match="this version"):
        Assignment.from_json('{"job": {"is": "capture", "unheard_of": 1}}')
    with pytest.raises(ValueError, match="this version"):
        Assignment.from_json('{"job": {"is": "unheard-of"}}')


def test_notes_stand_on_lines_of_their_own() -> None:
    stream = io.StringIO()
    with Live(stream) as live:
        live.output("stdout", b"no newline")
        live.note("a note")
        live.output("stdout", b"\xff bytes\n")
        live.progress("too soon to be said")
    assert stream.getvalue() == "no newline\njaxlint: a note\n\N{REPLACEMENT CHARACTER} bytes\n"


def test_a_quiet_run_hides_the_program() -> None:
    stream = io.StringIO()
    with Live(stream, quiet=True) as live:
        live.output("stdout", b"secret\n")
    assert stream.getvalue() == ""


def test_large_constants_are_shown_with_the_function_that_captures_them(tmp_path: Path) -> None:
    event = captured_event(tmp_path)
    made = Document({"kind": "script", "target": "train.py", "arguments": []}, ["cpu"])
    made.captured(from_plain(Captured, event))
    constant = {"shape": [512, 1024], "dtype": "float32", "nbytes": 2**21}
    made.learned(Constants(event["functions"][0]["path"], 5, [constant]))
    made.add_findings([])
    stream = io.StringIO()
    print_report(made, stream)
    assert "captures float32[512,1024] as a constant, 2 MiB" in stream.getvalue()
    assert made.as_json()["runs"][0]["functions"][0]["constants"] == [constant]


def test_an_argument_that_grows_is_told_with_what_its_compiles_cost(tmp_path: Path) -> None:
    event = captured_event(tmp_path)
    event["functions"][0]["growing"] = [
        {"place": "cache['k']", "axis": 1, "first": 3, "last": 9, "compiles": 2}
    ]
    document = Document({"kind": "script", "target": "train.py", "arguments": []}, [])
    document.captured(from_plain(Captured, event))
    document.add_findings([])
    stream = io.StringIO()
    print_report(document, stream)
    text = " ".join(stream.getvalue().split())
    assert "`cache['k']` (axis 1) grows from 3 to 9: 2 compiles, 0.80 s" in text
    assert "one compile, about 0.40 s" in text


@pytest.mark.parametrize(
    ("padding", "said"),
    [
        ({"refused": "a result has the axis"}, "would change the results: a result has the axis"),
        ({"arrays": [], "masks": []}, "need one compile; the added rows reach no result"),
        ({"arrays": [], "masks": [{}]}, "with a mask for reductions"),
    ],
)
def test_arguments_of_other_lengths_are_told(tmp_path: Path, padding: dict[str, Any], said: str) -> None:
    event = captured_event(tmp_path)
    event["functions"][0]["padding"] = {"places": ["graph['nodes']", "graph['edges']"], **padding}
    document = Document({"kind": "script", "target": "train.py", "arguments": []}, [])
    document.captured(from_plain(Captured, event))
    document.add_findings([])
    stream = io.StringIO()
    print_report(document, stream)
    text = " ".join(stream.getvalue().split())
    assert "`graph['nodes']` and `graph['edges']`: " in text
    assert said in text


HOSTILE = "\x1b[2J\x1b]0;owned\x07[red]:bomb:\u202e\napplied: all of it"


def with_hostile_texts(value: Any, key: object = None) -> Any:
    """Each text that a program has a say in, with what would steer a terminal, be markup, and begin a line."""
    if isinstance(value, str):
        meant = key in ("status", "codemod", "category", "severity", "how", "kind", "diff", "time_kind")
        return value if meant else value + HOSTILE
    if isinstance(value, dict):
        return {name: with_hostile_texts(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(with_hostile_texts(item, key) for item in value)
    return value


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("terminal", [False, True])
def test_no_text_of_a_program_steers_a_terminal_or_is_markup(
    document: Document, terminal: bool, verbose: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "400")
    document.applied = [{**result(), "kept": True, "message": "written as tried"}]
    document.errors = ["the program was killed"]
    for field in dataclasses.fields(document):
        if field.name not in ("results", "targets", "versions"):
            setattr(document, field.name, with_hostile_texts(getattr(document, field.name)))
    document.results = [(target, with_hostile_texts(one)) for target, one in document.results]

    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    stream = Stream()
    print_report(document, stream, verbose)
    text = stream.getvalue()
    without_colours = re.sub(r"\x1b\[[\d;]*m", "", text) if terminal else text
    assert (without_colours != text) is terminal
    assert all(escaped(line) == line for line in without_colours.split("\n"))
    assert without_colours.count(r"\x1b[2J") > 10  # names and messages are there, as text
    assert without_colours.count("[red]:bomb:") > 10
    assert not any(line.startswith("applied: all") for line in without_colours.splitlines())


def test_notes_of_a_run_steer_no_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with Live(stream) as live:
        live.note(f"trying {HOSTILE}")
        live.progress(f"trying {HOSTILE}")
    own = stream.getvalue().replace("\r\x1b[K", "")
    assert own.count("\n") == 1
    assert "\x1b" not in own
    assert own.count(r"\x1b[2J") == 2


@pytest.mark.parametrize(("time", "peak", "said"), [(4.0, 3, True), (8.0, 3, False), (4.0, 2, False)])
def test_memory_is_named_where_it_alone_speaks_against_a_candidate(
    document: Document, time: float, peak: int, said: bool
) -> None:
    after = Cost(
        time_ms=Interval(time, time - 0.1, time + 0.1), time_kind="measured", peak_bytes=peak * 2**20
    )
    rejected = result(status=Status.REJECTED, reason="no gain; the --budget was spent", after=after)
    document.results = [("cpu", rejected)]
    line = first_lines(document)[-1]
    if said:
        assert line == (
            "Next: decide whether memory matters: donation of step is 2.5 times as fast in one run and needs 2 -> 3 MiB; "
            "--verbose shows what it changes."
        )
    else:
        assert line == "Next: give it more time, with --budget TIME."
