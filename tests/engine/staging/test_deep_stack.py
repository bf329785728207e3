"""The analysis runs deep, and back and forth, without asking the system for memory again and again."""

from __future__ import annotations

import resource
import threading

import pytest

from jaxlint.staging.evaluator.deep_stack import with_deep_stack


def _depth(n: int) -> int:
    return 1 + _depth(n - 1) if n else 0


def test_calls_nest_deeper_than_the_default_limit() -> None:
    found: list[int] = []
    with_deep_stack(lambda: found.append(_depth(20_000)))
    assert found == [20_000]


def test_an_error_reaches_the_caller() -> None:
    def fails() -> None:
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        with_deep_stack(fails)


def test_frames_that_come_and_go_take_no_new_memory() -> None:
    faults: list[int] = []

    def back_and_forth() -> None:
        _depth(400)  # the memory that this needs is taken once
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for depth in range(400):  # whatever the size of a frame, some of these end at the end of a chunk
            for _ in range(20):
                _depth(depth)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

    with_deep_stack(back_and_forth)
    assert faults[0] < 100


def test_where_there_are_no_threads_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuses)
    monkeypatch.setattr("sys.platform", "emscripten")
    told: list[str] = []
    with_deep_stack(lambda: told.append(threading.current_thread().name), lambda: told.append("meanwhile"))
    assert told == [threading.current_thread().name, "meanwhile"]
