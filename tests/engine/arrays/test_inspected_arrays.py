"""What `inspect --arrays` says of the variables of a program: a comment at the end of a line holds it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.source.read import read_source
from jaxlint.staging.inspection.arrays import inspect_arrays
from jaxlint.staging.reach import entry_points

PROGRAMS = {
    "arguments of the command line": """
import argparse
import numpy as np
import jax.numpy as jnp

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--rate", type=float, default=0.1)
parser.add_argument("--limit", type=int)
args = parser.parse_args()
a = np.random.default_rng(0).normal(size=(args.batch_size, 5)).astype(np.float32)  # a: f32[batch_size, 5]
b = jnp.asarray(a) * args.rate  # b: f32[batch_size, 5]
c = jnp.zeros(2 * args.batch_size)  # c: f32[2*batch_size]
""",
    "lists of any length, and random choices": """
import random
import numpy as np
import jax.numpy as jnp

def some(n):
    rng = np.random.default_rng(0)
    order = rng.permutation(np.ones(7))  # order: f64[7]
    drawn = rng.choice(5, (3, 2))  # drawn: i64[3, 2]
    rows, kept = [], []
    for i in range(n):
        rows.append(jnp.ones(3) * i)
        kept.append((np.ones(4, np.float32), i))
    stacked = jnp.stack(rows)  # stacked: f32[?, 3]
    joined = np.concatenate([np.ones((i, 2)) for i in range(n)])  # joined: f64[?, 2]
    firsts, seconds = zip(*random.sample(kept, 2))
    batch = jnp.stack(firsts)  # batch: f32[?, 4]
    total = sum(jnp.sum(row) for row in rows)  # total: f32[]
    least = abs(np.ones(3))  # least: f64[3]
""",
    "layers of equinox that give and take scalars": """
import jax, jax.numpy as jnp
import equinox as eqx

key = jax.random.key(0)
x = jnp.ones((6, 5))
one = jax.vmap(eqx.nn.MLP(5, 1, 8, 2, key=key))(x)  # one: f32[6, 1]
none = jax.vmap(eqx.nn.MLP(5, "scalar", 8, 2, key=key))(x)  # none: f32[6]
last = jax.vmap(eqx.nn.Linear(5, "scalar", key=key))(x)  # last: f32[6]
wide = jax.vmap(eqx.nn.Linear("scalar", 3, key=key))(last)  # wide: f32[6, 3]
""",
    "attention and recurrent cells": """
import jax, jax.numpy as jnp
import equinox as eqx
import flax.linen as nn
import haiku as hk

