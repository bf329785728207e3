"""Which layers hold arrays, held against the installed libraries."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

from jaxlint.jaxapi.layer_classes import (
    ENUMERATION,
    EQUINOX_WITHOUT_ARRAYS,
    LAYERS_IN_DTYPE,
    NNX_DICTS,
    NNX_LISTS,
    NNX_NOTES,
    NNX_WITH_ARRAYS,
    PASSED_ON,
    SEQUENTIALS,
    holds_arrays,
)

pytestmark = pytest.mark.usefixtures("compiled_quickly")

KEY = jax.random.key(0)
RNGS = nnx.Rngs(0)
SIZES: dict[str, dict[str, Any]] = {
    "BatchNorm": {"num_features": 2}, "Conv": {"in_features": 2, "out_features": 2, "kernel_size": 2},
    "ConvTranspose": {"in_features": 2, "out_features": 2, "kernel_size": 2}, "Dropout": {"rate": 0.5},
    "Einsum": {"einsum_str": "ab,bc->ac", "kernel_shape": (2, 2)}, "Embed": {"num_embeddings": 2, "features": 2},
    "GRUCell": {"in_features": 2, "hidden_features": 2}, "LSTMCell": {"in_features": 2, "hidden_features": 2},
    "SimpleCell": {"in_features": 2, "hidden_features": 2}, "OptimizedLSTMCell": {"in_features": 2, "hidden_features": 2},
    "GroupNorm": {"num_features": 2, "num_groups": 1}, "InstanceNorm": {"num_features": 2}, "LayerNorm": {"num_features": 2},
    "RMSNorm": {"num_features": 2}, "Linear": {"in_features": 2, "out_features": 2},
    "LinearGeneral": {"in_features": 2, "out_features": 2}, "LoRA": {"in_features": 2, "lora_rank": 1, "out_features": 2},
    "LoRALinear": {"in_features": 2, "out_features": 2, "lora_rank": 1},
    "MultiHeadAttention": {"num_heads": 1, "in_features": 2},
}  # fmt: skip


def layer() -> nnx.Linear:
    return nnx.Linear(2, 2, rngs=RNGS)


MADE = {
    "flax.nnx.Bidirectional": lambda: nnx.Bidirectional(cell(), cell()),
    "flax.nnx.ModelAndOptimizer": lambda: nnx.ModelAndOptimizer(layer(), optax.adam(1.0)),
    "flax.nnx.MultiMetric": lambda: nnx.MultiMetric(loss=nnx.metrics.Average()),
    "flax.nnx.Optimizer": lambda: nnx.Optimizer(layer(), optax.adam(1.0), wrt=nnx.Param),
    "flax.nnx.PReLU": nnx.PReLU,
    "flax.nnx.RNN": lambda: nnx.RNN(nnx.LSTMCell(2, 2, rngs=RNGS)),
    "flax.nnx.RngStream": lambda: nnx.RngStream(0, tag="a"),
    "flax.nnx.Rngs": lambda: nnx.Rngs(0),
    "flax.nnx.SpectralNorm": lambda: nnx.SpectralNorm(layer(), rngs=RNGS),
    "flax.nnx.WeightNorm": lambda: nnx.WeightNorm(layer(), rngs=RNGS),
    "flax.nnx.metrics.Accuracy": nnx.metrics.Accuracy,
    "flax.nnx.metrics.Average": nnx.metrics.Average,
    "flax.nnx.metrics.MultiMetric": lambda: nnx.metrics.MultiMetric(loss=nnx.metrics.Average()),
    "flax.nnx.metrics.Welford": nnx.metrics.Welford,
}


def cell() -> Any:
    return nnx.RNN(nnx.LSTMCell(2, 2, rngs=RNGS))


def leaves(value: Any) -> list[Any]:
    return [leaf for leaf in jax.tree.leaves(value) if eqx.is_array(leaf)]


@pytest.mark.parametrize("name", sorted(NNX_WITH_ARRAYS))
def test_layers_of_nnx_hold_arrays(name: str) -> None:
    short = name.rpartition(".")[2]
    made = MADE[name]() if name in MADE else getattr(nnx, short)(**SIZES[short], rngs=RNGS)
    assert leaves(made)


EQUINOX: dict[str, Any] = {
    "BatchNorm": lambda: eqx.nn.BatchNorm(2, "batch", mode="batch"),
    "Conv": lambda: eqx.nn.Conv(1, 2, 2, 2, key=KEY),
    "Conv1d": lambda: eqx.nn.Conv1d(2, 2, 2, key=KEY),
    "Conv2d": lambda: eqx.nn.Conv2d(2, 2, 2, key=KEY),
    "Conv3d": lambda: eqx.nn.Conv3d(2, 2, 2, key=KEY),
    "ConvTranspose": lambda: eqx.nn.ConvTranspose(1, 2, 2, 2, key=KEY),
    "ConvTranspose1d": lambda: eqx.nn.ConvTranspose1d(2, 2, 2, key=KEY),
    "ConvTranspose2d": lambda: eqx.nn.ConvTranspose2d(2, 2, 2, key=KEY),
    "ConvTranspose3d": lambda: eqx.nn.ConvTranspose3d(2, 2, 2, key=KEY),
    "Embedding": lambda: eqx.nn.Embedding(2, 2, key=KEY),
    "GRUCell": lambda: eqx.nn.GRUCell(2, 2, key=KEY),
    "GroupNorm": lambda: eqx.nn.GroupNorm(1, 2),
    "LSTMCell": lambda: eqx.nn.LSTMCell(2, 2, key=KEY),
    "LayerNorm": lambda: eqx.nn.LayerNorm(2),
    "Linear": lambda: eqx.nn.Linear(2, 2, key=KEY),
    "MLP": lambda: eqx.nn.MLP(2, 2, 2, 1, key=KEY),
    "MultiheadAttention": lambda: eqx.nn.MultiheadAttention(1, 2, key=KEY),
    "PReLU": lambda: eqx.nn.PReLU(),
    "RMSNorm": lambda: eqx.nn.RMSNorm(2),
    "SpectralNorm": lambda: eqx.nn.SpectralNorm(eqx.nn.Linear(2, 2, key=KEY), "weight", key=KEY),
    "WeightNorm": lambda: eqx.nn.WeightNorm(eqx.nn.Linear(2, 2, key=KEY)),
    "AdaptiveAvgPool1d": lambda: eqx.nn.AdaptiveAvgPool1d(2),
    "AdaptiveAvgPool2d": lambda: eqx.nn.AdaptiveAvgPool2d(2),
    "AdaptiveAvgPool3d": lambda: eqx.nn.AdaptiveAvgPool3d(2),
    "AdaptiveMaxPool1d": lambda: eqx.nn.AdaptiveMaxPool1d(2),
    "AdaptiveMaxPool2d": lambda: eqx.nn.AdaptiveMaxPool2d(2),
    "AdaptiveMaxPool3d": lambda: eqx.nn.AdaptiveMaxPool3d(2),
    "AvgPool1d": lambda: eqx.nn.AvgPool1d(2),
    "AvgPool2d": lambda: eqx.nn.AvgPool2d(2),
    "AvgPool3d": lambda: eqx.nn.AvgPool3d(2),
    "MaxPool1d": lambda: eqx.nn.MaxPool1d(2),
    "MaxPool2d": lambda: eqx.nn.MaxPool2d(2),
    "MaxPool3d": lambda: eqx.nn.MaxPool3d(2),
    "Dropout": lambda: eqx.nn.Dropout(0.5),
    "Identity": lambda: eqx.nn.Identity(),
    "Lambda": lambda: eqx.nn.Lambda(jax.nn.relu),
    "RotaryPositionalEmbedding": lambda: eqx.nn.RotaryPositionalEmbedding(2),
}


@pytest.mark.parametrize("name", sorted(EQUINOX))
def test_layers_of_equinox(name: str) -> None:
    assert bool(leaves(EQUINOX[name]())) == holds_arrays(f"equinox.nn.{name}")


def test_every_layer_of_equinox_is_here() -> None:
    """The others of its classes depend on what they are given, or are not made by users."""
    classes = {name for name, value in vars(eqx.nn).items() if inspect.isclass(value)}
    others = {"AdaptivePool", "Pool", "Sequential", "Shared", "State", "StateIndex", "StatefulLayer"}
    assert classes - others <= set(EQUINOX)
    assert {f"equinox.nn.{name}" for name in others} <= EQUINOX_WITHOUT_ARRAYS


def test_containers_hold_what_they_are_given() -> None:
    assert {"flax.nnx.List"} == NNX_LISTS
    assert [type(part) for part in nnx.List([layer(), layer()])] == [nnx.Linear, nnx.Linear]
    assert {"flax.nnx.Dict"} == NNX_DICTS
    assert isinstance(nnx.Dict(a=layer())["a"], nnx.Linear)
    assert {"flax.nnx.data", "flax.nnx.static"} == NNX_NOTES

    class Noted(nnx.Module):
        def __init__(self) -> None:
            self.layers = nnx.data([layer()])
            self.sizes = nnx.static((1, 2))

    assert isinstance(Noted().layers[0], nnx.Linear)
    assert Noted().sizes == (1, 2)
    assert {"equinox.nn.Sequential", "flax.nnx.Sequential"} == SEQUENTIALS
    assert leaves(eqx.nn.Sequential([EQUINOX["Linear"]()]))
    assert not leaves(eqx.nn.Sequential([EQUINOX["Dropout"]()]))
    assert leaves(nnx.Sequential(layer()))
    assert not leaves(nnx.Sequential(jax.nn.relu))


@pytest.mark.parametrize("take", [nnx.split, nnx.state])
def test_filters_get_the_path_and_the_variable_of_each_leaf(take: Callable[..., object]) -> None:
    seen: list[tuple[tuple[str, ...], bool]] = []

    def chosen(path: tuple[str, ...], leaf: nnx.Variable[jax.Array]) -> bool:
        seen.append((path, isinstance(leaf[...], jax.core.Tracer)))
        return True

    @nnx.jit
    def forward(layer: nnx.Linear) -> None:
        take(layer, chosen)

    forward(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
    assert sorted(set(seen)) == [(("bias",), True), (("kernel",), True)]


MORE = {"error_if": (False, "wrong"), "branched_error_if": (False, 0, ["wrong"]), "doc_repr": ("text",)}


@pytest.mark.parametrize("name", PASSED_ON)
def test_functions_that_pass_on_what_they_are_given(name: str) -> None:
    module, _, last = name.rpartition(".")
    given = jax.numpy.arange(3.0)
    assert (getattr(importlib.import_module(module), last)(given, *MORE.get(last, ())) == given).all()


def test_an_enumeration_chooses_under_a_trace() -> None:
    module, _, last = ENUMERATION.rpartition(".")
    first: Any = type("First", (getattr(importlib.import_module(module), last),), {"good": "a", "bad": "b"})
    second: Any = type("Second", (first,), {"worse": "c"})
    chosen = jax.jit(lambda x: second.promote(first.where(x > 0, first.good, first.bad)))(1.0)
    assert chosen == second.good


LINEN_SIZES: dict[str, dict[str, Any]] = {
    "BatchNorm": {"use_running_average": True}, "Conv": {"features": 2, "kernel_size": (2,)},
    "ConvLocal": {"features": 2, "kernel_size": (2,)}, "ConvTranspose": {"features": 2, "kernel_size": (2,)},
    "Dense": {"features": 2}, "DenseGeneral": {"features": (2, 3)},
    "Einsum": {"shape": (2, 3), "einsum_str": "bta,ac->btc", "use_bias": False}, "Embed": {"num_embeddings": 4, "features": 2},
    "GroupNorm": {"num_groups": 1}, "MultiHeadAttention": {"num_heads": 1}, "MultiHeadDotProductAttention": {"num_heads": 1},
    "SelfAttention": {"num_heads": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(LAYERS_IN_DTYPE))
def test_a_layer_gives_one_array_in_its_dtype(name):
    api, _, layer = name.removeprefix("flax.").partition(".")
    x = jnp.ones((3, 4, 2), jnp.int32 if layer == "Embed" else jnp.float32)
    if api == "linen":
        made = getattr(flax.linen, layer)(**LINEN_SIZES.get(layer, {}), dtype=jnp.bfloat16)
        given, _ = made.init_with_output(KEY, x)
    else:
        sizes = dict(SIZES[layer])
        if layer == "Einsum":
            sizes = {"einsum_str": "bta,ac->btc", "kernel_shape": (2, 3)}
        if layer == "MultiHeadAttention":
            sizes["decode"] = False
        given = getattr(nnx, layer)(**sizes, dtype=jnp.bfloat16, rngs=nnx.Rngs(0))(x)
    assert isinstance(given, jax.Array)
    assert given.dtype == jnp.bfloat16
