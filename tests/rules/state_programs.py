"""Programs whose calls change state: statistics, streams of random numbers, caches, counts. And their look-alikes, which change none.

Each source defines `run()`, which calls the program twice and gives all that it leaves: results, parameters, statistics, streams.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """`rewritten`: codemods that have to rewrite some place of it, since nothing there changes state or the rewrite carries it."""

    code: str
    rewritten: tuple[str, ...] = ()


PLAIN_HEAD = """
import functools
import jax
import jax.numpy as jnp
import numpy as np
"""
NNX_HEAD = f"{PLAIN_HEAD}from flax import nnx\n"
LINEN_HEAD = f"{PLAIN_HEAD}from flax import linen as nn\n"
HAIKU_HEAD = f"{PLAIN_HEAD}import haiku as hk\n"
EQUINOX_HEAD = f"{PLAIN_HEAD}import equinox as eqx\n"

# ---- flax.nnx ----

_NET = """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.blocks = nnx.List([Block(8, rngs) for _ in range(3)])

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x

@nnx.jit
def forward(model, x):
    return model(x)

def run():
    model = Net(nnx.Rngs(0, dropout=1, noise=2))
    first = forward(model, jnp.linspace(-1, 2, 32).reshape(4, 8))
    second = forward(model, jnp.linspace(0, 1, 32).reshape(4, 8))
    return first, second, nnx.to_pure_dict(nnx.state(model))
"""


def _block(parts: str, call: str, extra: str = "") -> str:
    body = "\n".join(f"        {line}" for line in parts.strip().splitlines())
    lines = "\n".join(f"        {line}" for line in call.strip().splitlines())
    return f"""{extra}
class Block(nnx.Module):
    def __init__(self, width, rngs):
{body}

    def __call__(self, x):
{lines}
{_NET}"""


_CELL = """
class Cell(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)
        {made}

    def __call__(self, x):
        {called}

"""
_COUNTED = (
    "self.calls = nnx.Variable(jnp.zeros(()))",
    "self.calls[...] = self.calls[...] + 1\n        return self.linear(x)",
)
_DROPPED = ("self.drop = nnx.Dropout(0.5, rngs=rngs)", "return self.drop(self.linear(x))")
_READ = ("self.scale = nnx.Param(jnp.ones(4))", "return self.linear(x) * self.scale[...]")


def _cell(parts: tuple[str, str], rest: str) -> str:
    return _CELL.format(made=parts[0], called=parts[1]) + rest


_APPENDED = """
@nnx.jit
def rows(model, xs):
    out = []
    for x in xs:
        out.append(model(x))
    return jnp.stack(out)

def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    return rows(model, xs), rows(model, xs + 1), nnx.to_pure_dict(nnx.state(model))
"""
_STACKED = """
def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    first = jnp.stack([model(x) for x in xs])
    second = jnp.stack([model(x) for x in xs + 1])
    return first, second, nnx.to_pure_dict(nnx.state(model))
"""
_BRANCH = """
def forward(model, x):
    if x.sum() > 0:
        y = model(x)
    else:
        y = x * 2
    return y

def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    first = forward(model, jnp.ones(4))
    second = forward(model, -jnp.ones(4))
    return first, second, nnx.to_pure_dict(nnx.state(model))
"""
_WHILE = """
def settle(model, x):
    error = jnp.float32(1.0)
    while error > 0.5:
        x = model(x)
        error = error * 0.7
    return x

def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    first = settle(model, jnp.ones(4))
    second = settle(model, first + 1)
    return first, second, nnx.to_pure_dict(nnx.state(model))
"""
_RECURRENT = """
def unroll(model, h):
    for _ in range(5):
        h = model(h)
    return h

def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    first = unroll(model, jnp.ones(4))
    second = unroll(model, first + 1)
    return first, second, nnx.to_pure_dict(nnx.state(model))
"""
_THROUGH = """
def call(inner, x):
    return inner(x)

def unroll(model, h):
    for _ in range(5):
        h = call(model, h)
    return h

def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    first = unroll(model, jnp.ones(4))
    second = unroll(model, first + 1)
    return first, second, nnx.to_pure_dict(nnx.state(model))
"""
_PARTIAL = """
def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    step = functools.partial(model)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(step(x))
    first = jnp.stack(out)
    second = jnp.stack([step(x) for x in xs])
    return first, second, nnx.to_pure_dict(nnx.state(model))
"""
_GRADIENTS = """
def loss(model, x):
    return jnp.mean(model(x) ** 2)

