"""What branches save, restore and join beside the variables."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

from jaxlint.source.read import source_from_bytes
from jaxlint.staging.module import Module
from jaxlint.staging.values.buffers import Buffer, BufferState, Donation
from jaxlint.staging.values.frame import TRACKED, Frame
from jaxlint.staging.values.keys import ConsumedKeys
from jaxlint.staging.values.objects import External, Transformed
from jaxlint.staging.values.plain import Origin
from jaxlint.staging.values.stage import Why


def donation(place: str) -> Donation:
    node = ast.Name("step")
    module = Module(source_from_bytes(b"", Path("train.py"), "train.py"), "train", "", False)
    target = Transformed("jit", "jax.jit", External("step"), {}, node, module, Why("jitted"))
    return Donation(node, target, place, place)


def test_frames_have_each_tracked_state() -> None:
    assert set(TRACKED) <= {field.name for field in fields(Frame)}


def test_a_key_consumed_on_one_path_is_consumed_after_both() -> None:
    first, second = Origin("first"), Origin("second")
    one, other = ast.Name("one"), ast.Name("other")
    mine = ConsumedKeys({first: one})
    joined = mine.joined(ConsumedKeys({first: other, second: other}))
    assert joined == {first: one, second: other}
    assert mine == {first: one}


def test_a_copy_of_consumed_keys_keeps_what_was_there() -> None:
    keys = ConsumedKeys({Origin("key"): ast.Name("draw")})
    copy = keys.copied()
    keys.clear()
    assert len(copy) == 1


def test_a_buffer_donated_on_one_path_is_dead_where_that_path_held_it() -> None:
    state = Buffer("state")
    before = BufferState().holding({"state": frozenset([state])})
    donated = before.donating({state: donation("state")})
    joined = before.joined(donated)
    assert state in joined.donated
    assert joined.held["state"] == {state}


def test_a_name_rebound_after_a_donation_is_alive_after_both_paths() -> None:
    old, new = Buffer("state"), Buffer("state")
    before = BufferState().holding({"state": frozenset([old])})
    rebound = before.donating({old: donation("state")}).holding({"state": frozenset([new])})
    for joined in (before.joined(rebound), rebound.joined(before)):
        assert joined.held["state"] == {new}


def test_donations_leave_the_state_before_as_it_was() -> None:
    state = Buffer("state")
    before = BufferState().holding({"state": frozenset([state])})
    before.donating({state: donation("state")})
    assert not before.donated
    assert before.joined(before) is before
