"""The Pareto front: what another version beats in everything is not offered."""

from __future__ import annotations

from typing import Any

import pytest

from jaxlint_runtime.proof.gain import Tally, tally
from jaxlint_runtime.report.pareto_front import front


def cost(time: float | None, peak: float, compile_s: float = 1.0, kind: str = "measured") -> dict[str, Any]:
    median = None if time is None else {"median": time}
    return {"time_ms": median, "time_kind": kind, "peak_bytes": peak, "compile_s": compile_s}


def result(candidate: str, after: dict[str, Any], status: str = "verified") -> dict[str, Any]:
    return {"candidate": candidate, "status": status, "before": cost(10.0, 100.0), "after": after}


@pytest.mark.parametrize(
    ("results", "names"),
    [
        ([], []),
        ([result("better", cost(5.0, 50.0))], ["better"]),
        ([result("trade", cost(12.0, 50.0))], ["as written", "trade"]),
        ([result("trade", cost(12.0, 50.0)), result("worse", cost(13.0, 60.0))], ["as written", "trade"]),
        (
            [result("noise", cost(9.9, 99.0)), result("less", cost(12.0, 20.0))],
            ["noise", "as written", "less"],
        ),
        ([result("slow to compile", cost(5.0, 50.0, 9.0))], ["slow to compile", "as written"]),
        ([result("lost", cost(1.0, 1.0), "rejected")], []),
        ([result("unmeasured", cost(None, 50.0), "compiled")], ["unmeasured"]),
        ([result("a bound alone", cost(1.0, 50.0, kind="roofline"))], ["as written", "a bound alone"]),
    ],
)
def test_only_what_nothing_beats_is_left(results: list[dict[str, Any]], names: list[str]) -> None:
    assert [one.name for one in front(results)] == names


def test_what_can_be_written_is_on_the_front_whatever_advice_is_smaller() -> None:
    found = [
        result("donation", cost(9.9, 60.0)),
        {**result("kernels:fused", cost(5.0, 30.0)), "base": "donation"},
        result("donation + kernels:fused + remat", cost(4.9, 20.0)),
        {**result("remat", cost(9.9, 90.0)), "base": ""},
    ]
    assert [one.name for one in front(found)] == ["donation + kernels:fused + remat"]
    points = front(found, {"donation", "remat"})
    assert [(one.name, one.written) for one in points] == [
        ("donation + kernels:fused + remat", False),
        ("donation", True),  # and not `remat`, which it beats
    ]


def test_what_ran_and_what_a_compiler_says_are_counted_apart() -> None:
    found = [
        result("original", cost(10.0, 100.0)),
        result("ran", cost(5.0, 50.0)),
        *(result(name, cost(None, 50.0), "compiled") for name in ("one", "two")),
        result("lost", cost(20.0, 50.0), "rejected"),
        result("nothing to do", cost(20.0, 50.0), "not-applicable"),
        result("all", cost(20.0, 50.0), "failed"),  # the process was gone before anything was tried
    ]
    assert tally(found) == Tally(verified=1, compiled=2, tried=4)
