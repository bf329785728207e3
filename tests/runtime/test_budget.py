"""--budget: how long all of a run may take, and what it leaves for each part."""

from __future__ import annotations

import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from jaxlint.cli.parameter_types import Duration
from jaxlint.source.read import read_source
from jaxlint_runtime import verify
from jaxlint_runtime.request import Request
from jaxlint_runtime.rewrites.candidate_edits import _called_in_loops
from jaxlint_runtime.rewrites.original_program import Original
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.trial_runs import Trial
from jaxlint_runtime.run import Run
from jaxlint_runtime.workers.capturing import Capturing
from jaxlint_runtime.workers.following import Deadline


@pytest.mark.parametrize(("text", "seconds"), [("90", 90.0), ("90s", 90.0), ("2m", 120.0), ("1.5 h", 5400.0)])
def test_times_as_people_write_them(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "0", "fast", "2 days", "-1"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a time"):
        Duration().convert(text, None, None)


def test_without_a_budget_nothing_is_cut() -> None:
    request = Request("script", "train.py")
    assert request.within(60.0) == 60.0
    assert request.within(math.inf) == math.inf
    assert not request.is_over
    assert request.capture().until.run_for == 60.0
    assert request.capture().until.whole is None


def test_what_is_left_bounds_every_part() -> None:
    request = Request("script", "train.py", ends=time.monotonic() + 30.0)
    assert 29.0 < request.within(60.0) <= 30.0
    assert request.within(5.0) == 5.0
    until = request.capture().until
    assert 9.0 < (until.run_for or 0.0) <= 10.0
    assert 9.0 < (until.whole or 0.0) <= 10.0  # also of a program with nothing to capture
    assert Request("script", "train.py", ends=time.monotonic() - 1.0).is_over


def test_an_edit_is_tried_where_its_run_and_a_pair_of_timed_ones_fit() -> None:
    request = Request("script", "train.py", ends=time.monotonic() + 30.0)
    original = Original(Run(request), None, {}, math.inf, wall_s=10.0)  # type: ignore[arg-type]
    original.base = Trial(run_s=8.0, compile_s=2.0)
    assert original.has_time_to_prove()
    original.ended = 1
    assert original.has_time_to_prove()
    original.wall_s = 20.0
    assert not original.has_time_to_prove()


def test_the_first_edit_is_tried_where_a_faster_program_fits() -> None:
    request = Request("script", "train.py", ends=time.monotonic() + 30.0)
    original = Original(Run(request), None, {}, math.inf, wall_s=40.0)  # type: ignore[arg-type]
    original.base = Trial(run_s=30.0, compile_s=10.0)
    assert original.has_time_to_prove()
    original.wall_s = 60.0
    assert not original.has_time_to_prove()


def test_the_original_is_not_run_where_no_edit_could_follow() -> None:
    run = Run(Request("script", "train.py", ends=time.monotonic() + 15.0), run_seconds=20.0)
    original = Original(run, None, {}, math.inf)  # type: ignore[arg-type] # it would fail if it ran anything
    assert not original.measure()
    assert original.why() == "the --budget leaves no time to run the whole program for comparison"


@pytest.mark.parametrize(
    ("options", "host", "jitted", "first"),
    [
        ({"budget": 30.0}, 8.0, 2.0, True),
        ({"budget": 30.0}, 8.0, 5.0, False),  # most of it is in the function already
        ({"budget": 30.0}, 2.0, 8.0, False),  # the candidates of the function may gain more
        ({}, 8.0, 2.0, False),  # there is time for both
        ({"source_first": True}, 2.0, 8.0, True),  # an edit may replace the function
        ({"source_first": True}, None, 8.0, False),
    ],
)
def test_what_may_gain_most_is_tried_first(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], host: float | None, jitted: float, first: bool
) -> None:
    edits = [] if host is None else [Rewrite("jit:step", None, "step", "train.py", 1, "jit it", (), host)]
    monkeypatch.setattr(verify, "propose", lambda run: edits)
    if "budget" in options:
        options = {"ends": time.monotonic() + 30.0}
    verification = verify.Verification(Request("script", "train.py", **options))
    verification.document.functions = [{"weight_seconds": jitted}, {"weight_seconds": None}]  # type: ignore[typeddict-item]
    assert verification._begins_with_source() is first


def test_the_budget_is_named_where_it_ends_a_process() -> None:
    request = Request("script", "train.py", ends=time.monotonic() + 5.0)
    assert Deadline.within(request, 2.0, "took longer than 2 s").cause == "took longer than 2 s"
    assert Deadline.within(request, 60.0, "took longer").cause == "was ended when the --budget was spent"
    assert Deadline.within(Request("script", "train.py"), 60.0, "took longer").cause == "took longer"


def test_an_original_that_came_to_nothing_is_told_with_the_budget() -> None:
    run = Run(Request("script", "train.py", ends=time.monotonic() + 50.0), run_seconds=20.0)
    original = Original(run, None, {}, math.inf)  # type: ignore[arg-type]
    original.base = Trial("it took longer than 17 s", late=True)
    assert original.why().startswith("the --budget is too short: the original reached no printed line")
    run.request = Request("script", "train.py")
    assert "give it more time with `--for`" in original.why()


@pytest.mark.parametrize(
    ("shown", "seconds", "over"), [(True, 21.0, True), (False, 21.0, False), (False, 31.0, True)]
)
def test_a_program_that_has_called_nothing_yet_may_take_half_as_much_again(
    shown: bool, seconds: float, over: bool
) -> None:
    capturing = Capturing.__new__(Capturing)
    capturing._session = SimpleNamespace(has_shown=shown)  # type: ignore[assignment]
    assert capturing._has_had(20.0, seconds) is over


def test_a_first_call_in_a_loop_that_the_budget_cut_off_counts_as_more(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("setup()\nfor batch in batches:\n    state = step(state)\n")
    sources = {str(path): read_source(path, str(path))}
    run = Run(Request("script", "train.py", ends=time.monotonic() + 5.0))
    run.document.ending = {"how": "stopped"}
    run.document.watched = [{"function": name, "calls": 1} for name in ("setup", "step")]  # type: ignore[typeddict-item]
    assert [one["calls"] for one in _called_in_loops(run, sources)] == [1, 2]
    run.document.ending = {"how": "finished"}
    assert [one["calls"] for one in _called_in_loops(run, sources)] == [1, 1]