@nnx.jit
def accumulate(model, xs):
    total = 0.0
    for x in xs:
        value, _ = nnx.value_and_grad(loss)(model, x)
        total = total + value
    return total

def run():
    model = Cell(nnx.Rngs(0, dropout=1))
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    return accumulate(model, xs), accumulate(model, xs), nnx.to_pure_dict(nnx.state(model))
"""
_METHOD = """
class Model(nnx.Module):
    def __init__(self, rngs):
        self.cell = Cell(rngs)

    def encode(self, x):
        return self.cell(x)

    def __call__(self, xs):
        h = xs[0]
        out = []
        for x in xs:
            h = self.encode(x + h)
            out.append(h)
        return jnp.stack(out)

def run():
    model = Model(nnx.Rngs(0, dropout=1))
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    return model(xs), model(xs + 1), nnx.to_pure_dict(nnx.state(model))
"""

NNX = {
    "batch norm in the blocks": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.norm = nnx.BatchNorm(width, rngs=rngs)",
            "return x + jax.nn.relu(self.norm(self.linear(x)))",
        )
    ),
    "dropout in the blocks": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.drop = nnx.Dropout(0.5, rngs=rngs)",
            "return x + self.drop(self.linear(x))",
        )
    ),
    "both, two levels down": Program(
        _block(
            "self.inner = Inner(width, rngs)",
            "return x + self.inner(x)",
            """
class Inner(nnx.Module):
    def __init__(self, width, rngs):
        self.parts = nnx.Sequential(nnx.Linear(width, width, rngs=rngs), nnx.BatchNorm(width, rngs=rngs))
        self.drop = nnx.Dropout(rate=0.25, rngs=rngs)

    def __call__(self, x):
        return self.drop(self.parts(x))
