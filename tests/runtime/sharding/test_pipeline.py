"""Pipelines: which layer an equation belongs to, stages of equal work, what a device of each needs, and their values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.sharding import pipeline, pipeline_stages, shard_function
from jaxlint_runtime.sharding.input_classes import Classes
from jaxlint_runtime.sharding.mesh import parse_mesh
from jaxlint_runtime.sharding.placed_program import Step
from jaxlint_runtime.sharding.repeated_layers import layered
from jaxlint_runtime.targets import parse

VOCABULARY, WIDTH, BATCH, LENGTH, LAYERS = 32, 16, 8, 4, 4
CPU = parse("cpu")


def array(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32) * 0.2


def parameters() -> dict[str, Any]:
    block = {"norm": array(WIDTH), "up": array(WIDTH, 4 * WIDTH), "down": array(4 * WIDTH, WIDTH)}
    return {
        "table": array(VOCABULARY, WIDTH),
        "blocks": [block] * LAYERS,
        "head": array(WIDTH, VOCABULARY),
    }


def block(p: Any, x: jax.Array) -> jax.Array:
    return x + jax.nn.gelu(x * p["norm"] @ p["up"]) @ p["down"]


def loss(params: Any, tokens: jax.Array) -> jax.Array:
    x = params["table"][tokens[:, :-1]]
    for p in params["blocks"]:
        x = block(p, x)
    scores = jax.nn.log_softmax(x @ params["head"])
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()


def update(params: Any, moments: Any, grads: Any) -> Any:
    """Momentum, the gradient clipped by its norm over all layers."""
    norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 0.1 / norm), grads)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
    return jax.tree.map(lambda p, m: p * 0.999 - 0.1 * m, params, moments), moments


def train_step(params: Any, moments: Any, tokens: jax.Array) -> Any:
    value, grads = jax.value_and_grad(loss)(params, tokens)
    return *update(params, moments, grads), value


def tied(params: Any, moments: Any, tokens: jax.Array) -> Any:
    """The head is the table."""

    def of(p: Any) -> jax.Array:
        return loss({**p, "head": p["table"].T}, tokens)

    given = {name: params[name] for name in ("table", "blocks")}
    return update(given, {name: moments[name] for name in given}, jax.grad(of)(given))


def by_scan(params: Any, moments: Any, tokens: jax.Array) -> Any:
    """The blocks are the turns of a loop."""

    def of(p: Any) -> jax.Array:
        x, _ = jax.lax.scan(lambda x, one: (block(one, x), None), p["table"][tokens[:, :-1]], p["blocks"])
        return (x @ p["head"]).mean()

    return update(params, moments, jax.grad(of)(params))


def forward(params: Any, tokens: jax.Array) -> jax.Array:
    return loss(params, tokens)


def given(function: Any, *args: Any) -> tuple[Reference, Step, Classes]:
    program = Reference(capture(function, *args), Settings(target="cpu"))
    return program, *shard_function._staged(program)


TOKENS = np.random.default_rng(0).integers(0, VOCABULARY, (BATCH, LENGTH + 1)).astype(np.int32)


@pytest.fixture(scope="module")
def training() -> tuple[Reference, Step, Classes]:
    return given(train_step, parameters(), jax.tree.map(np.zeros_like, parameters()), TOKENS)


def test_the_layer_of_a_parameter_is_where_it_meets_the_batch(training: Any) -> None:
    _, step, classes = training
    found = layered(pipeline._flat(step.jaxpr), classes, step.out)
    assert found is not None
    by_path = {classes.inputs[n].path: layer for n, layer in found.inputs.items()}
    for moment in ("args[0]", "args[1]"):
        assert by_path[f"{moment}['table']"] == 0
        assert by_path[f"{moment}['head']"] == LAYERS - 1
        assert [by_path[f"{moment}['blocks'][{n}]['up']"] for n in range(LAYERS)] == list(range(LAYERS))


def test_forward_and_backward_of_a_layer_are_one_layer(training: Any) -> None:
    """Six products a block, though a norm over all gradients joins what every layer computes."""
    _, step, classes = training
    found = layered(pipeline._flat(step.jaxpr), classes, step.out)
    assert found is not None
    products = [
        layer
        for eqn, layer in zip(found.jaxpr.eqns, found.equations, strict=True)
        if eqn.primitive.name == "dot_general"
    ]
    assert [products.count(layer) for layer in range(LAYERS)] == [6, 6, 6, 9]


def test_stages_have_as_much_work_as_each_other() -> None:
    assert pipeline_stages.balanced([1, 1, 1, 3], 2) == (0, 3, 4)
    assert pipeline_stages.balanced([1, 1, 1, 1, 1, 1], 3) == (0, 2, 4, 6)
    assert pipeline_stages.balanced([5, 1, 1, 1], 3) in ((0, 1, 2, 4), (0, 1, 3, 4))


@pytest.mark.parametrize("mesh", ["stage=2", "stage=4", "data=2,stage=2"])
def test_the_stages_compute_what_the_step_does(training: Any, mesh: str) -> None:
    (plan,) = pipeline.plans(*training, parse_mesh(mesh), CPU)
    assert plan.over == ("stage",)
    assert pipeline.differs(*training, plan) is None
    assert plan.layers[0][0] == 0
    assert plan.layers[-1][1] == LAYERS - 1
    assert plan.microbatches * plan.examples * plan.shared == BATCH
    state = 2 * sum(leaf.nbytes for leaf in jax.tree.leaves(parameters()))  # the moments are as large
    assert sum(plan.state) == state
    assert all(needed > own for needed, own in zip(plan.memory, plan.state, strict=True))
    # what goes forward, and its gradient backward, is of the width of the model; beside it there are scalars
    rows = plan.microbatches * plan.examples * LENGTH * WIDTH * 4
    assert rows <= plan.sent < 4 * rows


def test_stages_that_compute_something_else_are_told(training: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (plan,) = pipeline.plans(*training, parse_mesh("stage=2"), CPU)
    right = pipeline._run
    monkeypatch.setattr(pipeline, "_run", lambda cut, step: [1.1 * one for one in right(cut, step)])
    assert pipeline.differs(*training, plan) is not None


@pytest.fixture(scope="module")
def few_and_many(training: Any) -> list[Any]:
    """The plans of two and of four stages."""
    return list(pipeline.plans(*training, parse_mesh("data=4,model=2"), CPU))


def test_more_stages_need_less_of_a_device_and_are_longer_idle(few_and_many: Any) -> None:
    few, many = few_and_many
    assert (few.over, many.over) == (("model",), ("data",))
    assert (few.shared, many.shared) == (4, 2)
    assert max(many.state) < max(few.state)
    assert many.idle > few.idle > 0


def test_the_first_that_fits_is_told_and_else_what_the_last_one_lacks(
    training: Any, few_and_many: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = few_and_many
    monkeypatch.setattr(pipeline, "plans", lambda *given: iter(few_and_many))
    compare, compared = pipeline.differs, dict[int, Any]()

    def differs(*given: Any) -> Any:
        """Each plan is compared once."""
        if id(given[-1]) not in compared:
            compared[id(given[-1])] = compare(*given)
        return compared[id(given[-1])]

    monkeypatch.setattr(pipeline, "differs", differs)
    assert many.needed < few.needed
    for limit, over, lacks in (
        (few.needed, "over model", False),
        (many.needed, "over data", False),
        (1000, "over data", True),
    ):
        (line,) = pipeline.advice(*training, parse_mesh("data=4,model=2"), CPU, limit)
        assert over in line
        assert ("still too much" in line) == lacks
        assert "the results agree with one device" in line
    assert set(compared) == {id(few), id(many)}


def test_a_table_that_two_stages_use_is_sent() -> None:
    found = given(tied, parameters(), jax.tree.map(np.zeros_like, parameters()), TOKENS)
    (plan,) = pipeline.plans(*found, parse_mesh("stage=2"), CPU)
    assert pipeline.differs(*found, plan) is None
    assert plan.sent >= plan.microbatches * parameters()["table"].nbytes


def test_a_step_without_gradients_has_stages_too() -> None:
    found = given(forward, parameters(), TOKENS)
    (plan,) = pipeline.plans(*found, parse_mesh("stage=2"), CPU)
    assert pipeline.differs(*found, plan) is None


def test_layers_that_are_the_turns_of_a_loop_are_advice() -> None:
    params = parameters()
    params["blocks"] = jax.tree.map(lambda *leaves: np.stack(leaves), *params["blocks"])
    found = given(by_scan, params, jax.tree.map(np.zeros_like, params), TOKENS)
    (line,) = pipeline.advice(*found, parse_mesh("stage=2"), CPU, None)
    assert f"a loop over {LAYERS} layers holds" in line
    assert "ppermute" in line


def test_nothing_is_said_of_a_step_without_layers() -> None:
    found = given(lambda w, x: x @ w, array(4, 4), array(8, 4))
    assert not list(pipeline.advice(*found, parse_mesh("stage=2"), CPU, 1))
