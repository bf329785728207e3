"""What tells two calls apart: everything at first, and once there are many of them less."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.staging.values import TANGENT, Array, Static, Unknown, Value
from jaxlint.staging.values.fingerprint import summary_key
from tests.helpers.projects import findings_in


def same(left: Value, right: Value, coarse: bool) -> bool:
    return summary_key(left, coarse=coarse) == summary_key(right, coarse=coarse)


def test_gradients_tell_calls_apart_until_there_are_many() -> None:
    for plain, differentiated in [
        (Array(True), Array(True, flow=TANGENT)),
        (Unknown(), Unknown(flow=TANGENT)),
    ]:
        assert not same(plain, differentiated, coarse=False)
        assert same(plain, differentiated, coarse=True)


def test_tracers_and_switches_always_tell_calls_apart() -> None:
    assert not same(Array(True), Array(False), coarse=True)
    assert not same(Static(True), Static(False), coarse=True)


FLAGGED = """
    import jax

    def iterate(body, state, least, most):
        force = least == most

        def step(carry):
            count, state = carry
            carry = (count + 1, body(state))
            return (carry, None) if {flag} else carry

        if force:
            (_, state), _ = jax.lax.scan(lambda carry, x: step(carry), (0, state), None, length=most)
        else:
            _, state = jax.lax.while_loop(lambda carry: carry[0] < most, step, (0, state))
        return state

    def run(x, least, most):
        return iterate(lambda s: s * 0.5, x, least, most)
"""


@pytest.mark.parametrize(("flag", "found"), [("force", False), ("not force", True), ("least", False)])
def test_a_closure_is_told_apart_by_the_flags_that_it_tests(tmp_path: Path, flag: str, found: bool) -> None:
    files = {"program.py": FLAGGED.format(flag=flag)}
    carried = [finding for finding in findings_in(tmp_path, files) if finding.name == "carry-mismatch"]
    assert bool(carried) == found