""",
        )
    ),
    "layer norm in the blocks": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.norm = nnx.LayerNorm(width, rngs=rngs)",
            "return x + jax.nn.gelu(self.linear(self.norm(x)))",
        ),
        ("for-to-scan",),
    ),
    "attention in the blocks": Program(
        _block(
            "self.attend = nnx.MultiHeadAttention(2, width, decode=False, rngs=rngs)",
            "return x + self.attend(x)",
        )
    ),
    "a variable that counts in the blocks": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.calls = nnx.Variable(jnp.zeros(()))",
            "self.calls[...] = self.calls[...] + 1\nreturn x + self.linear(x)",
        )
    ),
    "a variable that counts by .value": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.mean = nnx.BatchStat(jnp.zeros(width))",
            "self.mean.value = 0.9 * self.mean.value + 0.1 * x.mean(0)\nreturn x + self.linear(x)",
        )
    ),
    "a helper that changes the variable": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.mean = nnx.BatchStat(jnp.zeros(width))",
            "note(self.mean, x)\nreturn x + self.linear(x)",
            "def note(stat, x):\n    stat[...] = 0.9 * stat[...] + x.mean(0)\n\n",
        )
    ),
    "what the blocks sow": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)",
            "x = x + self.linear(x)\nself.sow(nnx.Intermediate, 'seen', x.mean())\nreturn x",
        )
    ),
    "noise from a stream": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.rngs = rngs",
            "return x + self.linear(x) + 0.1 * jax.random.normal(self.rngs.noise(), x.shape)",
        )
    ),
    "a norm of one's own": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.norm = Norm(width, rngs=rngs)",
            "return x + self.norm(self.linear(x))",
            "\nclass Norm(nnx.BatchNorm):\n    pass\n",
        )
    ),
    "a norm from a table": Program(
        _block(
            "self.linear = nnx.Linear(width, width, rngs=rngs)\nself.norm = NORMS['batch'](width, rngs=rngs)",
            "return x + self.norm(self.linear(x))",
            "NORMS = {'batch': nnx.BatchNorm, 'layer': nnx.LayerNorm}\n",
        )
    ),
    "pairs of layers": Program(
        """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(8, 8, rngs=rngs) for _ in range(3)])
        self.norms = nnx.List([nnx.BatchNorm(8, rngs=rngs) for _ in range(3)])

    def __call__(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = x + norm(layer(x))
        return x

def run():
    model = Net(nnx.Rngs(0))
    x = jnp.linspace(-1, 2, 32).reshape(4, 8)
    return model(x), model(x + 1), nnx.to_pure_dict(nnx.state(model))
"""
    ),
    "blocks handed to a function": Program(
        """
class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(8, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)

    def __call__(self, x):
        return x + self.norm(self.linear(x))

@nnx.jit
def forward(blocks, x):
    for block in blocks:
        x = block(x)
    return x

def run():
    rngs = nnx.Rngs(0)
    blocks = nnx.List([Block(rngs) for _ in range(4)])
    x = jnp.linspace(-1, 2, 32).reshape(4, 8)
    return forward(blocks, x), forward(blocks, x + 1), nnx.to_pure_dict(nnx.state(blocks))
"""
    ),
    "rows by a module that counts": Program(_cell(_COUNTED, _APPENDED)),
    "rows by a module that drops": Program(_cell(_DROPPED, _APPENDED)),
    "rows by a module that reads": Program(_cell(_READ, _APPENDED), ("for-to-vmap",)),
    "stacked, by a module that counts": Program(_cell(_COUNTED, _STACKED)),
    "stacked, by a module that drops": Program(_cell(_DROPPED, _STACKED)),
    "stacked, by a module that reads": Program(_cell(_READ, _STACKED), ("stack-to-vmap",)),
    "a branch that counts": Program(_cell(_COUNTED, _BRANCH)),
    "a branch that drops": Program(_cell(_DROPPED, _BRANCH)),
    "a branch that reads": Program(_cell(_READ, _BRANCH), ("branch-to-select",)),
    "a while that counts": Program(_cell(_COUNTED, _WHILE)),
    "a while that drops": Program(_cell(_DROPPED, _WHILE)),
    "a while that reads": Program(_cell(_READ, _WHILE), ("while-to-while-loop",)),
    "a range that counts": Program(_cell(_COUNTED, _RECURRENT)),
    "a range that drops": Program(_cell(_DROPPED, _RECURRENT)),
    "a range that reads": Program(_cell(_READ, _RECURRENT), ("range-to-fori-loop", "for-to-scan")),
    "a function that calls one that counts": Program(_cell(_COUNTED, _THROUGH)),
    "a function that calls one that reads": Program(_cell(_READ, _THROUGH), ("for-to-scan",)),
    "a partial of one that drops": Program(_cell(_DROPPED, _PARTIAL)),
    "gradients of one that counts": Program(_cell(_COUNTED, _GRADIENTS)),
    "gradients of one that reads": Program(_cell(_READ, _GRADIENTS)),
    "a method that drops": Program(_cell(_DROPPED, _METHOD)),
    "a method that reads": Program(_cell(_READ, _METHOD), ("for-to-scan",)),
    "a stream by itself": Program(
        """
def run():
    rngs = nnx.Rngs(0)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(x + jax.random.normal(rngs.noise(), x.shape))
    first = jnp.stack(out)
    second = jnp.stack([x * jax.random.uniform(rngs()) for x in xs])
    return first, second, nnx.to_pure_dict(nnx.state(rngs))
"""
    ),
    "drawn by the stream's own methods": Program(
        """
def run():
    rngs = nnx.Rngs(0)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    return jnp.stack([x * rngs.normal(()) for x in xs]), nnx.to_pure_dict(nnx.state(rngs))
"""
    ),
    "a cache that decodes": Program(
        """
def run():
    attend = nnx.MultiHeadAttention(2, 4, decode=True, rngs=nnx.Rngs(0))
    attend.init_cache((1, 8, 4))
    xs = jnp.linspace(-1, 2, 16).reshape(4, 1, 1, 4)
    out = []
    for x in xs:
        out.append(attend(x))
    first = jnp.stack(out)
    second = jnp.stack([attend(x) for x in xs])
    return first, second, nnx.to_pure_dict(nnx.state(attend))
"""
    ),
}

# ---- flax.linen ----

_LINEN_RUN = """
def run():
    model = Model()
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    variables = model.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, xs)
    rest = [name for name in variables if name != "params"] + ["intermediates"]
    first, left = model.apply(variables, xs, mutable=rest, rngs={"dropout": jax.random.key(2)})
    left = {**variables, **left}
    second, again = model.apply(left, xs + 1, mutable=rest, rngs={"dropout": jax.random.key(3)})
    return first, second, left, again
"""


def _linen(setup: str, cell: str, loop: str = "") -> str:
    lines = "\n".join(f"        {line}" for line in setup.strip().splitlines())
    loop = loop or f"h = xs[0]\nfor t in range(8):\n    h = {cell}\nreturn h"
    body = "\n".join(f"        {line}" for line in loop.strip().splitlines())
    return f"""