class Attention(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(100, 32)(tokens)
        mask = nn.make_causal_mask(tokens)  # mask: f32[2, 1, 7, 7]
        y = nn.MultiHeadDotProductAttention(4)(x, x, mask=mask)  # y: f32[2, 7, 32]
        pooled = nn.max_pool(jnp.ones((2, 8, 8, 3)), (2, 2), (2, 2))  # pooled: f32[2, 4, 4, 3]
        cell = nn.LSTMCell(16)
        carry = cell.initialize_carry(jax.random.PRNGKey(0), x[:, 0].shape)
        (c, h), z = cell(carry, x[:, 0])  # c: f32[2, 16]; z: f32[2, 16]
        return y

Attention().init(jax.random.PRNGKey(0), jnp.zeros((2, 7), jnp.int32))

def net(x):
    core = hk.GRU(16)
    y, state = core(x, core.initial_state(x.shape[0]))  # y: f32[3, 16]; state: f32[3, 16]
    flat = hk.Flatten()(jnp.ones((3, 4, 5)))  # flat: f32[3, 20]
    kept = hk.dropout(hk.next_rng_key(), 0.5, flat)  # kept: f32[3, 20]
    return hk.nets.MLP([32, 10])(y)

out = hk.transform(net).apply({}, None, jnp.ones((3, 4)))  # out: f32[3, 10]
linear = eqx.nn.Linear(4, 8, key=jax.random.PRNGKey(0))
rows = jax.vmap(linear)(jnp.ones((3, 4)))  # rows: f32[3, 8]
step = eqx.nn.GRUCell(4, 8, key=jax.random.PRNGKey(0))(jnp.ones(4), jnp.zeros(8))  # step: f32[8]
""",
    "layers in a loop over keys and sizes": """
import string
import jax, jax.numpy as jnp

def init(key):
    layers, named = [], {}
    for layer_key, (n, m) in zip(jax.random.split(key, 2), [(4, 8), (8, 3)]):
        layers.append({"w": jax.random.normal(layer_key, (n, m)), "b": jnp.zeros(m)})
    for gate in ("z", "r"):
        named[f"w_{gate}"] = jnp.ones((len(string.digits), 5))
    return layers, named

layers, named = init(jax.random.key(0))
w = layers[1]["w"]  # w: f32[8, 3]
z = jnp.ones(10) @ named["w_z"]  # z: f32[5]
x, y = jnp.meshgrid(jnp.ones(3), jnp.ones(4))  # x: f32[4, 3]; y: f32[4, 3]
raw = jax.random.key_data(jax.random.key(0))  # raw: u32[2]
old = jax.random.split(jax.random.PRNGKey(0), 3)  # old: u32[3, 2]
""",
    "comparisons and signs of NumPy": """
import jax
import numpy as np

labels = np.arange(7) % 3
same = labels == labels[0]  # same: bool[7]
where = np.flatnonzero(same)  # where: i64[?]
drawn = np.random.default_rng(0).random((2, 3)) > 0.5  # drawn: bool[2, 3]
back = -np.ones(3, np.float32)  # back: f32[3]
""",
    "arrays beside what is unknown": """
import jax.numpy as jnp
from elsewhere import load

def f(x):  # x: f32[3] | ...
    y = x * 2  # y: f32[3] | ...
    return y

f(jnp.ones(3))
f(load())
""",
    "sizes that the program names": """
import jax, jax.numpy as jnp

@jax.jit
def block(x, w):
    B, T, D = x.shape
    q = x.reshape(B, T, 4, D // 4)  # q: ?[B, T, 4, D // 4] tracer
    k = q.transpose(0, 2, 1, 3)  # k: ?[B, 4, T, D // 4] tracer
    s = jnp.einsum("bhqd,bhkd->bhqk", k, k)  # s: ?[B, 4, T, T] tracer
    h = jnp.concatenate([x, x], axis=-1)  # h: ?[B, T, 2*D] tracer
    z = jnp.zeros((B, 4 * D))  # z: f32[B, 4*D] tracer
    last = x[:, -1]  # last: ?[B, D] tracer
    tail = x[:, 1:]  # tail: ?[B, T - 1, D] tracer
    flat = x.reshape(B, -1)  # flat: ?[B, T*D] tracer
    rest = jnp.ones((*x.shape[:-1], 7))  # rest: f32[B, T, 7] tracer
    more = jnp.ones(x.shape[:2] + (8,))  # more: f32[B, T, 8] tracer
    return s, h, z, last, tail, flat, rest, more
""",
    "a call says the sizes": """
import jax, jax.numpy as jnp
from jax import lax

@jax.jit
def step(x, w):  # x: f32[2, 8] tracer; w: f32[8, 3] tracer
    y = x @ w  # y: f32[2, 3] tracer
    return y

out = step(jnp.ones((2, 8)), jnp.ones((8, 3)))  # out: f32[2, 3]

def body(c, x):  # c: f32[3] tracer; x: f32[3] tracer
    n = c + x  # n: f32[3] tracer
    return n, x * 2

last, all_of_them = lax.scan(body, jnp.zeros(3), jnp.ones((5, 3)))  # last: f32[3]; all_of_them: f32[5, 3]
rows = jax.vmap(lambda a, b: a @ b, in_axes=(0, None))(jnp.ones((4, 8)), jnp.ones(8))  # rows: f32[4]
columns = jax.vmap(jnp.sin, out_axes=1)(jnp.ones((4, 8)))  # columns: f32[8, 4]
whole = lax.fori_loop(0, 3, lambda i, v: v * 2, jnp.ones((2, 2)))  # whole: f32[2, 2]
""",
    "a key for each layer or member": """
import jax, jax.numpy as jnp
import numpy as np

def init(key, width):
    return {"w": jax.random.normal(key, (width, 2))}

def make(key, members=5):
    shapes = {"q": (64, 64), "k": (64, 16)}
    keys = jax.random.split(key, len(shapes))
    layers = {name: jax.random.normal(k, s) for k, (name, s) in zip(keys, shapes.items())}
    q = layers["q"]  # q: f32[64, 64]
    k = layers["k"]  # k: f32[64, 16]
    ensemble = jax.vmap(init, in_axes=(0, None))(jax.random.split(key, members), 3)
    w = ensemble["w"]  # w: f32[5, 3, 2]
    return q, k, w

make(jax.random.PRNGKey(0))
scale = np.sqrt(64, dtype=np.float32)  # scale: f32[]
""",
    "layers": """
import jax, jax.numpy as jnp
import equinox as eqx
import flax.linen as nn
import haiku as hk
from flax import nnx

class Net(nn.Module):
    width: int = 64

    @nn.compact
    def __call__(self, x):  # x: f32[4, 20]
        h = nn.Dense(self.width)(x)  # h: f32[4, 64]
        h = nn.relu(nn.LayerNorm()(h))  # h: f32[4, 64]
        kernel = self.param("kernel", nn.initializers.zeros, (x.shape[-1], 3))  # kernel: f32[20, 3]
        product = x @ kernel  # product: f32[4, 3]
        words = nn.Embed(100, 32)(jnp.zeros((4, 7), jnp.int32))  # words: f32[4, 7, 32]
        image = nn.Conv(features=16, kernel_size=(3, 3))(jnp.ones((2, 8, 8, 3)))  # image: f32[2, 8, 8, 16]
        return nn.Dense(features=10)(h), words, image

x = jnp.ones((4, 20))
Net().apply(Net().init(jax.random.key(0), x), x)

class Other(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(20, 30, rngs=rngs)

    def __call__(self, x):
        h = self.first(x)  # h: f32[4, 30]
        return nnx.relu(h)

Other(nnx.Rngs(0))(x)
one = eqx.nn.Linear(20, 6, key=jax.random.key(0))(jnp.ones(20))  # one: f32[6]

@hk.transform
def forward(x):
    w = hk.get_parameter("w", (x.shape[-1], 5), init=jnp.zeros)  # w: f32[20, 5]
    a = hk.Linear(12)(x)  # a: f32[4, 12]
    low = hk.get_parameter("low", [2], jnp.bfloat16, init=jnp.zeros)  # low: bf16[2]
    steps = hk.get_state("steps", (), jnp.int32, init=jnp.zeros)  # steps: i32[]
    return a

forward.init(jax.random.key(0), x)
""",
    "a tree as a vector, and the vector as a tree": """
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

def twice(tree):
    flat, unravel = ravel_pytree(tree)  # flat: f32[26]
    back = unravel(2 * flat)
    first = back["a"]  # first: f32[4, 5]
    one, _ = ravel_pytree(first)  # one: f32[20]
    return first

twice({"a": jnp.zeros((4, 5)), "b": jnp.ones((2, 3))})
""",
    "derivatives of arrays by arrays": """
import jax, jax.numpy as jnp

def ends(w):
    return w[:2] ** 2

def total(w):
    return (w ** 3).sum()

x = jnp.ones(5)
forward = jax.jacfwd(ends)(x)  # forward: f32[2, 5]
backward = jax.jacrev(ends)(x)  # backward: f32[2, 5]
curvature = jax.hessian(total)(x)  # curvature: f32[5, 5]
each = jax.vmap(jax.jacfwd(ends))(jnp.ones((7, 5)))  # each: f32[7, 2, 5]
""",
    "windows, choices and what comes back to the host": """
import jax, jax.numpy as jnp
from jax import lax

x = jnp.ones((4, 6))
pooled = lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")  # pooled: f32[2, 3]
chosen = jnp.select([x > 0, x < 0], [x, -x], 0)  # chosen: f32[4, 6]
whole = jnp.block([[x, x], [x, x]])  # whole: f32[8, 12]
density = jax.scipy.stats.norm.logpdf(x, scale=x[0])  # density: f32[4, 6]
host = jax.device_get(x)  # host: f32[4, 6]
""",
    "the rank of what a function returns to its second call": """
import jax.numpy as jnp

def gram(x):
    return x @ x.T

def main(n):
    first = gram(jnp.ones((n, 3)))  # first: f32[?, ?]
    second = gram(jnp.ones((n, 3)))  # second: f32[?, ?]
    third = second + 1  # third: f32[?, ?]
    return first, third

main(len(input()))
""",
    "annotations of jaxtyping": """
import jax, jax.numpy as jnp
from jaxtyping import Array, Float, Int

@jax.jit
def attend(q: Float[Array, "batch time dim"], w: Float[Array, "dim 3"], ids: Int[Array, "batch"], s: Float[Array, "*b 2"]):
    y = q @ w  # y: ?[batch, time, 3] tracer
    z = y.sum(axis=1)  # z: ?[batch, 3] tracer
    both = z[:, 0] + ids  # both: ?[batch] tracer
    return both

def called(x: Float[Array, "n 2"]):
    s = x.sum(axis=1)  # s: f32[7]
    return s

called(jnp.ones((7, 2)))
""",
    "two calls that differ": """
import jax.numpy as jnp

def scaled(x):  # x: f32[2, 3] | f32[5, 3]
    y = x * 2  # y: f32[2, 3] | f32[5, 3]
    return y

scaled(jnp.ones((2, 3)))
scaled(jnp.ones((5, 3)))
""",
    "trees": """
import jax, jax.numpy as jnp

def init(params):
    return jax.tree.map(jnp.zeros_like, params), jnp.zeros((), jnp.int32)

def update(grads, state, params):
    moments, count = state
    moments = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments, grads)
    steps = jax.tree.map(lambda p, m: -0.1 * m.astype(p.dtype), params, moments)
    return steps, (moments, count + 1)

def loss(params, x):  # x: f32[5, 3]
    return jnp.sum((x @ params["w"] + params["b"]) ** 2)

params = {"w": jnp.ones((3, 4)), "b": jnp.zeros(4, jnp.bfloat16)}
state = init(params)
for _ in range(100):
    value, grads = jax.value_and_grad(loss)(params, jnp.ones((5, 3)))  # value: f32[]
    steps, state = update(grads, state, params)
    params = jax.tree.map(jnp.add, params, steps)
w = params["w"]  # w: f32[3, 4]
b = params["b"]  # b: bf16[4]
moment = state[0]["b"]  # moment: bf16[4]
count = state[1]  # count: i32[]
leaves, structure = jax.tree.flatten(params)
first = leaves[0]  # first: bf16[4]
again = jax.tree.unflatten(structure, [leaf * 2 for leaf in leaves])
doubled = again["w"]  # doubled: f32[3, 4]
norm = jax.tree.reduce(lambda total, leaf: total + jnp.sum(leaf), params, 0.0)  # norm: f32[]
""",
    "each call for itself": """
import jax, jax.numpy as jnp

def padded(x, axis):  # x: f32[2] | f32[2, 3]
    if x.ndim == 1:
        x = x[None]  # x: f32[1, 2]
    rows = [jnp.sum(x) for _ in range(len(x))]
    counted = jnp.stack(rows)  # counted: f32[1] | f32[2]
    return x

one = padded(jnp.ones(2), 0)  # one: f32[1, 2]
two = padded(jnp.ones((2, 3)), 0)  # two: f32[2, 3]
three = padded(jnp.ones(2), 0)  # three: f32[1, 2]

def flat(x):
    return x.reshape(-1) if jnp.issubdtype(x.dtype, jnp.floating) else x

four = flat(jnp.ones((2, 3)))  # four: f32[6]
five = flat(jnp.ones((2, 3), int))  # five: i32[2, 3]
for size in (1, 2):
    six = jnp.ones(size)  # six: f32[1] | f32[2]
u, s, vt = jnp.linalg.svd(jnp.ones((4, 3)), full_matrices=False)  # u: f32[4, 3]; s: f32[3]; vt: f32[3, 3]
key = jax.random.PRNGKey(0)  # key: u32[2]
k1, k2 = jax.random.split(key)  # k1: u32[2]
i, v = jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * jnp.ones(())), (0, 0))  # v: f32[]
""",
    "numbers and dtypes": """
