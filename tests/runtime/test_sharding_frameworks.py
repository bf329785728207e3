"""Parameters of linen and nnx modules in a train step: their classes, and the placement in the form of the framework."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.training.train_state import TrainState

from jaxlint_runtime.inspection.rebinding import updates
from jaxlint_runtime.sharding import annotated, axes, strategies
from jaxlint_runtime.sharding.classes import Classes, classify, inputs_of
from jaxlint_runtime.sharding.mesh import parse_mesh
from jaxlint_runtime.staging import bind, capture, stage, version_of
from jaxlint_runtime.targets import parse

MESH = parse_mesh("data=4,model=2")
VOCABULARY, WIDTH, HEADS = 48, 16, 4
TOKENS = np.zeros((8, 7), np.int32)


def classes_of(function: Any, *args: Any) -> Classes:
    captured = capture(function, *args)
    bound = bind(captured)
    jaxpr = stage(version_of(captured), bound, parse("cpu")).jaxpr
    updated = {update.input: update.output for update in updates(jaxpr)}
    return classify(inputs_of(bound.leaves, updated), axes.analyse(jaxpr))


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
    assert annotated.framework(found, nnx=False) == "linen"
    tensor = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel")
    said = list(annotated.lines(tensor, found, "linen"))
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
    assert roles["up.kernel.value"] == ["embed", "hidden"]
    assert roles["mix.{key,query}.kernel.value"][1:] == ["heads", "head width"]
    assert [one.path for one in found.data] == ["args[1]"]
    assert annotated.framework(found, nnx=False) == "nnx"
    tensor = next(s for s in strategies.named(found, MESH) if s.name == "tensor parallel")
    said = list(annotated.lines(tensor, found, "nnx"))
    assert "up.kernel.value: kernel_init=nnx.with_partitioning(init, (None, 'model'))" in said
