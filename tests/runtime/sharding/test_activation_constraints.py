"""Activations of a step: what they are, how they may be held, and constraints on them in the step that is compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

from jaxlint_runtime.inspection.updates import updates
from jaxlint_runtime.lowering.function_versions import bind, capture, stage, version_of
from jaxlint_runtime.sharding import (
    activation_constraints,
    advice,
    axis_groups,
    placement_code,
    placement_words,
    strategies,
)
from jaxlint_runtime.sharding.input_classes import Classes, classify, inputs_of
from jaxlint_runtime.sharding.mesh import parse_mesh
from jaxlint_runtime.sharding.placed_program import Figures, Step
from jaxlint_runtime.sharding.placement_search import Search
from jaxlint_runtime.targets import parse

MESH = parse_mesh("data=4,model=2")
EXPERTS, WIDTH, HIDDEN, ROOM = 4, 8, 32, 3


def mixture(params: Any, x: Any) -> Any:
    expert = (x @ params["router"]).argmax(-1)
    mask = jax.nn.one_hot(expert, EXPERTS)
    slot = jax.nn.one_hot((jnp.cumsum(mask, 1) * mask).sum(-1).astype(int) - 1, ROOM)
    dispatch = mask[..., None] * slot[:, :, None, :]
    inputs = jnp.einsum("btec,btd->ebcd", dispatch, x)
    h = jax.nn.relu(jnp.einsum("ebcd,edf->ebcf", inputs, params["up"]))
    out = jnp.einsum("ebcf,efd->ebcd", h, params["down"])
    return jnp.einsum("btec,ebcd->btd", dispatch, out)


def step(params: Any, x: Any) -> Any:
    return jax.tree.map(lambda p, g: p - g, params, jax.grad(lambda p: (mixture(p, x) ** 2).mean())(params))


@pytest.fixture(scope="module")
def traced() -> tuple[Step, Classes]:
    shapes = {"router": (WIDTH, EXPERTS), "up": (EXPERTS, WIDTH, HIDDEN), "down": (EXPERTS, HIDDEN, WIDTH)}
    params = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    captured = capture(step, params, np.ones((16, 6, WIDTH), np.float32))
    bound = bind(captured)
    jaxpr = stage(version_of(captured), bound, parse("cpu")).jaxpr
    updated = {update.input: update.output for update in updates(jaxpr)}
    found = classify(inputs_of(bound.leaves, updated), axis_groups.analyse(jaxpr))
    return Step(jaxpr, bound, (False,) * len(bound.leaves), {}), found


def by_name(found: Classes) -> dict[str | None, activation_constraints.Activation]:
    return {activation_constraints.variable(one.place): one for one in found.activations}


def axes_of(one: activation_constraints.Activation, found: Classes) -> list[str]:
    return [found.roles.get(group, "") for group in one.groups]


def test_products_are_named_by_the_source_in_the_order_that_it_has(traced: tuple[Step, Classes]) -> None:
    _, found = traced
    named = by_name(found)
    assert axes_of(named["inputs"], found) == ["experts", "batch", "", "features"]
    assert named["inputs"].shape == (EXPERTS, 16, ROOM, WIDTH)
    assert axes_of(named["h"], found) == ["experts", "batch", "", "hidden"]
    assert named["inputs"].dispatched
    assert len(named["h"].orders) == 2  # itself and its gradient
    shapes = {one.shape for one in found.activations}
    assert (EXPERTS, WIDTH, HIDDEN) not in shapes  # gradients of parameters are none


def test_specs_follow_the_axes_of_each_equation() -> None:
    one = activation_constraints.Activation(((7, 4), (-1, 6), (3, 8)), orders={1: ((3, 8), (7, 4), (-1, 6))})
    held = activation_constraints.by_equation([one], ((0, (("data",), (), ("model",))),))
    assert held == {1: (("model",), ("data",), ())}


def test_experts_over_the_data_axis_take_their_tokens(traced: tuple[Step, Classes]) -> None:
    _, found = traced
    named = {one.name: one for one in strategies.named(found, MESH)}
    both = named["expert parallel over the data axis, tensor parallel"]
    at = {entry.name: both.spec(found, n) for n, entry in enumerate(found.parameters)}
    assert at["up"] == (("data",), (), ("model",))
    held = {
        activation_constraints.variable(found.activations[n].place): spec for n, spec in both.held.items()
    }
    assert held["inputs"] == ((), ("data",), (), ())  # by batch outside of the experts
    assert held["h"] == (("data",), (), (), ("model",))  # by expert inside
    assert not named["expert parallel"].held  # over the model axis each device has its tokens
    figures = Figures(1.0, 8.0, 1, {"all-to-all": 8.0}, {"data": 8.0})
    said = "\n".join(placement_words.sentences(both, found, MESH, figures))
    assert "the tokens routed to them come from the whole batch and go back (8 B by all-to-all)" in said
    assert "h of " in said
    assert placement_words.title(both, found, MESH).startswith("expert parallelism with Megatron")
    text = placement_code.program(both, found, MESH, "step", [])
    assert (
        "#   h = jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P('data', None, None, 'model')))"
        in text
    )
    told = list(
        advice.experts(found, MESH, named["tensor parallel"], [(both, 0.5), (named["tensor parallel"], 0.9)])
    )
    assert "splits each expert" in told[0]
    assert "scored 0.50 at best, the best placement 0.90" in told[1]


def test_a_sequence_may_be_split_over_what_is_left(traced: tuple[Step, Classes]) -> None:
    _, found = traced
    one = activation_constraints.Activation(((found.batch or 0, 16), (-1, 6), (99, WIDTH)))
    ways = list(activation_constraints.choices(one, MESH, {**found.roles, 99: "embed"}, ("data",), {}))
    assert ways == [(("data",), (), ()), (("data",), ("model",), ())]


def test_what_is_held_is_a_constraint_in_the_step_and_values_stay(traced: tuple[Step, Classes]) -> None:
    traced_step, found = traced
    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), MESH.names)
    number = next(
        n for n, one in enumerate(found.activations) if activation_constraints.variable(one.place) == "h"
    )
    held = activation_constraints.by_equation(found.activations, ((number, (("data",), (), (), ())),))
    leaves = [leaf.value for leaf in traced_step.bound.leaves]
    free, constrained = traced_step.function(mesh, {}), traced_step.function(mesh, {}, held)
    assert "sharding_constraint" not in str(jax.make_jaxpr(free)(*leaves))
    assert str(jax.make_jaxpr(constrained)(*leaves)).count("sharding_constraint[") == 2
    for left, right in zip(jax.jit(free)(*leaves), jax.jit(constrained)(*leaves), strict=True):
        assert jnp.allclose(left, right)


def test_constraints_that_help_stay_and_keep_their_bound(traced: tuple[Step, Classes]) -> None:
    _, found = traced
    wanted = next(n for n, one in enumerate(found.activations) if one.shape == (16, 6, WIDTH))

    def compiling(placement: Any) -> Figures:
        held = dict(placement[2])
        sent = 10.0 - 2 * (held.get(wanted) == (("data",), ("model",), ())) + len(held) / 10
        return Figures(1.0, sent, 1, {}, {})

    search = Search(found, MESH, compiling, 1, 60.0)
    plain = search.attempt(strategies.Strategy("data parallel", ("data",)))
    best = search.constrain(plain, lambda figures: figures.sent)
    assert dict(best.strategy.held) == {wanted: (("data",), ("model",), ())}
    fewer = replace(search, constraints=1, tried=[], _seen={})
    fewer.constrain(plain, lambda figures: figures.sent)
    assert len(fewer.tried) == 1


def test_a_constraint_that_avoids_what_is_gathered_whole_stays(traced: tuple[Step, Classes]) -> None:
    _, found = traced

    def compiling(placement: Any) -> Figures:
        gathered = () if placement[2] else ("f32[16,6,8] (dot) from 4x1x1 parts to 1x1x4 parts",)
        return Figures(1.0, 10.0, 1, {}, {}, gathered)

    search = Search(found, MESH, compiling, 1, 60.0)
    plain = search.attempt(strategies.Strategy("data parallel", ("data",)))
    best = search.constrain(plain, lambda figures: figures.sent)
    assert len(best.strategy.held) == 1
    assert plain.figures is not None
    assert best.figures is not None
    told = list(advice.avoided(plain.figures, best.figures))
    assert told == [
        "without the sharding constraints on activations the compiler gathers f32[16,6,8] (dot) from 4x1x1 parts to 1x1x4 parts "
        "(involuntary rematerialization)"
    ]
