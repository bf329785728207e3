"""What the first lines say of time beside the jitted functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxlint.source.read import read_source
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.first_lines import first_lines
from jaxlint_runtime.report.time_outside import time_outside
from jaxlint_runtime.source_analysis.calling_loops import calling_loops


def document(*, seconds: float = 10.0, eager: dict[str, Any] | None = None, **function: Any) -> Document:
    found = Document({}, ["cpu"], seconds=seconds, eager=eager or {})
    known = {
        "function": "main.<locals>.step",
        "calls": 500,
        "call_ms": 0.1,
        "period_ms": 1.0,
        "rebound": True,
    }
    found.functions = [{**known, **function}]  # type: ignore[list-item]
    found.loops = {"step": ("/nowhere/train.py", 12)}
    return found


def test_time_between_calls_is_told_with_the_loop() -> None:
    (line,) = time_outside(document())
    assert line == (
        "step: 900 µs of every 1 ms pass between its calls, in the loop at /nowhere/train.py:12: "
        "compute that in step, or in another jitted function."
    )
    assert first_lines(document()) == [line]


def test_little_time_between_calls_is_not_told() -> None:
    assert not time_outside(document(period_ms=4.5, call_ms=4.0))
    assert not time_outside(document(seconds=1000.0))
    assert not time_outside(document(calls=19))


def test_short_steps_may_run_in_one_scan() -> None:
    (line,) = time_outside(document(calls=3000, call_ms=0.15, period_ms=0.14))
    assert line == (
        "step takes 150 µs a call, so its dispatch counts: run several steps in one jax.lax.scan, "
        "in the loop at /nowhere/train.py:12."
    )
    assert not time_outside(document(calls=3000, call_ms=0.15, period_ms=0.14, rebound=None))


def test_operations_that_are_compiled_one_by_one() -> None:
    place = {"path": "/nowhere/train.py", "function": "init_params"}
    calls = [{**place, "line": n, "seconds": n / 10} for n in (3, 7)]
    eager = {"compiles": 55, "seconds": 6.3, "calls": calls}
    lines = time_outside(document(eager=eager))
    assert lines[0] == (
        "6.3 s went into compiling 55 operations one by one, most of them at /nowhere/train.py:7: "
        "put what that line calls under jax.jit."
    )
    assert len(lines) == 2
    assert not time_outside(document(seconds=100.0, eager=eager))
    assert time_outside(document(eager={**eager, "calls": []}))[0].endswith(
        "one by one: put the code that runs them under jax.jit."
    )


def test_the_innermost_loop_that_calls_a_function(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "for epoch in range(9):\n    for batch in batches:\n        state = step(state)\n    log(state)\n"
    )
    loops = calling_loops([read_source(path, str(path))])
    assert loops["step"] == (str(path.resolve()), 2)
    assert loops["log"] == (str(path.resolve()), 1)
