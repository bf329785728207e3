"""The benchmark of costs: its cases name rules, its figures are of the runs, and the pairs compute the same."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from benchmarks import costs
from jaxlint.registry import find_rule

SAME = ("python-loop-over-batch", "broadcast-for-vmap", "one-hot-matmul", "array-iteration", "grad-of-jit")


def test_cases_are_of_rules_and_each_rule_has_one() -> None:
    names = [one.rule for one in costs.CASES]
    assert len(set(names)) == len(names)
    assert all(find_rule(name).severity != "error" for name in names)


@pytest.mark.parametrize("one", [one for one in costs.CASES if one.rule in SAME], ids=lambda one: one.rule)
def test_both_programs_compute_the_same(one: costs.Case) -> None:
    bad, good = (jax.tree.leaves(program()) for program in one.make())
    for left, right in zip(bad, good, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


def test_ratios_are_taken_turn_by_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1.0, 1.0] * costs.WARM_UPS + [2.0, 1.0, 40.0, 10.0, 3.0, 1.0])
    monkeypatch.setattr(costs, "seconds", lambda program: next(times))
    result = costs.measure(costs.Case("array-iteration", "", lambda: (list, list)), rounds=3)
    assert (result.bad, result.good, result.ratio) == (3.0, 1.0, 3.0)
    assert result.low <= result.ratio <= result.high


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 us"), (2e-8, "0.02 us")]
)
def test_durations_are_readable(value: float, text: str) -> None:
    assert costs.duration(value) == text
