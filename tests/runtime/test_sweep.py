"""`--sizes`: which runs it makes, and what it says of how gains grow."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from jaxlint_runtime.report.html.page import page
from jaxlint_runtime.report.sizes_table import cells, headings
from jaxlint_runtime.report.terminal import print_report
from jaxlint_runtime.request import CannotRun, Request
from jaxlint_runtime.run import Listener
from jaxlint_runtime.sweep import break_even, check_sweep, points, request_at, sweep


def test_every_combination_is_a_point_and_too_many_are_refused() -> None:
    assert points({"batch": (1, 2), "length": (8, 16)})[1] == {"batch": 1, "length": 16}
    with pytest.raises(CannotRun, match="20 combinations"):
        points({"batch": tuple(range(5)), "length": tuple(range(4))})


def test_a_size_is_a_dimension_or_an_argument_of_the_program() -> None:
    sizes = {"batch": (16, 64)}
    plain = Request(kind="script", target="train.py", dims={"length": 8})
    assert request_at(plain, {"batch": 64}, sizes).dims == {"length": 8, "batch": 64}
    given = Request(kind="script", target="train.py", arguments=("--batch={batch}", "-q"))
    found = request_at(given, {"batch": 64}, sizes)
    assert found.arguments == ("--batch=64", "-q")
    assert found.runs
    assert found.transforms is not None
    assert "source" not in found.transforms


def test_what_a_sweep_cannot_do_is_said_first(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("")
    given = Request(kind="script", target=str(program), arguments=("--batch={batch}",))
    with pytest.raises(CannotRun, match=r"have no \{length\}"):
        check_sweep(given, {"batch": (1, 2), "length": (3,)})
    source = Request(kind="script", target=str(program), transforms=("source",))
    with pytest.raises(CannotRun, match="leave out --transform source"):
        check_sweep(source, {"batch": (1, 2)})


def result(before_ms: float, after_ms: float, compile_s: tuple[float, float], low: float) -> dict[str, Any]:
    def cost(milliseconds: float, seconds: float) -> dict[str, Any]:
        return {"time_ms": {"median": milliseconds}, "compile_s": seconds, "peak_bytes": 2**20}

    return {
        "status": "verified",
        "speedup": {"median": before_ms / after_ms, "low": low, "high": 9.0},
        "before": cost(before_ms, compile_s[0]),
        "after": cost(after_ms, compile_s[1]),
    }


def test_the_calls_after_which_a_longer_compile_is_won_back() -> None:
    assert break_even(result(10.0, 6.0, (1.0, 1.5), 1.4)) == 125  # 0.5 s at 4 ms a call
    assert break_even(result(10.0, 6.0, (1.0, 0.9), 1.4)) == 0
    assert break_even(result(10.0, 9.9, (1.0, 1.5), 0.98)) is None
    assert break_even({**result(10.0, 6.0, (1.0, 1.5), 1.4), "status": "rejected"}) is None


PROGRAM = """
import jax, jax.numpy as jnp
from jaxtyping import Array, Float

@jax.jit
def track(average: Float[Array, "rows 256"], sample: Float[Array, "rows 256"]):
    return average + 0.1 * (sample - average), sample.mean()

@jax.jit
def total(x: Float[Array, "rows"]):
    return x.sum()
"""


def test_a_sweep_from_its_runs_to_the_report(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    request = Request(kind="script", target=str(program), transforms=("donation",), seconds=0.2)
    document = sweep(request, Listener(), {"rows": (256, 1024)}).document
    assert document.errors == []
    rows = [row for row in document.as_json()["sizes"] if row["candidate"] == "donation"]
    assert [row["dims"] for row in rows] == [{"rows": 256}, {"rows": 1024}]
    assert [row["function"] for row in rows] == ["track", "track"]
    saved = [row["before"]["peak_bytes"] - row["after"]["peak_bytes"] for row in rows]
    assert saved[1] == pytest.approx(4 * saved[0], rel=0.1)
    assert saved[0] == pytest.approx(256 * 256 * 4, rel=0.1)

    assert headings(document.sizes)[:3] == ["function", "version", "rows"]
    texts = cells(document.sizes)
    assert [row[:3] for row in texts if row[0] == "track"] == [
        ["track", "donation", "256"],
        ["track", "donation", "1024"],
    ]
    assert [row[1] for row in texts if row[0] == "total"] == ["as written", "as written"]
    stream = io.StringIO()
    print_report(document, stream)
    assert "By size" in stream.getvalue()
    assert "Versions of functions by size" in page(document.as_json())
