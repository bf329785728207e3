"""What tells two calls apart: everything at first, and once there are many of them less."""

from __future__ import annotations

from jaxlint.staging.contexts import summary_key
from jaxlint.staging.values import TANGENT, Array, Static, Unknown, Value


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
