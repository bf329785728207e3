"""A second copy of a network that is seen to be small does not matter: `missing-donation` is advice there."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.memory.missing_donation import MissingDonation

_LINEN = """
import flax.linen as nn, jax, jax.numpy as jnp, optax
from flax.training.train_state import TrainState
from data import batches

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        LAYERS
        return nn.Dense(3)(x)

@jax.jit
def step(state, batch):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, batch["x"]) - batch["y"]) ** 2)
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params))

def main():
    net = Net()
    params = net.init(jax.random.key(0), jnp.ones((1, 784)))["params"]
    state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adamw(1e-3))
    for batch in DATA:
        state = step(state, batch)
    return state

main()
"""
_MADE_UP = '[{"x": jnp.ones((4, 784)), "y": jnp.zeros((4, 3))}] * 3'
_EQUINOX = """
import equinox as eqx, jax, jax.numpy as jnp, optax
from data import batches

opt = optax.adam(1e-3)

@eqx.filter_jit
def step(model, opt_state, x):
    grads = eqx.filter_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2))(model)
    updates, opt_state = opt.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state

def main():
    model = MODEL
    opt_state = opt.init(eqx.filter(model, eqx.is_array))
    for x in batches():
        model, opt_state = step(model, opt_state, x)
    return model

main()
"""


def levels(text: str) -> list[Severity]:
    source = source_from_bytes(text.encode(), Path("train.py"), "train.py")
    return [one.severity for one in analyze([source], [MissingDonation()]).findings]


@pytest.mark.parametrize(
    ("layers", "data", "severity"),
    [
        ("x = nn.relu(nn.Dense(64)(x))", "batches()", Severity.INFO),
        ("x = nn.Dropout(0.1, deterministic=True)(nn.Dense(32)(x))", "batches()", Severity.INFO),
        ("x = nn.relu(nn.Dense(512)(x))", "batches()", Severity.INFO),
        ("x = nn.relu(nn.Dense(8192)(x))", "batches()", Severity.WARNING),
        ("x = nn.relu(nn.Dense(128)(x))", "batches()", Severity.INFO),  # of 784 numbers, as `init` shows
        ("x = nn.relu(nn.ConvLocal(64, (3, 3))(x))", "batches()", Severity.INFO),  # of any number of weights
        (
            "for width in widths: x = nn.Conv(width, (3, 3), name='resnet50')(x)",
            "batches()",
            Severity.WARNING,
        ),
        ("for width in widths: x = nn.Dense(width)(x)", "batches()", Severity.INFO),  # nothing shows its size
        ("for width in widths: x = nn.Conv(width, (3, 3))(x)", "batches()", Severity.INFO),
    ],
)
def test_the_layers_of_linen_count(layers: str, data: str, severity: Severity) -> None:
    assert levels(_LINEN.replace("LAYERS", layers).replace("DATA", data)) == [severity]


@pytest.mark.parametrize(
    ("model", "severity"),
    [
        ("eqx.nn.MLP(4, 1, 32, 2, key=jax.random.key(0))", Severity.INFO),
        ("eqx.nn.MLP(4, 1, 1024, 2, key=jax.random.key(0))", Severity.INFO),
        ("eqx.nn.MLP(4, 1, 2048, 2, key=jax.random.key(0))", Severity.WARNING),
        ("eqx.nn.MLP(4, 1, width, 2, key=jax.random.key(0))", Severity.INFO),  # nothing shows its size
        ("eqx.nn.MLP(vocab_size, 1, width, 2, key=jax.random.key(0))", Severity.INFO),
        ("eqx.nn.Sequential([eqx.nn.Conv2d(3, width, 3), eqx.nn.Linear(width, 2)])", Severity.INFO),
        ("eqx.nn.MLP(cifar.size, 1, width, 2, key=jax.random.key(0))", Severity.WARNING),  # seldom small
    ],
)
def test_the_layers_of_equinox_count(model: str, severity: Severity) -> None:
    assert levels(_EQUINOX.replace("MODEL", model)) == [severity]


_TABLE = """
import jax, jax.numpy as jnp, numpy as np
from data import batches

params = {"w": np.random.normal(0, 0.1, SHAPE), "b": np.zeros(8)}

@jax.jit
def update(params, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"]) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

for x in batches():
    params = update(params, x)
"""


@pytest.mark.parametrize(
    ("shape", "severity"),
    [
        ("(784, 8)", Severity.INFO),
        ("(784, 800)", Severity.INFO),  # no optimiser keeps moments beside it
        ("(784, 16000)", Severity.WARNING),
    ],
)
def test_the_arrays_of_a_dict_count(shape: str, severity: Severity) -> None:
    assert levels(_TABLE.replace("SHAPE", shape)) == [severity]


_BY_HAND = """
import jax, jax.numpy as jnp, optax
from data import batches
from model import init, transformer

SETUP

@jax.jit
def update(ARGUMENTS, x):
    grads = jax.grad(lambda p: jnp.mean(transformer(p, x) ** 2))(params)
    RETURN

params = init()
for x in batches():
    RESULT = update(RESULT, x)
"""
_ALONE = {
    "SETUP": "",
    "ARGUMENTS": "params",
    "RESULT": "params",
    "RETURN": "return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)",
}
_WITH_STATE = {
    "SETUP": "tx = optax.adam(1e-3)\nstate = tx.init(init())",
    "ARGUMENTS": "params, state",
    "RESULT": "params, state",
    "RETURN": "updates, state = tx.update(grads, state); return optax.apply_updates(params, updates), state",
}


@pytest.mark.parametrize(("parts", "severity"), [(_ALONE, Severity.INFO), (_WITH_STATE, Severity.WARNING)])
def test_weights_that_are_updated_by_hand_are_seldom_many(parts: dict[str, str], severity: Severity) -> None:
    text = _BY_HAND
    for name, part in parts.items():
        text = text.replace(name, part)
    assert levels(text) == [severity]


def test_the_sizes_of_an_example_show_nothing() -> None:
    text = _LINEN.replace("from data import batches\n", "").replace("LAYERS", "x = nn.relu(nn.Dense(64)(x))")
    assert levels(text.replace("DATA", _MADE_UP)) == [Severity.WARNING]