import jax.numpy as jnp
import numpy as np

half = jnp.ones((2, 3), jnp.bfloat16)  # half: bf16[2, 3]
lifted = half * np.float32(2)  # lifted: f32[2, 3]
kept = half * 2.0  # kept: bf16[2, 3]
mask = half > 0  # mask: bool[2, 3]
table = np.zeros((4, 5))  # table: f64[4, 5]
moved = jnp.asarray(table)  # moved: f32[4, 5]
count = len(half)
ones = jnp.ones(count * 2)  # ones: f32[4]
mean = half.mean(axis=0, keepdims=True)  # mean: bf16[1, 3]
""",
}


def test_tests_are_run_with_each_row_of_their_tables(tmp_path: Path) -> None:
    facts = facts_in(
        tmp_path,
        """
import jax.numpy as jnp
import pytest
from absl.testing import parameterized

def scaled(x, by):
    y = x * by
    return y

class Test(parameterized.TestCase):
    def setUp(self):
        self.x = jnp.ones((2, 3))

    @parameterized.product(dtype=[jnp.float32, jnp.bfloat16], n=[1, 2])
    def test_rows(self, dtype, n):
        z = scaled(jnp.zeros((n, 3), dtype), 2)
        both = self.x + z

@pytest.fixture
def wide():
    return jnp.ones((4, 7))

