"""`remat-call`: the same parameters, values and gradients, with the blocks computed again in the backward pass."""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from typing import Any

import jax
import numpy as np
import pytest

from tests.engine.codemods.conftest import Rewrite

pytestmark = pytest.mark.usefixtures("compiled_quickly")

LINEN = """
import flax.linen as nn
import jax
import jax.numpy as jnp

class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, scale, train=True):
        h = nn.Dense(self.width)(jnp.sin(nn.Dense(self.width)(x)))
        return x + scale * (h if train else 2 * h)

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(3):
            x = CALL
        return x

net = Net()
x = jnp.ones((4, 8)) * jnp.arange(8)
params = net.init(jax.random.key(0), x)

def loss(params):
    return jnp.sum(net.apply(params, x) ** 2)
"""
NNX = """
import jax
import jax.numpy as jnp
from flax import nnx

class Block(nnx.Module):
    def __init__(self, width, rngs):
        self.a, self.b = nnx.Linear(width, width, rngs=rngs), nnx.Linear(width, width, rngs=rngs)

    def __call__(self, x, scale, train=True):
        h = self.b(jnp.sin(self.a(x)))
        return x + scale * (h if train else 2 * h)

class Net(nnx.Module):
    def __init__(self, rngs):
        self.blocks = nnx.List([Block(8, rngs) for _ in range(3)])

    def __call__(self, x):
        for block in self.blocks:
            x = CALL
        return x

x = jnp.ones((4, 8)) * jnp.arange(8)
graph, params = nnx.split(Net(nnx.Rngs(0)))

def loss(params):
    return jnp.sum(nnx.merge(graph, params)(x) ** 2)
"""
EQUINOX = """
import equinox as eqx
import jax
import jax.numpy as jnp

class Block(eqx.Module):
    a: eqx.nn.Linear
    b: eqx.nn.Linear

    def __call__(self, x, scale, train=True):
        h = self.b(jnp.sin(self.a(x)))
        return x + scale * (h if train else 2 * h)

class Net(eqx.Module):
    blocks: list

    def __call__(self, x):
        for block in self.blocks:
            x = CALL
        return x

keys = jax.random.split(jax.random.key(0), 6)
linears = [eqx.nn.Linear(8, 8, key=key) for key in keys]
params, static = eqx.partition(Net([Block(*pair) for pair in zip(linears[::2], linears[1::2])]), eqx.is_array)
x = jnp.arange(8.0)

def loss(params):
    return jnp.sum(eqx.combine(params, static)(x) ** 2)
"""
HAIKU = """
import haiku as hk
import jax
import jax.numpy as jnp

class Block(hk.Module):
    def __call__(self, x, scale):
        return x + scale * hk.Linear(8)(jnp.sin(hk.Linear(8)(x)))

class Net(hk.Module):
    def __call__(self, x):
        for _ in range(3):
            x = CALL
        return x

net = hk.without_apply_rng(hk.transform(lambda x: Net()(x)))
x = jnp.ones((4, 8)) * jnp.arange(8)
params = net.init(jax.random.key(0), x)

def loss(params):
    return jnp.sum(net.apply(params, x) ** 2)
"""
PLAIN = """
import jax
import jax.numpy as jnp

def block(layer, x, scale, train=True):
    h = jnp.sin(x @ layer["a"]) @ layer["b"]
    return x + scale * (h if train else 2 * h)

def net(params, x):
    for layer in params:
        x = CALL
    return x

x = jnp.ones((4, 8)) * jnp.arange(8)
params = [{"a": jnp.eye(8) * (n + 1) / 3, "b": jnp.eye(8)[::-1] / 2} for n in range(3)]

def loss(params):
    return jnp.sum(net(params, x) ** 2)
"""
# Functions around modules.
LINEN_FUNCTION = """
import flax.linen as nn
import jax
import jax.numpy as jnp

class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(8)(jnp.sin(nn.Dense(8)(x)))

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        inner = Block()

        def block(x):
            return BODY

        for _ in range(3):
            x = block(x)
        return x
"""
LINEN_FUNCTIONAL = """
import flax.linen as nn
import jax
import jax.numpy as jnp

class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(8)(jnp.sin(nn.Dense(8)(x)))

def block(layer, x):
    return Block().apply(layer, x)

def net(params, x):
    for layer in params:
        x = CALL
    return x

x = jnp.ones((4, 8)) * jnp.arange(8)
params = [Block().init(key, x) for key in jax.random.split(jax.random.key(0), 3)]

def loss(params):
    return jnp.sum(net(params, x) ** 2)
"""
HAIKU_FUNCTION = """
import haiku as hk
import jax
import jax.numpy as jnp

def net(x):
    linear = hk.Linear(8)

    def block(x):
        return x + hk.Linear(8)(jnp.sin(linear(x)))

    for _ in range(3):
        x = CALL
    return x

net = hk.without_apply_rng(hk.transform(net))
x = jnp.ones((4, 8)) * jnp.arange(8)
params = net.init(jax.random.key(0), x)

def loss(params):
    return jnp.sum(net.apply(params, x) ** 2)
"""
CASES = {
    "linen": (LINEN, "Block(8)(x, 0.5)", "nn.remat(lambda block, x: block(x, 0.5))(Block(8), x)"),
    "linen with a flag": (LINEN, "Block(8)(x, 0.5, train=False)", "lambda block, x: block(x, 0.5, train=False)"),
    "nnx": (NNX, "block(x, 0.5)", "nnx.remat(lambda block, x: block(x, 0.5))(block, x)"),
    "nnx with a flag": (NNX, "block(x * 2, 0.5, train=False)", "(block, x * 2)"),
    "equinox": (EQUINOX, "block(x, 0.5)", "eqx.filter_checkpoint(block)(x, 0.5)"),
    "equinox with a flag": (EQUINOX, "block(x, 0.5, train=False)", "eqx.filter_checkpoint(block)(x, 0.5, train=False)"),
    "haiku": (HAIKU, "Block()(x, jnp.float32(0.5))", "hk.remat(Block())(x, jnp.float32(0.5))"),
    "haiku, in a function": (HAIKU_FUNCTION, "block(x)", "hk.remat(block)(x)"),
    "linen, given its parameters": (LINEN_FUNCTIONAL, "block(layer, x)", "jax.checkpoint(block)(layer, x)"),
    "plain": (PLAIN, "block(layer, x, jnp.float32(0.5))", "jax.checkpoint(block)(layer, x, jnp.float32(0.5))"),
    "plain with a flag": (PLAIN, "block(layer, x, 0.5, train=False)", "jax.checkpoint(lambda layer, x: block(layer, x, 0.5, train=False))(layer, x)"),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Computed:
    """What a program makes: its parameters, its loss and slopes, and how many sines these take."""

    params: dict[str, Any]
    loss: Any
    slopes: dict[str, Any]
    sines: int


@functools.cache  # one program is the original of several
def computed(text: str) -> Computed:
    module = types.ModuleType("rematerialised_program")
    sys.modules[module.__name__] = module  # dataclasses look for theirs
    exec(compile(text, "program.py", "exec"), module.__dict__)
    loss, params = module.loss, module.params
    value, slopes = jax.jit(jax.value_and_grad(loss))(params)
    return Computed(
        named(params), value, named(slopes), str(jax.make_jaxpr(jax.grad(loss))(params)).count(" sin ")
    )


@pytest.mark.parametrize("policy", ["nothing_saveable", "dots_saveable"])
@pytest.mark.parametrize(("program", "call", "expect"), CASES.values(), ids=CASES)
def test_blocks_are_computed_again_and_all_stays_the_same(
    rewrite: Rewrite, program: str, call: str, expect: str, policy: str
) -> None:
    text = rewrite("remat-call", program.replace("CALL", f"«{call}»"), policy=policy)
    if policy == "nothing_saveable":
        assert expect in text
    else:
        assert "policy=jax.checkpoint_policies.dots_saveable" in text
    before, after = computed(program.replace("CALL", call)), computed(text)
    assert before.params.keys() == after.params.keys()
    for name, leaf in before.params.items():
        np.testing.assert_array_equal(leaf, after.params[name])
    np.testing.assert_allclose(before.loss, after.loss, rtol=1e-5)
    for name, leaf in before.slopes.items():
        np.testing.assert_allclose(leaf, after.slopes[name], rtol=1e-5, atol=1e-5)
    # the sines are computed once more (equal parts are printed once)
    assert before.sines == 3 < after.sines


def named(tree: Any) -> dict[str, Any]:
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


REFUSED = {
    "unknown": ("def net(blocks, x):\n    for block in blocks:\n        x = «block(x)»\n    return x\n", "neither a function"),
    "already": ("def block(x):\n    return x\n\ndef net(x):\n    for _ in range(3):\n        x = «jax.checkpoint(block)(x)»\n    return x\n", "already"),
    "unpacked": ("def block(*x):\n    return x\n\ndef net(x):\n    for _ in range(3):\n        x = «block(*x)»\n    return x\n", "unpacks"),
    "effects": ("def block(x, y):\n    return x\n\ndef net(x, ys):\n    for _ in range(3):\n        x = «block(x, ys.pop())»\n    return x\n", "changes an object"),
    "linen, in a function": (LINEN_FUNCTION.replace("x = block(x)", "x = «block(x)»").replace("BODY", "inner(x)"), "that are not its arguments"),
    "linen, made in a function": (LINEN_FUNCTION.replace("x = block(x)", "x = «block(x)»").replace("BODY", "nn.Dense(8)(x)"), "that are not its arguments"),
    "linen, no module": (LINEN_FUNCTION.replace("x = block(x)", "x = «nn.tanh(x)»"), "not a module"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_sure_is_refused(rewrite: Rewrite, code: str, reason: str) -> None:
    answer = rewrite("remat-call", f"import jax\n\n{code}")
    assert answer.startswith("refused: ")
    assert reason in answer
