"""What `--save` keeps and what `--compare` finds worse."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.first_lines import first_lines
from jaxlint_runtime.report.stored_costs import (
    BadBaseline,
    as_baseline,
    captured_calls,
    compare,
    read_baseline,
    regressions,
)


def document(**function: Any) -> Document:
    made = Document({"kind": "script", "target": "train.py", "arguments": []}, ["cpu"], device="cpu: x86")
    entry = {"function": "step", "path": "train.py", "line": 3, "compiles": [{}], "calls": 20, "call_ms": 2.0}
    made.functions = [{**entry, "call_ms_low": 1.9, "call_ms_high": 2.1, **function}]
    after = {"peak_bytes": 2**24, "flops": 1e9}
    made.results = [
        ("cpu", {"function": "step", "path": "train.py", "candidate": "original", "after": after})
    ]
    made.syncs = [{"per_step": 1.0}]
    return made


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(as_baseline(document())))
    return read_baseline(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "Nothing costs more than in costs.json: 1 function compared."),
        ({"compiles": [{}, {}]}, "1 figure is worse than in costs.json: 1 function compared."),
        ({"function": "other"}, "Nothing was compared: costs.json has none of the functions of this run."),
    ],
)
def test_the_report_begins_with_the_answer(stored: dict[str, Any], change: dict[str, Any], told: str) -> None:
    now = document(**change)
    now.results = []
    compare(now, stored, "costs.json")
    assert first_lines(now)[0] == told


def test_the_same_program_is_no_worse(stored: dict[str, Any]) -> None:
    assert list(regressions(stored, as_baseline(document()))) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda now: now["functions"]["train.py::step"].update(compiles=3), "1 to 3 compiles"),
        (
            lambda now: now["functions"]["train.py::step"].update(call_ms=[3.0, 3.2, 3.4]),
            "2 to 3.2 ms a call",
        ),
        (
            lambda now: now["costs"]["cpu"]["train.py::step"].update(peak_bytes=2**25),
            "16.00 to 32.00 MiB on cpu",
        ),
        (lambda now: now["costs"]["cpu"]["train.py::step"].update(flops=1.5e9), "1e+09 to 1.5e+09 FLOPs"),
        (lambda now: now.update(syncs_per_step=2.0), "2 host syncs a step instead of 1"),
    ],
)
def test_each_figure_that_is_worse_is_told(stored: dict[str, Any], change: Any, told: str) -> None:
    now = copy.deepcopy(as_baseline(document()))
    change(now)
    (line,) = regressions(stored, now)
    assert told in line


def test_noise_another_device_and_unknown_functions_are_no_regression(stored: dict[str, Any]) -> None:
    assert (
        list(regressions(stored, as_baseline(document(call_ms=2.3, call_ms_low=2.2, call_ms_high=2.6)))) == []
    )
    slow = as_baseline(document(call_ms=9.0, call_ms_low=9.0, call_ms_high=9.0))
    assert len(list(regressions(stored, slow))) == 1
    assert list(regressions(stored, {**slow, "device": "gpu: H100"})) == []
    assert list(regressions(stored, as_baseline(document(function="other", call_ms=9.0)))) == []


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((22, 22), (24, 24), []),  # each call compiles, and the second run stopped two calls later
        ((22, 22), (24, 22), ["22 to 24 compiles"]),
        ((1, 200), (1, 20), []),
        ((1, 20), (3, 40), ["1 to 3 compiles"]),
        ((1, None), (2, 400), ["1 to 2 compiles"]),  # a baseline of an older version does not know the calls
    ],
)
def test_compiles_count_by_the_calls_of_the_run(
    before: tuple[int, int | None], after: tuple[int, int], told: list[str]
) -> None:
    first, now = as_baseline(document()), as_baseline(document())
    first["functions"]["train.py::step"].update(compiles=before[0], calls=before[1])
    now["functions"]["train.py::step"].update(compiles=after[0], calls=after[1])
    if before[1] is None:
        del first["functions"]["train.py::step"]["calls"]
    assert [line.partition(": ")[2] for line in regressions(first, now)] == told


def test_a_comparison_captures_the_calls_of_the_baseline() -> None:
    """A function that gets another shape in each call costs something else in each of them."""
    kept = as_baseline(document(captured_call=32))
    assert captured_calls(kept) == ((os.path.abspath("train.py"), "step", 32),)
    assert captured_calls(as_baseline(document(captured_call=None))) == ()
    del kept["functions"]["train.py::step"]["captured_call"]  # as older versions wrote it
    assert captured_calls(kept) == ()


@pytest.mark.parametrize(
    ("text", "problem"), [("{", "is not a baseline"), ('{"schema_version": 0}', "another version")]
)
def test_a_file_that_is_no_baseline_is_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "baseline.json"
    with pytest.raises(BadBaseline, match="cannot be read"):
        read_baseline(path)
    path.write_text(text)
    with pytest.raises(BadBaseline, match=problem):
        read_baseline(path)