class Model(nn.Module):
    def setup(self):
{lines}

    def __call__(self, xs):
{body}
{_LINEN_RUN}"""


LINEN = {
    "one layer, again and again": Program(
        _linen("self.dense = nn.Dense(4)", "self.dense(h)"), ("for-to-scan",)
    ),
    "one norm, again and again": Program(
        _linen("self.norm = nn.BatchNorm(use_running_average=False)", "self.norm(h + xs[0])")
    ),
    "one dropout, again and again": Program(
        _linen("self.drop = nn.Dropout(0.5, deterministic=False)", "self.drop(h)")
    ),
    "noise by make_rng": Program(
        _linen(
            "self.dense = nn.Dense(4)", "self.dense(h) + jax.random.normal(self.make_rng('dropout'), (4,))"
        )
    ),
    "what the loop sows": Program(
        _linen(
            "self.dense = nn.Dense(4)",
            "",
            "h = xs[0]\nfor t in range(8):\n    h = self.dense(h)\n    self.sow('intermediates', 'h', h)\nreturn h",
        )
    ),
    "what a cell sows": Program(
        "\nclass Cell(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        x = nn.Dense(4)(x)\n"
        "        self.sow('intermediates', 'x', x)\n        return x\n"
        + _linen("self.cell = Cell()", "self.cell(h)")
    ),
    "a cell that counts": Program(
        "\nclass Cell(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        count = self.variable('counts', 'n', lambda: jnp.zeros(()))\n        count.value = count.value + 1\n"
        "        return nn.Dense(4)(x)\n" + _linen("self.cell = Cell()", "self.cell(h)")
    ),
    "rows by a layer": Program(
        _linen(
            "self.dense = nn.Dense(4)",
            "",
            "h = jnp.zeros(4)\nout = []\nfor x in xs:\n    h = jnp.tanh(self.dense(x) + h)\n    out.append(h)\nreturn jnp.stack(out)",
        ),
        ("for-to-scan",),
    ),
    "rows with dropout": Program(
        _linen(
            "self.dense = nn.Dense(4)\nself.drop = nn.Dropout(0.5, deterministic=False)",
            "",
            "h = jnp.zeros(4)\nout = []\nfor x in xs:\n    h = self.drop(self.dense(x) + h)\n    out.append(h)\nreturn jnp.stack(out)",
        )
    ),
    "rows with a norm": Program(
        _linen(
            "self.norm = nn.BatchNorm(use_running_average=False, axis_name=None)",
            "",
            "out = []\nfor x in xs:\n    out.append(self.norm(x[None]))\nreturn jnp.stack(out)",
        )
    ),
    "a branch with a norm": Program(
        _linen(
            "self.norm = nn.BatchNorm(use_running_average=False)",
            "",
            "if xs.sum() > 100:\n    y = self.norm(xs)\nelse:\n    y = xs * 2\nreturn y",
        )
    ),
    "rows by apply": Program(
        """
def run():
    model = nn.Dense(4)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    params = model.init(jax.random.key(0), xs)
    out = []
    for x in xs:
        out.append(model.apply(params, x))
    return jnp.stack(out), jnp.stack([model.apply(params, x) for x in xs])
""",
        ("for-to-vmap", "stack-to-vmap"),
    ),
    "statistics that go round": Program(
        """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False)(nn.Dense(4)(x))

def run():
    model = Model()
    xs = jnp.linspace(-1, 2, 64).reshape(4, 4, 4)
    variables = model.init(jax.random.key(0), xs[0])
    params, stats = variables["params"], variables["batch_stats"]
    out = []
    for x in xs:
        y, left = model.apply({"params": params, "batch_stats": stats}, x, mutable=["batch_stats"])
        stats = left["batch_stats"]
        out.append(y)
    return jnp.stack(out), stats
""",
        ("for-to-scan",),
    ),
    "dropout by keys of one's own": Program(
        """
def run():
    model = nn.Dropout(0.5, deterministic=False)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    keys = jax.random.split(jax.random.key(0), 8)
    out = []
    for x, key in zip(xs, keys):
        out.append(model.apply({}, x, rngs={"dropout": key}))
    return jnp.stack(out)
""",
        ("for-to-vmap",),
    ),
    "a module that is bound": Program(
        """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        count = self.variable("counts", "n", lambda: jnp.zeros(()))
        count.value = count.value + 1
        return x * count.value

