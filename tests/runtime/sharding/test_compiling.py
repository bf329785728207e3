"""Placements that other processes compile: the questions, the answers, and a search that does not notice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

from jaxlint_runtime import compat
from jaxlint_runtime.lowering.function_versions import DoesNotFit, StagingError, capture
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.protocol.json_records import encode, from_plain
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.sharding import compiling, shard_function, strategies
from jaxlint_runtime.sharding.compiling import Devices, Elsewhere, Here, Jobs
from jaxlint_runtime.sharding.input_classes import Classes
from jaxlint_runtime.sharding.mesh import MeshShape, parse_mesh
from jaxlint_runtime.sharding.placed_program import Figures
from jaxlint_runtime.sharding.placement_search import Placement, Search
from jaxlint_runtime.targets import parse

ONE = MeshShape(("data", "model"), (1, 1))
MESH = parse_mesh("data=4,model=2")


def step(params: Any, x: Any, y: Any) -> Any:
    def loss(p: Any) -> Any:
        h = jax.nn.relu(x @ p["up"] + p["bias"])
        return ((h @ p["down"] - y) ** 2).mean()

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))


@pytest.fixture(scope="module")
def here() -> Here:
    make = np.random.default_rng(0).normal
    params = {"up": make(size=(32, 256)), "bias": make(size=256), "down": make(size=(256, 32))}
    args = jax.tree.map(np.float32, (params, make(size=(16, 32)), make(size=(16, 32))))
    return Here(*shard_function._staged(Reference(capture(step, *args), Settings(target="cpu"))), ONE)


@pytest.fixture(scope="module")
def devices() -> Devices:
    return Devices(parse("cpu"), Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ONE.names))


@dataclass
class Wire:
    """Answers in the order in which it is asked, by compiling."""

    here: Here
    count: int = 2
    asked: list[PlacementQuestion] = field(default_factory=list)
    told: dict[int, PlacementAnswer] = field(default_factory=dict)  # in place of compiling
    read: int = 0

    @property
    def jobs(self) -> Jobs:
        return Jobs(self.count, self.ask, self.receive, lambda: False, {"JAX_PLATFORMS": "cpu"})

    def ask(self, question: PlacementQuestion) -> None:
        self.asked.append(from_plain(PlacementQuestion, json.loads(encode(question))))

    def receive(self) -> PlacementAnswer:
        question = self.asked[self.read]
        self.read += 1
        found = self.told.get(question.number) or compiling.answer(question)
        return from_plain(PlacementAnswer, json.loads(encode(found)))


def placements(here: Here) -> list[Placement]:
    search = Search(here.classes, MESH, lambda placement: pytest.fail("compiles"), 99, 60.0)
    return list({search._placement(one): None for one in strategies.named(here.classes, MESH)})


def test_a_job_reads_the_same_figures_from_its_compiler(here: Here, devices: Devices) -> None:
    elsewhere = Elsewhere(here, Wire(here).jobs)
    for placement in placements(here):
        assert elsewhere.figures(placement, devices) == here.figures(placement, devices)


def test_as_many_are_asked_for_as_there_are_jobs_and_none_twice(here: Here, devices: Devices) -> None:
    wire, wanted = Wire(here), placements(here)
    elsewhere = Elsewhere(here, wire.jobs)
    elsewhere.expect(wanted, devices)
    assert len(wire.asked) == 3  # two jobs, and one that waits
    elsewhere.figures(wanted[1], devices)
    assert (wire.read, len(wire.asked)) == (2, 5)
    elsewhere.expect(wanted[-1:], devices)
    for placement in wanted:
        elsewhere.figures(placement, devices)
        elsewhere.figures(placement, devices)
    assert len(wire.asked) == len(wanted) == len({one.module for one in wire.asked})


def test_an_answer_may_be_a_reason_or_say_what_does_not_fit(here: Here, devices: Devices) -> None:
    wire = Wire(here)
    wire.told = {
        0: PlacementAnswer(0, reason="a job was killed"),
        1: PlacementAnswer(1, reason="it is large", memory=(3 * 2**30, 2**30)),
    }
    elsewhere = Elsewhere(here, wire.jobs)
    first, second, *_ = placements(here)
    with pytest.raises(StagingError, match="a job was killed"):
        elsewhere.figures(first, devices)
    with pytest.raises(DoesNotFit, match=r"3\.00 GiB of the device's 1\.00 GiB") as refused:
        elsewhere.figures(second, devices)
    assert refused.value.needed == 3 * 2**30


def test_what_no_job_compiles_is_compiled_by_the_process_that_asks(here: Here, devices: Devices) -> None:
    wire = Wire(here, told={0: PlacementAnswer(0, at_home=True)})
    (first, *_) = placements(here)
    assert Elsewhere(here, wire.jobs).figures(first, devices) == here.figures(first, devices)


def test_a_program_that_calls_back_is_compiled_by_the_process_that_asks() -> None:
    def called(x: Any) -> Any:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential")

    lowered = compat.jit(called).lower(jnp.ones(3))
    assert compat.compile_request(lowered, None) is None


# ---- the search ----


def cost(classes: Classes, placement: Placement) -> Figures:
    """More is saved where parameters are split over `model`, and where activations are."""
    leaves, gathered, held = placement
    split = sum(("model",) in spec for spec in leaves)
    return Figures(1e9, 1e6 * len(gathered) + 1e7 / (1 + len(held)), 10**9 // (1 + split), {}, {})


def searched(classes: Classes, most: int, expecting: Any = None) -> Iterator[tuple[str, Any]]:
    """What a search attempts, and what it expected before."""
    search = Search(classes, MESH, lambda placement: attempted(placement), most, 60.0)
    told: list[tuple[str, Any]] = []

    def attempted(placement: Placement) -> Figures:
        told.append(("attempt", placement))
        return cost(classes, placement)

    if expecting:
        search.expecting = lambda placements: told.append(("expect", list(placements)))
    score = lambda figures: figures.memory + figures.sent  # noqa: E731
    search.constrain(search.improve(search.named(), score), score)
    return iter(told)


@pytest.mark.parametrize("most", [6, 30, 400])
def test_expecting_does_not_change_what_is_tried(here: Here, most: int) -> None:
    alone = list(searched(here.classes, most))
    told = list(searched(here.classes, most, expecting=True))
    assert [one for one in told if one[0] == "attempt"] == alone
    expected: list[Placement] = []
    for kind, found in told:
        if kind == "expect":
            expected = found
        elif found in expected:
            del expected[: expected.index(found) + 1]
        else:
            pytest.fail("this one was not expected")
