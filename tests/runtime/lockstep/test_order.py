"""The rendezvous of several processes, played from their lists."""

from __future__ import annotations

import pytest

from jaxlint_runtime.lockstep.order import Order, Rank
from jaxlint_runtime.lockstep.verdict import Source
from jaxlint_runtime.lockstep_run import LockstepRun
from jaxlint_runtime.protocol.launch_records import (
    Began,
    Compiled,
    Compiling,
    Joined,
    Launched,
    Over,
    Program,
)
from jaxlint_runtime.request import InStep, Request


def play(*lists: str, spans: dict[str, tuple[int, ...]] | None = None, turns: str | None = None):
    """Processes that launch programs of one letter each; `turns` has the number of who is next. Returns the order and who parted."""
    spans = spans or {}
    order = Order()
    everyone = tuple(range(len(lists)))
    for number in everyone:
        rank = Rank()
        rank.hear(Began("host", 100 + number), 0.0)
        rank.hear(Joined(number, len(lists)), 0.0)
        order.add(rank)
    apart: tuple[int, ...] = ()
    queues = [list(one) for one in lists]
    for number in map(int, turns) if turns else [n for n in everyone for _ in lists[n]]:
        letter, rank = queues[number].pop(0), order.ranks[number]
        if ord(letter) not in rank.programs:
            rank.hear(Program(ord(letter), letter, letter, spans.get(letter, everyone)), 0.0)
        rank.hear(Launched(ord(letter), 0), 0.0)
        apart = apart or order.advance(number)
    return order, apart


def test_processes_with_the_same_list_start_every_program():
    order, apart = play("abca", "abca", "abca")
    assert apart == ()
    assert order.started == 4
    assert order.waiting() == []
    assert order.missing() == []


@pytest.mark.parametrize("turns", ["000111", "111000", "010101", "101010", "001011"])
def test_another_program_in_one_place_sets_two_apart_whoever_is_ahead(turns):
    order, apart = play("aXb", "abb", turns=turns)
    assert apart == (0, 1)
    assert order.started == 1
    assert [order.ranks[n].next.program.name for n in (0, 1)] == ["X", "b"]


def test_one_of_many_is_told_before_the_others_have_come():
    _, apart = play("ab", "a", "ac", "a")
    assert apart == (0, 2)


def test_a_process_that_only_lags_behind_is_missing_and_not_apart():
    order, apart = play("abb", "ab", "abb")
    assert apart == ()
    assert order.started == 2
    assert order.missing() == [1]
    assert {one.process for one in order.waiting()} == {0, 2}


def test_programs_of_some_processes_keep_no_others_waiting():
    spans = {"l": (0, 1), "r": (2, 3)}
    order, apart = play("lla", "lla", "ra", "ra", spans=spans)
    assert apart == ()
    assert order.started == 4
    assert order.waiting() == []


def test_two_that_share_two_programs_in_crossed_order_are_apart():
    spans = {"s": (0, 1), "t": (0, 1, 2)}
    _, apart = play("st", "ts", "t", spans=spans)
    assert apart == (0, 1)


def test_a_circle_of_three_has_nobody_missing():
    spans = {"s": (0, 1), "t": (1, 2), "u": (0, 2)}
    order, apart = play("su", "ts", "ut", spans=spans)
    assert apart == ()
    assert order.started == 0
    assert order.missing() == []
    assert len(order.waiting()) == 3


def test_a_process_that_is_through_stays_missing():
    order, _ = play("ab", "a")
    order.ranks[1].hear(Over(0, "the program finished"), 1.0)
    assert order.missing() == [1]
    assert order.ranks[1].over is not None


def test_what_an_exit_handler_launches_is_told_from_what_the_program_did():
    order, _ = play("ab", "a")
    rank = order.ranks[0]
    rank.hear(Over(0, "the program finished"), 1.0)
    assert rank.next is not None
    assert not rank.at_exit
    rank.met += 1
    rank.hear(Launched(ord("b"), 0), 2.0)
    assert rank.at_exit


def test_processes_that_compile_different_programs_wait_for_one_another():
    order, _ = play("a", "a")
    for number, name in enumerate("bc"):
        order.ranks[number].hear(Program(7, name, name, (0, 1)), 1.0)
        order.ranks[number].hear(Compiling(name, 7), 1.0)
    assert order.crossed() == (0, 1)
    assert order.waiting() == []
    order.ranks[1].hear(Compiled(7), 2.0)
    assert order.crossed() == ()


@pytest.mark.parametrize(("silence", "kind"), [(20.0, "stalled"), (1.0, None)])
def test_one_that_falls_silent_inside_a_program_of_all_is_told(silence, kind, tmp_path):
    """Nobody has launched more than it, so nobody is seen to wait for it."""
    order, _ = play("aa", "aa")
    now = 1000.0
    for rank, since in zip(order.ranks.values(), (0.0, silence), strict=True):
        rank.moved, rank.heard = now - 20.0, now - since
    request = Request("script", "train.py", timeout=600.0)
    run = LockstepRun(request, InStep(2.0, processes=2), order=order, _began=now - 30.0)
    verdict = run._late(now, Source(tmp_path))
    assert (verdict and verdict.kind) == kind
    if verdict:
        assert verdict.message == "process 1 stalls in `a`, without an answer for 20 s"
        assert verdict.processes == (1,)


def test_one_that_others_wait_for_and_that_has_no_list_stalls(tmp_path):
    """As where one of several commands with the same folder was started without jaxlint."""
    order, _ = play("a", "a", turns="0")
    del order.ranks[1]
    order.ranks[0].moved = order.ranks[0].heard = 980.0
    run = LockstepRun(Request("script", "train.py"), InStep(2.0), order=order, _began=970.0)
    verdict = run._late(1000.0, Source(tmp_path))
    assert verdict is not None
    assert verdict.kind == "stalled"
    assert verdict.message == (
        "process 1 stalls for 20 s before its first program; process 0 waits for it in `a`"
    )