@pytest.mark.parametrize("n", [3, 5])
def test_fixture(wide, n):
    part = wide[:, :n]
    scaled(part, 3)
""",
        "program_test.py",
    )
    assert facts[16, "z"] == "f32[1, 3] | f32[2, 3] | bf16[1, 3] | bf16[2, 3]"
    assert facts[17, "both"] == "f32[2, 3]"
    assert facts[25, "part"] == "f32[4, 3] | f32[4, 5]"
    assert facts[7, "y"].startswith("f32[1, 3] | f32[2, 3] | bf16[1, 3] | bf16[2, 3] | ...")


def test_a_layer_under_vmap_does_not_give_one_row(tmp_path: Path) -> None:
    facts = facts_in(
        tmp_path,
        """
import equinox as eqx, jax, jax.numpy as jnp

class Block(eqx.Module):
    norm: eqx.nn.LayerNorm

    def __init__(self):
        self.norm = eqx.nn.LayerNorm(3)

    def __call__(self, x):
        x = jnp.zeros((4, 3))
        y = jax.vmap(self.norm)(x)
        return y
""",
    )
    assert (11, "x") in facts
    assert (12, "y") not in facts or facts[12, "y"].endswith("[4, 3] tracer")


def facts_in(folder: Path, text: str, name: str = "program.py") -> dict[tuple[int, str], str]:
    path = folder / name
    path.write_text(text)
    facts, result = inspect_arrays([read_source(path, str(path))])
    assert not result.errors
    return {(fact.line, fact.name): fact.written() for fact in facts}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_arrays_are_what_comments_say(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name]
    ast.parse(text)
    facts = facts_in(tmp_path, text)
    wanted = {}
    for number, line in enumerate(text.splitlines(), 1):
        for part in line.partition("#")[2].split(";"):
            if ":" in part:
                variable, _, what = part.strip().partition(": ")
                wanted[number, variable] = what
    assert wanted
    assert {place: facts.get(place) for place in wanted} == wanted


def test_a_shape_that_is_no_common_one_is_not_said(tmp_path: Path) -> None:
    facts = facts_in(
        tmp_path,
        """
import jax.numpy as jnp

def f(x, flag, n):
    if flag:
        y = jnp.ones(3)
    else:
        y = jnp.ones((3, 1))
    z = y * 2
    grown = jnp.zeros(1)
    for _ in range(n):
        grown = jnp.concatenate([grown, grown])
    after = grown + 1
    for _ in range(3):
        counted = jnp.concatenate([z, z]) if _ == 0 else jnp.ones(_)
    last = counted * 1
    return z, after, last
""",
    )
    assert facts[9, "z"] == "f32[...]"
    assert facts[13, "after"] == "f32[?]"
    assert facts[16, "last"] == "f32[2]"


def test_calls_that_are_not_evaluated_leave_other_arrays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """
import jax.numpy as jnp
import pytest

def double(x):
    y = x * 2
    return y

@pytest.mark.parametrize("x", [jnp.ones(3), jnp.ones(3), jnp.ones(4)])
def test_double(x):
    double(x)
"""
    assert facts_in(tmp_path, program)[6, "y"] == "f32[3] | f32[4]"
    monkeypatch.setattr(entry_points, "_MAX_ROWS", 2)
    assert facts_in(tmp_path, program)[6, "y"] == "f32[3] | ..."
