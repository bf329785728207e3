"""Parameters of linen and nnx modules in a train step: their classes, and the placement in the form of the framework."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from flax.training.train_state import TrainState

from jaxlint_runtime.inspection.updates import updates
from jaxlint_runtime.lowering.function_versions import bind, capture, stage, version_of
from jaxlint_runtime.sharding import axis_groups, framework_annotations, placement_code, strategies
from jaxlint_runtime.sharding.input_classes import Classes, classify, inputs_of
from jaxlint_runtime.sharding.mesh import MeshShape, parse_mesh
from jaxlint_runtime.targets import parse

MESH = parse_mesh("data=4,model=2")
VOCABULARY, WIDTH, HEADS = 48, 16, 4
RULES = (("embed", None), ("mlp", None))
TOKENS = np.zeros((8, 7), np.int32)


def classes_of(function: Any, *args: Any) -> Classes:
    captured = capture(function, *args)
    bound = bind(captured)
    jaxpr = stage(version_of(captured), bound, parse("cpu")).jaxpr
    updated = {update.input: update.output for update in updates(jaxpr)}
    return classify(inputs_of(bound.leaves, updated), axis_groups.analyse(jaxpr))


def specs_of(found: Classes) -> dict[str, Any]:
    chosen = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel, vocabulary too")
    return {entry.name: chosen.spec(found, n) for n, entry in enumerate(found.parameters)}


class Block(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + nn.MultiHeadDotProductAttention(num_heads=HEADS, name="mix")(nn.LayerNorm()(x))
        return x + nn.Dense(WIDTH, name="down")(nn.gelu(nn.Dense(4 * WIDTH, name="up")(x)))


class Model(nn.Module):
    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = nn.Embed(VOCABULARY, WIDTH, name="table")(tokens)
        for _ in range(2):
            x = Block()(x)
        return nn.Dense(VOCABULARY, name="head")(x)


def test_linen_with_a_train_state() -> None:
    model = Model()
    params = model.init(jax.random.key(0), TOKENS)["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))

    def step(state: TrainState, tokens: jax.Array) -> Any:
        def loss(params: Any) -> jax.Array:
            scores = state.apply_fn({"params": params}, tokens)
            return optax.softmax_cross_entropy_with_integer_labels(scores, tokens).mean()

        return state.apply_gradients(grads=jax.grad(loss)(state.params))

    found = classes_of(step, state, TOKENS)
    specs = specs_of(found)
    assert specs["Block_*.mix.{key,query}.kernel"] == ((), ("model",), ())
    assert specs["Block_*.mix.out.kernel"] == (("model",), (), ())
    assert specs["Block_*.up.kernel"] == ((), ("model",))
    assert specs["Block_*.down.kernel"] == (("model",), ())
    assert specs["table.embedding"] == (("model",), ())
    assert {one.path for one in found.others} == {"args[0].step", "args[0].opt_state[0].count"}
    assert all(len(entry.followers) == 2 * len(entry.members) for entry in found.parameters)
    assert framework_annotations.framework(found, nnx=False) == "linen"
    tensor = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel")
    said = list(framework_annotations.lines(tensor, found, MESH, "linen"))
    assert "Block_*.up.kernel: kernel_init=nn.with_partitioning(init, (None, 'model'))" in said


class Layer(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.mix = nnx.MultiHeadAttention(HEADS, WIDTH, decode=False, rngs=rngs)
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + self.mix(x)
        return x + self.down(nnx.gelu(self.up(x)))


def test_nnx_with_an_optimizer() -> None:
    layer = Layer(nnx.Rngs(0))
    graph, state = nnx.split((layer, nnx.Optimizer(layer, optax.adam(1e-3), wrt=nnx.Param)))

    def step(state: Any, x: jax.Array) -> Any:
        model, optimizer = nnx.merge(graph, state)
        optimizer.update(model, nnx.grad(lambda m: jnp.mean(m(x) ** 2))(model))
        return nnx.state((model, optimizer))

    found = classes_of(step, state, np.ones((8, 6, WIDTH), np.float32))
    roles = {e.name: [found.roles[g] for g in e.groups] for e in found.parameters}
    assert roles["up.kernel"] == ["embed", "hidden"]
    assert roles["mix.{key,query}.kernel"][1:] == ["heads", "head width"]
    assert [one.path for one in found.data] == ["args[1]"]
    assert framework_annotations.framework(found, nnx=False) == "nnx"
    tensor = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel")
    said = list(framework_annotations.lines(tensor, found, MESH, "nnx"))
    assert "up.kernel: kernel_init=nnx.with_partitioning(init, (None, 'model'))" in said


def test_a_step_of_nnx_jit_is_named_by_its_modules_and_its_code_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    own = jax.jit

    def noting(function: Any, **options: Any) -> Any:
        jitted = own(function, **options)
        return lambda *args: calls.append((function, args)) or jitted(*args)

    def step(layer: Layer, optimizer: nnx.Optimizer, x: jax.Array) -> jax.Array:
        loss, gradient = nnx.value_and_grad(lambda m: jnp.mean(m(x) ** 2))(layer)
        optimizer.update(layer, gradient)
        return loss

    layer = Layer(nnx.Rngs(0))
    optimizer = nnx.Optimizer(layer, optax.adam(1e-3), wrt=nnx.Param)
    x = np.ones((8, 6, WIDTH), np.float32)
    monkeypatch.setattr(jax, "jit", noting)
    jitted = nnx.jit(step)
    monkeypatch.undo()
    before = float(jitted(layer, optimizer, x))
    function, args = next(call for call in calls if len(call[1]) == 3)
    found = classes_of(function, *args)
    assert found.inputs[0].path.startswith("args[0]['down']['bias']")
    assert all(len(entry.followers) == 2 * len(entry.members) for entry in found.parameters)
    megatron = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel, with ZeRO-1")
    one = MeshShape(("data", "model"), (1, 1))
    text = placement_code.program(megatron, found, one, "step", [], ["layer", "optimizer", "x"], nnx=True)
    assert r"\b(mu|nu)\b.*\bup\b.*\bkernel\b" in text
    scope: dict[str, Any] = {"step": step, "layer": layer, "optimizer": optimizer}
    exec(text, scope)
    assert float(scope["step"](layer, optimizer, x)) < before
    moment = optimizer.opt_state[0].mu["up"]["kernel"][...]
    assert moment.sharding.spec == jax.sharding.PartitionSpec("data", "model")


def test_annotations_over_the_mesh_are_a_placement_and_only_what_differs_is_told() -> None:
    init = nn.initializers.lecun_normal()
    up = nn.Dense(64, use_bias=False, kernel_init=nn.with_partitioning(init, (None, "model")))
    down = nn.Dense(WIDTH, use_bias=False, kernel_init=nn.with_partitioning(init, (None, "data")))
    model = nn.Sequential([up, nn.relu, down])
    x = np.ones((8, WIDTH), np.float32)
    params = model.init(jax.random.key(0), x)

    def step(params: Any, x: jax.Array) -> Any:
        gradient = jax.grad(lambda p: jnp.mean(model.apply(p, x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)

    found = classes_of(step, params, x)
    names = framework_annotations.stated(jax.tree.structure(((params, x), {})), len(found.inputs))
    assert sorted(names.values()) == [(None, "data"), (None, "model")]
    assert not framework_annotations.logical(names, MESH)
    assert framework_annotations.as_spec((None, "data"), (64, WIDTH), MESH) == ((), ("data",))
    tensor = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel")
    told = list(framework_annotations.lines(tensor, found, MESH, "linen", names))
    assert len(told) == 2  # what stands already is not told again
    assert "with_partitioning(init, ('model', None)) (now (None, 'data'))" in told[0]


def test_logical_annotations_are_told_as_rules() -> None:
    init = nnx.initializers.lecun_normal()
    with jax.set_mesh(jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))):
        rngs = nnx.Rngs(0)
        up = nnx.Linear(
            WIDTH,
            64,
            kernel_init=nnx.with_partitioning(init, ("embed", "mlp"), sharding_rules=RULES),
            rngs=rngs,
        )
        down = nnx.Linear(
            64,
            WIDTH,
            kernel_init=nnx.with_partitioning(init, ("mlp", "embed"), sharding_rules=RULES),
            rngs=rngs,
        )
    graph, state = nnx.split((up, down))

    def step(state: Any, x: jax.Array) -> Any:
        def loss(state: Any) -> jax.Array:
            up, down = nnx.merge(graph, state)
            return jnp.mean(down(nnx.relu(up(x))) ** 2)

        return jax.tree.map(lambda p, g: p - 0.1 * g, state, jax.grad(loss)(state))

    found = classes_of(step, state, np.ones((8, WIDTH), np.float32))
    names = framework_annotations.stated(jax.tree.structure(((state, np.ones(1)), {})), len(found.inputs))
    assert framework_annotations.logical(names, MESH)
    tensor = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel")
    told = list(framework_annotations.lines(tensor, found, MESH, "nnx", names))
    assert told[0] == "nnx.logical_axis_rules((('batch', 'data'), ('embed', None), ('mlp', 'model')))"