def run():
    model = Model()
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    variables = model.init(jax.random.key(0), xs[0])
    bound = model.bind(variables, mutable=["counts"])
    first = jnp.stack([bound(x) for x in xs])
    out = []
    for x in xs:
        out.append(bound(x))
    return first, jnp.stack(out), bound.variables
"""
    ),
    "a module that is bound to keys": Program(
        """
def run():
    model = nn.Dropout(0.5, deterministic=False)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    bound = model.bind({}, rngs={"dropout": jax.random.key(0)})
    return jnp.stack([bound(x) for x in xs])
"""
    ),
    "split keys": Program(
        """
def run():
    model = nn.Dropout(0.5, deterministic=False)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    key = jax.random.key(0)
    out = []
    for x in xs:
        key, sub = jax.random.split(key)
        out.append(model.apply({}, x, rngs={"dropout": sub}))
    return jnp.stack(out), key
""",
        ("for-to-scan",),
    ),
}

# ---- haiku ----

_HAIKU_RUN = """
def run():
    model = hk.transform_with_state(forward)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    params, state = model.init(jax.random.key(0), xs)
    first, left = model.apply(params, state, jax.random.key(1), xs)
    second, again = model.apply(params, left, jax.random.key(2), xs + 1)
    return first, second, params, left, again
"""
_HAIKU_COUNTER = """
class Counter(hk.Module):
    def __call__(self, x):
        count = hk.get_state("count", (), init=jnp.zeros)
        hk.set_state("count", count + 1)
        return x * (count + 1)
"""


def _haiku(body: str, head: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"{head}\ndef forward(xs):\n{lines}\n{_HAIKU_RUN}"


_HAIKU_UNROLLED = "h = xs[0]\nfor _ in range(8):\n    h = {}\nreturn h"
_HAIKU_ROWS = "out = []\nfor x in xs:\n    out.append({})\nreturn jnp.stack(out)"

HAIKU = {
    "one layer": Program(
        _haiku("layer = hk.Linear(4)\n" + _HAIKU_UNROLLED.format("layer(h)")), ("for-to-scan",)
    ),
    "one norm": Program(
        _haiku(
            "norm = hk.BatchNorm(True, True, 0.9)\n"
            + _HAIKU_UNROLLED.format("norm(h[None], True)[0] + xs[0]")
        )
    ),
    "dropout": Program(
        _haiku(
            "layer = hk.Linear(4)\n" + _HAIKU_UNROLLED.format("hk.dropout(hk.next_rng_key(), 0.5, layer(h))")
        )
    ),
    "a counter": Program(_haiku("count = Counter()\n" + _HAIKU_UNROLLED.format("count(h)"), _HAIKU_COUNTER)),
    "rows by a layer": Program(_haiku("layer = hk.Linear(4)\n" + _HAIKU_ROWS.format("layer(x)")), ()),
    "rows by a counter": Program(
        _haiku("count = Counter()\n" + _HAIKU_ROWS.format("count(x)"), _HAIKU_COUNTER)
    ),
    "rows with dropout": Program(
        _haiku("layer = hk.Linear(4)\n" + _HAIKU_ROWS.format("hk.dropout(hk.next_rng_key(), 0.5, layer(x))"))
    ),
    "stacked by a counter": Program(
        _haiku("count = Counter()\nreturn jnp.stack([count(x) for x in xs])", _HAIKU_COUNTER)
    ),
    "stacked with noise of a helper": Program(
        _haiku(
            "return jnp.stack([noisy(x) for x in xs])",
            "\ndef noisy(x):\n    return x + jax.random.normal(hk.next_rng_key(), x.shape)\n",
        )
    ),
    "a loop with noise of a helper": Program(
        _haiku(
            "h = xs[0]\nfor x in xs:\n    h = noisy(h) + x\nreturn h",
            "\ndef noisy(x):\n    return x + jax.random.normal(hk.next_rng_key(), x.shape)\n",
        )
    ),
    "a branch with a counter": Program(
        _haiku("count = Counter()\ny = xs\nif xs.sum() > 0:\n    y = count(xs)\nreturn y", _HAIKU_COUNTER)
    ),
    "a branch with state of a helper": Program(
        _haiku(
            "y = xs\nif xs.sum() > 0:\n    y = counted(xs)\nreturn y",
            "\ndef counted(x):\n    count = hk.get_state('count', (), init=jnp.zeros)\n    hk.set_state('count', count + 1)\n"
            "    return x * (count + 1)\n",
        )
    ),
    "a sequence of keys": Program(
        """
