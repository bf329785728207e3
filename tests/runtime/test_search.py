"""What the proof says of good, useless, wrong and broken candidates, and how they are put together."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from models import run

from jaxlint_runtime import search
from jaxlint_runtime.model import Cost, Interval, Result, Status
from jaxlint_runtime.staging import Version
from jaxlint_runtime.transforms import TRANSFORMS, Candidate, Transform


def wasteful(state, x):
    """A matrix product by way of all its partial sums."""
    return state.at[:96].add(jnp.cumsum(jnp.sin(x)[:, :, None] * jnp.cos(x)[None, :, :], axis=1)[:, -1])


def lean(state, x):
    return state.at[:96].add(jnp.sin(x) @ jnp.cos(x))


def off_by_a_thousandth(state, x):
    return lean(state, 1.001 * x)


def broken(state, x):
    raise ZeroDivisionError("no such luck\nat all")


class Replace(Transform):
    """Puts another function in the place of the original."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def propose(self, program):
        return [Candidate(self.name, f"use {self.name}", "", 1.0)]

    def apply(self, program, candidate, version):
        return Version(self.function, version.options)


class Unlooked(Transform):
    name = "unlooked"

    def propose(self, program):
        raise LookupError("lost")

    def apply(self, program, candidate, version):
        return version


arguments = jnp.ones((4096, 96)), 0.01 * jnp.arange(96 * 96.0).reshape(96, 96)


@pytest.fixture
def offer(monkeypatch):
    def offer(*transforms):
        offered = {transform.name: transform for transform in (*transforms, TRANSFORMS["donation"])}
        monkeypatch.setattr(search, "TRANSFORMS", offered)
        return tuple(transform.name for transform in transforms)

    return offer


def test_a_better_version_is_verified_and_joined_with_donation(offer):
    names = offer(Replace("lean", lean))
    results = run(wasteful, *arguments, transforms=(*names, "donation"), seconds=3.0)
    assert list(results) == ["donation", "lean", "donation + lean"]
    assert {result.status for result in results.values()} == {Status.VERIFIED}
    assert "before and after both with donation" in results["lean"].evidence
    donated, alone, both = results.values()
    assert alone.before.peak_bytes == donated.after.peak_bytes
    assert both.before.peak_bytes == donated.before.peak_bytes
    assert both.after.peak_bytes == alone.after.peak_bytes < donated.after.peak_bytes
    assert "no caller uses state" in both.reason


def test_what_does_not_help_is_rejected_with_its_figures(offer):
    names = offer(Replace("same", wasteful), Replace("back", wasteful))
    for result in run(wasteful, *arguments, transforms=names, seconds=3.0).values():
        assert result.status is Status.REJECTED
        assert result.before.peak_bytes == result.after.peak_bytes
        assert result.speedup is not None
        assert result.numerics.passed


def test_more_memory_without_a_gain_is_rejected(offer):
    names = offer(Replace("wasteful", wasteful))
    result = run(lean, *arguments, transforms=names, measure=False)["wasteful"]
    assert result.status is Status.REJECTED
    assert result.reason.split(": ")[1] == "more memory"


def test_wrong_values_are_rejected_before_anything_is_timed(offer):
    names = offer(Replace("wrong", off_by_a_thousandth))
    result = run(wasteful, *arguments, transforms=names)["wrong"]
    assert result.status is Status.REJECTED
    assert result.reason.startswith("it does not compute the same")
    assert result.speedup is None
    assert not result.numerics.passed


def test_what_crashes_is_one_failed_result_and_the_rest_goes_on(offer):
    names = offer(Unlooked(), Replace("broken", broken), Replace("lean", lean))
    results = run(wasteful, *arguments, transforms=names, measure=False)
    assert results["unlooked"].status is Status.FAILED
    assert "LookupError: lost" in results["unlooked"].reason
    assert results["broken"].status is Status.FAILED
    assert results["broken"].reason == "could not trace: ZeroDivisionError: no such luck"
    assert results["lean"].status in (Status.VERIFIED, Status.COMPILED, Status.REJECTED)


def test_without_measuring_nothing_is_called_verified(offer):
    names = offer(Replace("lean", lean))
    results = run(wasteful, *arguments, transforms=(*names, "donation"), measure=False)
    assert all(result.status is not Status.VERIFIED for result in results.values())
    assert all(result.speedup is None for result in results.values())


def test_findings_give_their_code():
    from jaxlint_runtime.optimise import Settings, optimise
    from jaxlint_runtime.staging import capture

    captured = capture(wasteful, *arguments)
    captured.findings = [{"code": "JAX999", "name": "missing-donation"}]
    (result,) = optimise(captured, Settings(transforms=("donation",), measure=False))
    assert result.code == "JAX999"


def made(name: str, peak: int, ratio: float):
    outcome = Result("step", "p.py", 1, None, name, Status.VERIFIED, "", "", after=Cost(peak_bytes=peak))
    outcome.speedup = Interval(ratio, ratio, ratio)
    return TRANSFORMS["remat"], Candidate(name, "", "", 1.0), outcome


def test_with_a_limit_the_fastest_that_fits_is_combined():
    proven = [made("least", 10, 0.7), made("middle", 20, 0.9), made("most", 40, 1.0)]

    def chosen(limit):
        return [candidate.name for _, candidate in search._best(proven, limit)]

    assert chosen(None) == ["least"]
    assert chosen(25) == ["middle"]
    assert chosen(50) == ["most"]
    assert chosen(5) == ["least"]
