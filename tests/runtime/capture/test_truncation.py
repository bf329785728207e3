"""Where runs of a long program are cut off, and that its versions are at the same place."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jaxlint.source import read_source
from jaxlint_runtime.capture.truncation import LINES, Cut
from jaxlint_runtime.request import Request
from jaxlint_runtime.rewrites.trial_runs import Trials
from jaxlint_runtime.run import Run


def called(name: str, calls: int) -> Any:
    return SimpleNamespace(path="p.py", qualname=name, calls=calls)


def test_the_place_is_the_end_of_a_call_that_repeats_and_lies_in_no_other_such() -> None:
    reasons: list[str] = []
    cut = Cut(reasons.append, after=0.0)
    main, step = called("main", 1), called("step", 4)
    cut.ended(called("setup", 1), [main])
    cut.ended(called("loss", 9), [main, step])
    assert reasons == []
    cut.ended(step, [main])
    assert reasons == ["after call 4 of step"]
    assert cut.at == ("p.py", "step", 4)


def test_it_is_not_cut_off_before_its_time() -> None:
    cut = Cut(pytest.fail, after=1e6)  # type: ignore[arg-type]
    cut.ended(called("step", 9), [])
    assert cut.at is None


def test_another_version_is_cut_off_at_the_same_call_whoever_makes_it() -> None:
    reasons: list[str] = []
    cut = Cut(reasons.append, place=("p.py", "step", 4))
    cut.ended(called("step", 3), [])
    cut.ended(called("other", 4), [])
    assert reasons == []
    cut.ended(called("step", 4), [called("epoch", 2)])
    assert reasons == ["after call 4 of step"]


def test_the_end_of_a_printed_line_is_such_a_place_and_comes_first() -> None:
    reasons: list[str] = []
    stream = io.TextIOWrapper(io.BytesIO())
    cut = Cut(reasons.append, after=0.0)
    cut.watch(stream)
    print("half a line", end="", file=stream)
    assert reasons == []
    print(file=stream)
    assert (reasons, cut.at) == (["after printed line 1"], ("", LINES, 1))


def test_the_end_of_a_call_will_do_if_no_line_comes_for_long() -> None:
    reasons: list[str] = []
    cut = Cut(reasons.append, after=10.0)
    cut._start -= 20.0  # in which nothing was printed
    cut.ended(called("step", 9), [])
    assert reasons == []
    cut._start -= 10.0
    cut.ended(called("step", 10), [])
    assert reasons == ["after call 10 of step"]


def test_another_version_is_cut_off_at_the_same_line() -> None:
    reasons: list[str] = []
    stream = io.TextIOWrapper(io.BytesIO())
    cut = Cut(reasons.append, place=("", LINES, 3))
    cut.watch(stream)
    print("one\ntwo", file=stream)
    cut.ended(called("step", 9), [])
    assert reasons == []
    print("three", file=stream)
    assert reasons == ["after printed line 3"]


ENDLESS = """
import itertools, sys

def note(i, x):
    print(i, x, file=sys.stderr)

def step(x):
    return 0.5 * x + 1.0

def main():
    x = 0.0
    for i in itertools.count():
        x = step(x)
        note(i, x)

main()
"""


def test_versions_of_a_program_without_end_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    path = tmp_path.resolve() / "program.py"
    path.write_text(ENDLESS)
    sources = {str(path): read_source(path, str(path))}
    records = tmp_path.resolve().parent / f"{tmp_path.name}-records"
    records.mkdir()
    trials = Trials(Run(Request("script", "program.py")), [(str(path), "step")], [], records)
    base, folder = trials.run(sources, 120.0, cut_after=0.0)
    assert base.failure is None
    assert base.cut == (str(path), "step", 3)
    trials.cut = base.cut

    def edited(old: str, new: str) -> Any:
        path.write_text(ENDLESS.replace(old, new))
        changed = {str(path): read_source(path, str(path))}
        return trials.run(changed, 120.0, [folder])[0]

    same = edited("0.5 * x + 1.0", "1.0 + x / 2")
    assert (same.failure, same.printed) == (None, base.printed)
    assert same.compared is not None
    assert (same.compared.calls, same.compared.problem) == (3, None)
    wrong = edited("0.5 * x", "0.6 * x")
    assert "call 2 of step" in wrong.compared.problem or "call 3 of step" in wrong.compared.problem
    short = edited("itertools.count()", "range(2)")
    assert "it never reached call 3 of step" in str(short.failure)