def run():
    keys = hk.PRNGSequence(0)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    def noisy(x):
        return x + jax.random.normal(next(keys), x.shape)
    first = jnp.stack([noisy(x) for x in xs])
    out = []
    for x in xs:
        out.append(noisy(x))
    return first, jnp.stack(out), next(keys)
"""
    ),
    "state that goes round": Program(
        _HAIKU_COUNTER
        + """
def run():
    model = hk.transform_with_state(lambda x: Counter()(x))
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    params, state = model.init(jax.random.key(0), xs[0])
    out = []
    for x in xs:
        y, state = model.apply(params, state, None, x)
        out.append(y)
    return jnp.stack(out), state
""",
        ("for-to-scan",),
    ),
    "layers of their own": Program(
        _haiku(
            "layers = [hk.Linear(4) for _ in range(3)]\nh = xs\nfor layer in layers:\n    h = h + layer(h)\nreturn h"
        )
    ),
    "norms of their own": Program(
        _haiku(
            "norms = [hk.BatchNorm(True, True, 0.9) for _ in range(3)]\nh = xs\nfor norm in norms:\n    h = h + norm(h, True)\nreturn h"
        )
    ),
}

# ---- equinox ----

_EQX_DROP = """
class Block(eqx.Module):
    linear: eqx.nn.Linear
    drop: eqx.nn.Dropout

    def __init__(self, key):
        self.linear = eqx.nn.Linear(4, 4, key=key)
        self.drop = eqx.nn.Dropout(0.5)

    def __call__(self, x, key):
        return x + self.drop(self.linear(x), key=key)
"""
_EQX_NORM = """
class Block(eqx.Module):
    linear: eqx.nn.Linear
    norm: eqx.nn.BatchNorm

    def __init__(self, key):
        self.linear = eqx.nn.Linear(4, 4, key=key)
        self.norm = eqx.nn.BatchNorm(4, axis_name="batch", mode="batch")

    def __call__(self, x, state):
        y, state = self.norm(self.linear(x), state)
        return x + y, state
"""

EQUINOX = {
    "linear blocks": Program(
        """
class Block(eqx.Module):
    linear: eqx.nn.Linear

    def __call__(self, x):
        return x + jax.nn.relu(self.linear(x))

@jax.jit
def forward(blocks, x):
    for block in blocks:
        x = block(x)
    return x

def run():
    blocks = [Block(eqx.nn.Linear(4, 4, key=key)) for key in jax.random.split(jax.random.key(0), 4)]
    return forward(blocks, jnp.ones(4)), forward(blocks, jnp.zeros(4)), blocks
""",
        ("for-to-scan",),
    ),
    "dropout in the blocks": Program(
        _EQX_DROP
        + """
@eqx.filter_jit
def forward(blocks, x, key):
    for block in blocks:
        key, sub = jax.random.split(key)
        x = block(x, sub)
    return x, key

def run():
    blocks = [Block(key) for key in jax.random.split(jax.random.key(0), 4)]
    x, key = forward(blocks, jnp.ones(4), jax.random.key(1))
    return x, forward(blocks, x, key)
"""
    ),
    "dropout, a key for each block": Program(
        _EQX_DROP
        + """
@eqx.filter_jit
def forward(blocks, x, key):
    for block, sub in zip(blocks, jax.random.split(key, 4)):
        x = block(x, sub)
    return x

def run():
    blocks = [Block(key) for key in jax.random.split(jax.random.key(0), 4)]
    return forward(blocks, jnp.ones(4), jax.random.key(1)), forward(blocks, jnp.ones(4), jax.random.key(2))
"""
    ),
    "norms in the blocks": Program(
        _EQX_NORM
        + """
def through(blocks, x, state):
    for block in blocks:
        x, state = block(x, state)
    return x, state

forward = eqx.filter_jit(jax.vmap(through, axis_name="batch", in_axes=(None, 0, None), out_axes=(0, None)))

def make(key):
    return [Block(one) for one in jax.random.split(key, 3)]

def run():
    blocks, state = eqx.nn.make_with_state(make)(jax.random.key(0))
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    first, state = forward(blocks, xs, state)
    second, state = forward(blocks, xs + 1, state)
    return first, second, [state.get(block.norm.batch_state_index) for block in blocks]
"""
    ),
    "statistics that go round": Program(
        _EQX_NORM
        + """
