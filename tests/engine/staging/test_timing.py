"""The ledger of dispatches, and what two readings of a clock say of it."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import Reporter, analyze
from jaxlint.staging.events import ElapsedEvent, TracedMemoryEvent
from jaxlint.staging.module import Module
from jaxlint.staging.values import Scope
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.ledger import Ledger
from jaxlint.staging.values.stage import HOST

PREAMBLE = """
import time
import timeit
import tracemalloc

import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return x @ x

def train(x):
    for _ in range(3):
        x = step(x)
    return x
"""


class Regions(Rule):
    """Collects what lies between readings: labels, whether the host waited, and which calls compile."""

    code, name, category, severity = "JAX991", "regions", "benchmarking", Severity.INFO

    def __init__(self) -> None:
        self.seen: list[tuple[list[str], bool]] = []
        self.first: list[bool] = []
        self.traced: list[str] = []

    def on_elapsed(self, event: ElapsedEvent, report: Reporter) -> None:
        self.seen.append(([dispatch.label for dispatch in event.dispatches], event.waited))
        self.first += [dispatch.first for dispatch in event.dispatches]

    def on_traced_memory(self, event: TracedMemoryEvent, report: Reporter) -> None:
        self.traced += [dispatch.label for dispatch in event.dispatches]


def regions(body: str) -> Regions:
    code = (
        PREAMBLE
        + "\ndef measure(x):\n"
        + textwrap.indent(textwrap.dedent(body), "    ")
        + "\nmeasure(jnp.ones((2, 2)))\n"
    )
    rule = Regions()
    analysis = analyze([source_from_bytes(code.encode(), Path("program.py"), "program.py")], [rule])
    assert not analysis.errors
    return rule


@pytest.mark.parametrize(
    ("body", "labels", "waited"),
    [
        ("t = time.time(); step(x); return time.time() - t", ["step"], False),
        ("t = time.perf_counter(); step(x).block_until_ready(); return time.perf_counter() - t", ["step"], True),
        ("t = time.time(); y = step(x); jax.block_until_ready(y); return time.time() - t", ["step"], True),
        ("t = time.time(); y = step(x); float(y[0, 0]); return time.time() - t", ["step"], True),
        ("t = time.time(); jnp.dot(x, x); return time.time() - t", ["dot"], False),
        ("t = time.time(); y = step(x); d = time.time() - t; jax.block_until_ready(y); return d", ["step"], False),
    ],
    ids=["no wait", "a method waits", "a function waits", "a number is read", "an operation", "waits too late"],
)  # fmt: skip
def test_what_lies_between_two_readings(body: str, labels: list[str], waited: bool) -> None:
    assert regions(body).seen == [(labels, waited)]


def test_nothing_is_told_of_host_work() -> None:
    assert regions("t = time.time(); y = sum(range(10)); return time.time() - t").seen == []


def test_what_was_dispatched_before_is_not_in_the_region() -> None:
    assert regions("step(x); t = time.time(); y = jnp.dot(x, x); return time.time() - t").seen == [
        (["dot"], False)
    ]


def test_the_first_call_of_a_jitted_function_compiles() -> None:
    cold = regions("t = time.time(); step(x).block_until_ready(); return time.time() - t")
    warm = regions("step(x); t = time.time(); step(x).block_until_ready(); return time.time() - t")
    assert cold.first == [True]
    assert warm.first == [False]


def test_calls_of_functions_count_what_they_dispatch() -> None:
    found = regions("t = time.time(); train(x); return time.time() - t").seen
    assert len(found) == 1
    labels, waited = found[0]
    assert set(labels) == {"step"}
    assert not waited


def test_a_remembered_call_dispatches_again() -> None:
    found = regions(
        """
        train(x)
        t = time.time()
        train(x)
        return time.time() - t
        """
    )
    assert [set(labels) for labels, _ in found.seen] == [{"step"}]
    assert not any(found.first)


def test_tracemalloc_is_told_what_the_device_did_since_its_start() -> None:
    assert regions(
        "step(x); tracemalloc.start(); jnp.dot(x, x); return tracemalloc.get_traced_memory()"
    ).traced == ["dot"]
    assert regions("step(x); return tracemalloc.get_traced_memory()").traced == []


def host_frame() -> Frame:
    module = Module(source_from_bytes(b"", Path("m.py"), "m.py"), "m", "", True)
    return Frame(None, module, Scope(None, is_module=True), HOST)


def test_a_ledger_gives_dispatches_since_a_time_and_forgets() -> None:
    ledger, frame, node = Ledger(), host_frame(), ast.Pass()
    ledger.add(node, frame, "a")
    mark = ledger.serial
    ledger.add(node, frame, "b")
    assert [dispatch.label for dispatch in ledger.since(0)] == ["a", "b"]
    assert [dispatch.label for dispatch in ledger.since(mark)] == ["b"]
    ledger.forget(mark)
    assert [dispatch.label for dispatch in ledger.since(0)] == ["a"]


def test_the_effect_of_a_call_is_repeated() -> None:
    ledger, frame, node = Ledger(), host_frame(), ast.Pass()
    assert ledger.effect_since(ledger.serial, 0) is None
    before = ledger.serial
    ledger.add(node, frame, "a")
    ledger.settle()
    ledger.add(node, frame, "b")
    effect = ledger.effect_since(before, 0)
    assert effect is not None
    assert effect.waits
    assert [dispatch.label for dispatch in effect.pending] == ["b"]
    mark, settled = ledger.serial, ledger.settled
    ledger.replay(effect, node, frame)
    assert ledger.settled > settled
    assert [dispatch.label for dispatch in ledger.since(mark)] == ["b"]
