"""What the proof says of good, useless, wrong and broken candidates, and how they are put together."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from jaxlint_runtime.lowering.function_versions import Version
from jaxlint_runtime.model import Cost, Interval, Proposed, Result, Status
from jaxlint_runtime.proof import live_prover
from jaxlint_runtime.proof.candidate_search import search
from jaxlint_runtime.transforms import TRANSFORMS, Candidate, Transform
from tests.helpers.training_programs import run, timed_alike


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
        monkeypatch.setattr(live_prover, "TRANSFORMS", offered)
        return tuple(transform.name for transform in transforms)

    return offer


def test_a_better_version_is_verified_and_joined_with_donation(offer, monkeypatch):
    timed_alike(monkeypatch)
    names = offer(Replace("lean", lean))
    results = run(wasteful, *arguments, transforms=(*names, "donation"))
    assert list(results) == ["donation", "lean", "donation + lean"]
    assert {result.status for result in results.values()} == {Status.VERIFIED}
    assert "both versions with donation" in results["lean"].evidence
    donated, alone, both = results.values()
    assert alone.before.peak_bytes == donated.after.peak_bytes
    assert both.before.peak_bytes == donated.before.peak_bytes
    assert both.after.peak_bytes == alone.after.peak_bytes < donated.after.peak_bytes
    assert "no caller uses state" in both.reason


def test_what_does_not_help_is_rejected_with_its_figures(offer, monkeypatch):
    timed_alike(monkeypatch)
    names = offer(Replace("same", wasteful), Replace("back", wasteful))
    for result in run(wasteful, *arguments, transforms=names).values():
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
    assert result.reason.startswith("the results differ")
    assert result.speedup is None
    assert not result.numerics.passed


def test_a_wrong_version_is_no_better_proven_by_a_call_that_computes_nan(offer):
    names = offer(Replace("wrong", off_by_a_thousandth))
    results = run(
        wasteful, arguments[0][:96], arguments[1] * jnp.nan, transforms=(*names, "donation"), measure=False
    )
    assert results["wrong"].status is Status.NOT_APPLICABLE
    assert results["wrong"].reason.startswith("refused: the result is all NaN")
    assert results["donation"].numerics.passed  # it moves no value, and says what was compared
    assert "on the captured inputs, run on cpu" in results["donation"].evidence
    assert "the result is all NaN" in results["donation"].evidence


def test_nan_in_some_values_leaves_the_others_to_tell(offer):
    names = offer(Replace("wrong", off_by_a_thousandth))
    result = run(wasteful, arguments[0].at[0].set(jnp.nan), arguments[1], transforms=names, measure=False)[
        "wrong"
    ]
    assert result.status is Status.REJECTED
    assert result.reason.startswith("the results differ")


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
    from jaxlint_runtime.lowering.function_versions import capture
    from jaxlint_runtime.proof.optimise import Settings, optimise

    captured = capture(wasteful, *arguments)
    captured.findings = [{"code": "JAX999", "name": "missing-donation"}]
    (result,) = optimise(captured, Settings(transforms=("donation",), measure=False))
    assert result.code == "JAX999"


def made(name: str, peak: int, ratio: float, transform: str = "remat", estimate: float = 1.0):
    outcome = Result("step", "p.py", 1, None, name, Status.VERIFIED, "", "", after=Cost(peak_bytes=peak))
    outcome.speedup = Interval(ratio, ratio, ratio)
    return Proposed(name, transform, transform == "donation", estimate), outcome


class Known:
    """A prover whose results are known; all but `missing` can be tried together."""

    def __init__(self, proven, missing=()):
        self.proven, self.missing = proven, missing
        self.cost = Cost(peak_bytes=100)
        self.asked = []

    def propose(self, transform):
        return [one for one, _ in self.proven if one.transform == transform]

    def staged(self, parts):
        return set(parts) not in self.missing

    def prove(self, parts, base):
        self.asked.append((parts, base))
        return next((outcome for one, outcome in self.proven if (one.name,) == parts), self.proven[0][1])


def test_with_a_limit_the_fastest_that_fits_is_combined():
    prover = Known(
        [
            made("least", 10, 0.7),
            made("middle", 20, 0.9),
            made("most", 40, 1.0),
            made("given", 90, 1.0, "donation"),
        ]
    )

    def chosen(limit):
        list(search(prover, ("donation", "remat"), limit, lambda message: None))
        return prover.asked[-1][0]

    assert chosen(None) == ("given", "least")
    assert (("least",), ("given",)) in prover.asked
    assert chosen(25) == ("given", "middle")
    assert chosen(50) == ("given", "most")
    assert chosen(5) == ("given", "least")


def test_of_what_was_not_left_together_the_part_that_saves_least_is_left_out():
    proven = [
        made("a", 10, 1.0, "remat", 30.0),
        made("b", 20, 1.0, "kernels", 20.0),
        made("c", 30, 1.0, "fusions", 10.0),
    ]
    prover = Known(proven, missing=({"a", "b", "c"},))
    list(search(prover, ("remat", "kernels", "fusions"), None, lambda message: None))
    assert prover.asked[-1] == (("a", "b"), ())


def test_what_is_skipped_is_told_and_not_proven():
    prover = Known([made("large", 10, 1.0, "remat", 30.0), made("small", 20, 1.0, "remat", 20.0)])
    _, why = made("small", 0, 1.0)
    told = list(
        search(
            prover, ("remat",), None, lambda message: None, lambda one: why if one.name == "small" else None
        )
    )
    assert told[0] is why
    assert prover.asked == [(("large",), ())]