def batch(block, xs, state):
    return jax.vmap(block, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(xs, state)

def run():
    block, state = eqx.nn.make_with_state(Block)(jax.random.key(0))
    xs = jnp.linspace(-1, 2, 64).reshape(4, 4, 4)
    out = []
    for x in xs:
        y, state = batch(block, x, state)
        out.append(y)
    return jnp.stack(out), state.get(block.norm.batch_state_index)
"""
    ),
    "rows by a layer": Program(
        """
def run():
    layer = eqx.nn.Linear(4, 4, key=jax.random.key(0))
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(layer(x))
    return jnp.stack(out), jnp.stack([layer(x) for x in xs])
""",
        ("for-to-vmap", "stack-to-vmap"),
    ),
    "a spectral norm": Program(
        """
def run():
    layer, state = eqx.nn.make_with_state(eqx.nn.SpectralNorm)(
        eqx.nn.Linear(4, 4, key=jax.random.key(0)), "weight", key=jax.random.key(1)
    )
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        y, state = layer(x, state)
        out.append(y)
    return jnp.stack(out), state.get(layer.uv_index)
"""
    ),
}

# ---- classes and functions of Python ----

PLAIN = {
    "an object that counts": Program(
        """
class Layer:
    def __init__(self):
        self.w, self.calls = jnp.ones(4), 0

    def __call__(self, x):
        self.calls += 1
        return x * self.w

def run():
    layer = Layer()
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(layer(x))
    first = jnp.stack(out)
    second = jnp.stack([layer(x) for x in xs])
    h = xs[0]
    for _ in range(5):
        h = layer(h)
    return first, second, h, layer.calls
"""
    ),
    "an object that only reads": Program(
        """
class Layer:
    def __init__(self):
        self.w = jnp.ones(4)

    def scaled(self, x):
        return x * self.w

    def __call__(self, x):
        return self.scaled(x) + 1

def run():
    layer = Layer()
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(layer(x))
    first = jnp.stack(out)
    second = jnp.stack([layer(x) for x in xs])
    h = xs[0]
    for _ in range(5):
        h = layer(h)
    return first, second, h
""",
        ("for-to-vmap", "stack-to-vmap", "for-to-scan", "range-to-fori-loop"),
    ),
    "an object that gives keys": Program(
        """
class Keys:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def take(self):
        self.key, sub = jax.random.split(self.key)
        return sub

def run():
    keys = Keys(0)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(x + jax.random.normal(keys.take(), x.shape))
    first = jnp.stack(out)
    second = jnp.stack([x * jax.random.uniform(keys.take()) for x in xs])
    h = xs[0]
    for x in xs:
        h = h + jax.random.normal(keys.take(), x.shape)
    return first, second, h, keys.key
"""
    ),
    "an object that keeps a cache": Program(
        """
class Layer:
    def __init__(self):
        self.w, self.seen = jnp.ones(4), {}

    def __call__(self, x):
        self.seen[len(self.seen)] = x
        return x * self.w

def run():
    layer = Layer()
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(layer(x))
    return jnp.stack(out), jnp.stack([layer(x) for x in xs]), layer.seen
"""
    ),
    "an object that keeps a mean in an inherited method": Program(
        """
class Base:
    def note(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x

class Layer(Base):
    def __init__(self):
        self.mean = jnp.zeros(4)

    def __call__(self, x):
        self.note(x)
        return x - self.mean

def run():
    layer = Layer()
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    h = xs[0]
    for x in xs:
        h = layer(x) + h
    return h, jnp.stack([layer(x) for x in xs]), layer.mean
"""
    ),
    "a closure that counts": Program(
        """
def make():
    count = 0

    def step(x):
        nonlocal count
        count += 1
        return x * 2.0

    return step, lambda: count

def run():
    step, counted = make()
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(step(x))
    return jnp.stack(out), counted()
"""
    ),
    "a function that counts in a global": Program(
        """
COUNT = 0
SEEN = []

def step(x):
    global COUNT
    COUNT += 1
    return x * 2.0

def noted(x):
    SEEN.append(1)
    return x * 2.0

def run():
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(step(x))
    h = xs[0]
    while h.sum() < 100:
        h = noted(h) + 1
    return jnp.stack(out), jnp.stack([noted(x) for x in xs]), h, COUNT, len(SEEN)
"""
    ),
    "a function that only computes": Program(
        """
def step(x):
    y = x * 2.0
    parts = []
    parts.append(y)
    return jnp.concatenate(parts)

def run():
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        out.append(step(x))
    h = xs[0]
    while h.sum() < 100:
        h = step(h) + 1
    return jnp.stack(out), jnp.stack([step(x) for x in xs]), h
""",
        ("for-to-vmap", "stack-to-vmap", "while-to-while-loop"),
    ),
    "jitted in a loop that stores what it reads": Program(
        """
class Layer:
    def __init__(self):
        self.w = jnp.ones(4)

def run():
    layer = Layer()
    x = jnp.ones(4)
    for _ in range(3):
        step = jax.jit(lambda x: x * layer.w)
        x = step(x)
        layer.w = layer.w + 1
    return x, layer.w
"""
    ),
    "jitted in a loop that changes a table": Program(
        """
def run():
    table = {"w": 1.0}
    x = jnp.ones(4)
    for _ in range(3):
        step = jax.jit(lambda x: x * table["w"])
        x = step(x)
        table["w"] = 2.0 * table["w"]
    return x, table
"""
    ),
    "jitted in a loop that calls what changes": Program(
        """
class Layer:
    def __init__(self):
        self.w = jnp.ones(4)

    def grow(self):
        self.w = self.w + 1

def run():
    layer = Layer()
    x = jnp.ones(4)
    for _ in range(3):
        step = jax.jit(lambda x: x * layer.w)
        x = step(x)
        layer.grow()
    return x, layer.w
"""
    ),
    "jitted in a loop, by a helper": Program(
        """
SCALE = [1.0]

def scaled(x):
    return x * SCALE[0]

def run():
    x = jnp.ones(4)
    for _ in range(3):
        step = jax.jit(scaled)
        x = step(x)
        SCALE[0] = SCALE[0] + 1
    return x, SCALE
"""
    ),
    "jitted in a loop that changes nothing of it": Program(
        """
def run():
    w = jnp.arange(4.0)
    seen = []
    x = jnp.ones(4)
    for _ in range(3):
        step = jax.jit(lambda x: x * w)
        x = step(x)
        seen.append(x)
    return x, seen
""",
        ("hoist-jit",),
    ),
    "a call before the clock that counts": Program(
        """
import time

class Layer:
    def __init__(self):
        self.calls = 0

    def step(self, x):
        self.calls += 1
        return x * 2

def run():
    layer = Layer()
    x = jnp.ones(4)
    start = time.perf_counter()
    y = layer.step(x)
    seconds = time.perf_counter() - start
    return y, layer.calls, seconds > 0
"""
    ),
    "a call before the clock that only computes": Program(
        """
import time

@jax.jit
def step(x):
    return x * 2

def run():
    x = jnp.ones(4)
    start = time.perf_counter()
    y = step(x)
    seconds = time.perf_counter() - start
    return y, seconds > 0
""",
        ("call-before-clock",),
    ),
    "keys that go round": Program(
        """
def run():
    key = jax.random.key(0)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x in xs:
        key, sub = jax.random.split(key)
        out.append(x + jax.random.normal(sub, x.shape))
    first = jnp.stack(out)
    h = xs[0]
    for x in xs:
        key, sub = jax.random.split(key)
        h = h * jax.random.uniform(sub) + x
    return first, h, key
""",
        ("for-to-scan",),
    ),
    "keys that are folded": Program(
        """
def run():
    key = jax.random.key(0)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for i, x in enumerate(xs):
        out.append(x + jax.random.normal(jax.random.fold_in(key, i), x.shape))
    return jnp.stack(out)
""",
        ("for-to-vmap",),
    ),
    "keys that go backwards": Program(
        """
def run():
    keys = jax.random.split(jax.random.key(0), 8)
    xs = jnp.linspace(-1, 2, 32).reshape(8, 4)
    out = []
    for x, key in zip(reversed(xs), keys):
        out.append(x + jax.random.normal(key, x.shape))
    h = xs[0]
    for x, key in zip(xs, reversed(keys)):
        h = h + jax.random.normal(key, x.shape) * x
    return jnp.stack(out[::-1]), h
""",
    ),
}

PROGRAMS = {
    f"{framework}: {name}": Program(head + one.code, one.rewritten)
    for framework, head, programs in (
        ("nnx", NNX_HEAD, NNX),
        ("linen", LINEN_HEAD, LINEN),
        ("haiku", HAIKU_HEAD, HAIKU),
        ("equinox", EQUINOX_HEAD, EQUINOX),
        ("plain", PLAIN_HEAD, PLAIN),
    )
    for name, one in programs.items()
}
