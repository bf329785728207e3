"""`for-to-scan` in modules: the scan of their framework, with the same parameters under the same names."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.codemods.conftest import Rewrite

pytestmark = pytest.mark.usefixtures("compiled_quickly")

HAIKU = """import haiku as hk
import jax
import jax.numpy as jnp

class Model(hk.Module):
    def __init__(self):
        super().__init__()
        self.cell = hk.GRU(4)
        self.head = hk.Linear(2)

    def __call__(self, xs):
        h = self.cell.initial_state(2)
        ys = []
        for t in «range(xs.shape[1])»:
            y, h = self.cell(xs[:, t], h)
            ys.append(self.head(y))
        return jnp.stack(ys, axis=1)

model = hk.without_apply_rng(hk.transform(lambda xs: Model()(xs)))
"""

HAIKU_FUNCTION = """import haiku as hk
import jax
import jax.numpy as jnp

def forward(xs):
    core = hk.LSTM(4)
    state = core.initial_state(2)
    ys = []
    for t in «range(3)»:
        y, state = core(xs[:, t], state)
        ys.append(y)
    return jnp.stack(ys, axis=1)

model = hk.without_apply_rng(hk.transform(forward))
"""

LINEN_SETUP = """import jax
import jax.numpy as jnp
from flax import linen as nn

class Model(nn.Module):
    def setup(self):
        self.cell = nn.GRUCell(4)
        self.head = nn.Dense(2)

    def __call__(self, xs):
        h = self.cell.initialize_carry(jax.random.key(0), xs[:, 0].shape)
        ys = []
        for t in «range(xs.shape[1])»:
            h, y = self.cell(h, xs[:, t])
            ys.append(self.head(y))
        return jnp.stack(ys, axis=1)

model = Model()
"""

LINEN_COMPACT = """import jax
import jax.numpy as jnp
import flax.linen as nn

class Model(nn.Module):
    @nn.compact
    def __call__(self, xs):
        cell = nn.GRUCell(4)
        head = nn.Dense(3)
        h, x = jnp.zeros((2, 4)), xs[:, 0]
        ys = []
        for _ in «range(3)»:
            h, y = cell(h, x)
            x = head(y)
            ys.append(x)
        return jnp.stack(ys, axis=1)

model = Model()
"""


CELL = """
class Cell(nn.Module):
    width: int

    @nn.compact
    def __call__(self, h, x):
        h = nn.tanh(nn.Dense(self.width)(h) + nn.Dense(self.width)(x))
        return h, h

model = Model()
"""


def linen(method: str, *, setup: str = "", after: str = CELL) -> str:
    """A module of flax.linen with this method, and with these submodules if there are any."""
    head = f"    def setup(self):\n{textwrap.indent(setup, ' ' * 8)}\n" if setup else ""
    if not setup:
        method = f"@nn.compact\n{method}"
    imports = "import jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n"
    return f"{imports}\nclass Model(nn.Module):\n{head}{textwrap.indent(method, ' ' * 4)}\n{after}"


LOOP = """    h = jnp.zeros((2, 4))
    ys = []
    for t in «range(3)»:
        h, y = {call}
        ys.append(y)
    return jnp.stack(ys, axis=1)
"""

LINEN_USED_AROUND = linen(
    """def __call__(self, xs):
    cell, head = Cell(4), nn.Dense(4)
    h, _ = cell(jnp.zeros((2, 4)), xs[:, 0])
    ys = []
    for t in «range(3)»:
        h, y = cell(h, xs[:, t])
        ys.append(y)
    h, y = cell(head(h), nn.Dense(3)(xs[:, 0]))
    return jnp.stack(ys, axis=1) + y[:, None]
"""
)

LINEN_BESIDE_SELF = linen(
    """def __call__(self, xs):
    layer = self.head
    x = xs[:, 0]
    ys = []
    for t in «range(3)»:
        x = layer(x) + self.head(xs[:, t])
        ys.append(x)
    return self.head(jnp.stack(ys, axis=1))
""",
    setup="self.head = nn.Dense(3)",
)

LINEN_LIST = linen(
    """def __call__(self, xs):
    layers = [Cell(4) for _ in range(2)]
    h = jnp.zeros((2, 4))
    ys = []
    for t in «range(3)»:
        y = xs[:, t]
        for layer in layers:
            h, y = layer(h, y)
        ys.append(y)
    return jnp.stack(ys, axis=1)
"""
)

LINEN_HANDED_ON = linen(
    """def __call__(self, xs):
    return self.run(Cell(4), nn.tanh, xs)

def step(self, cell, h, x):
    return cell(h, x)

def run(self, layer, activation, xs):
    cell = Cell(4)
    h = jnp.zeros((2, 4))
    ys = []
    for t in «range(3)»:
        h, y = layer(h, xs[:, t])
        h, y = self.step(cell, activation(h), y)
        ys.append(y)
    return jnp.stack(ys, axis=1)
"""
)

LINEN_INHERITED = linen(
    """def __call__(self, xs):
    h = jnp.zeros((2, 4))
    ys = []
    for t in «range(3)»:
        cell = self.cell
        def step(h, x):
            return cell(h, self.head(x))
        h, y = step(h, xs[:, t])
        ys.append(y)
    return jnp.stack(ys, axis=1)
""",
    setup="self.cell, self.head = Cell(4), nn.Dense(4)",
).replace("class Model(nn.Module):", "class Base(nn.Module):\n    pass\n\nclass Model(Base):")

HAIKU_NESTED = HAIKU_FUNCTION.replace(
    "    ys = []\n", "    def step(state, x):\n        return core(x, state)\n\n    ys = []\n"
).replace("core(xs[:, t], state)", "step(state, xs[:, t])")


def original(program: str) -> str:
    return program.replace("«", "").replace("»", "")


def gradient(text: str) -> tuple[Any, Any]:
    """The parameters of the program's model, and the gradient of what it computes."""
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program", "exec", dont_inherit=True), names)
    model = names["model"]
    xs = jax.random.normal(jax.random.key(1), (2, 3, 3))
    params = model.init(jax.random.key(0), xs)
    return params, jax.grad(lambda params: jnp.sum(model.apply(params, xs) ** 2))(params)


def assert_same(rewritten: str, program: str) -> None:
    """The same parameters under the same names, and the same gradients."""
    before, after = gradient(original(program)), gradient(rewritten)
    assert jax.tree.structure(before) == jax.tree.structure(after)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), before, after)


@pytest.mark.parametrize(
    ("program", "scan"),
    [
        (HAIKU, "h, ys = hk.scan("),
        (HAIKU_FUNCTION, "hk.scan(body_fun, state, jnp.arange(3))"),
        (LINEN_SETUP, "h, ys = scan(self, h, jnp.arange(xs.shape[1]))"),
        (LINEN_COMPACT, "ys = scan(self, (h, x), None, cell, head)"),
        (LINEN_USED_AROUND, "h, ys = scan(self, h, jnp.arange(3), cell)"),
        (LINEN_BESIDE_SELF, "ys = scan(self, x, jnp.arange(3), layer)"),
        (LINEN_LIST, "h, ys = scan(self, h, jnp.arange(3), layers)"),
        (LINEN_HANDED_ON, "h, ys = scan(self, h, jnp.arange(3), layer, cell, activation)"),
        (LINEN_INHERITED, "h, ys = scan(self, h, jnp.arange(3))"),
        (HAIKU_NESTED, "hk.scan(body_fun, state, jnp.arange(3))"),
    ],
    ids=[
        "haiku",
        "haiku function",
        "linen setup",
        "linen compact",
        "linen, called before and after",
        "linen, a submodule by two names",
        "linen, a list",
        "linen, handed on",
        "linen, in a function of the loop, in a class that inherits",
        "haiku, in a function around the module",
    ],
)
def test_a_loop_that_calls_modules_becomes_the_scan_of_their_framework(
    rewrite: Rewrite, program: str, scan: str
) -> None:
    rewritten = rewrite("for-to-scan", program)
    assert scan in rewritten
    assert_same(rewritten, program)


def test_what_a_scan_is_handed_may_be_rematerialised(rewrite: Rewrite) -> None:
    """`nn.remat` takes the modules of its arguments too."""
    rewritten = rewrite("for-to-scan", LINEN_COMPACT)
    call = next(
        ast.get_source_segment(rewritten, node) or ""
        for node in ast.walk(ast.parse(rewritten))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "nn.scan"
    )
    again = rewrite("checkpoint-scan-body", rewritten.replace(call, f"«{call}»"))
    assert "nn.remat(body_fun, prevent_cse=False)" in again
    assert_same(again, LINEN_COMPACT)


def test_a_loop_that_calls_no_module_stays_one_of_jax(rewrite: Rewrite) -> None:
    program = linen(
        """def __call__(self, xs):
    act, width = nn.tanh, self.head.features
    def step(h, x):
        return act(h * width + x.mean(1, keepdims=True)), h
"""
        + LOOP.format(call="step(h, xs[:, t])")
        + "\n",
        setup="self.head = nn.Dense(4)",
    )
    rewritten = rewrite("for-to-scan", program)
    assert "h, ys = jax.lax.scan(body_fun, h, jnp.arange(3))" in rewritten
    assert_same(rewritten, program)


STEP = "def step(h, x):\n    return {}\n"
CLOSURE = "calls `step`, which calls modules of an outer scope"


@pytest.mark.parametrize(
    ("before", "setup", "call", "reason"),
    [
        ("cell = Cell(4)\n" + STEP.format("cell(h, x)"), "", "step(h, xs[:, t])", CLOSURE),
        (STEP.format("self.cell(h, x)"), "self.cell = Cell(4)", "step(h, xs[:, t])", CLOSURE),
        (STEP.format("Cell(4)(h, x)"), "", "step(h, xs[:, t])", CLOSURE),
        ("step = self.step", "", "step(h, xs[:, t])", "may be a method of a module"),
        ("f = jax.jit(Cell(4))", "", "f(h, xs[:, t])", "consists of modules of an outer scope"),
        (
            "f = jax.jit(self.cell)",
            "self.cell = Cell(4)",
            "f(h, xs[:, t])",
            "consists of modules of an outer scope",
        ),
        ("make = Cell", "", "make(4)(h, xs[:, t])", "may be a new module in each iteration"),
    ],
    ids=[
        "a local function",
        "of self",
        "that makes one",
        "a bound method",
        "jitted",
        "jitted, of self",
        "made in the loop",
    ],
)
def test_modules_that_cannot_be_handed_to_the_scan_stay_in_the_loop(
    rewrite: Rewrite, before: str, setup: str, call: str, reason: str
) -> None:
    method = f"def __call__(self, xs):\n{textwrap.indent(before, ' ' * 4)}\n{LOOP.format(call=call)}"
    assert reason in rewrite("for-to-scan", linen(method, setup=setup))


@pytest.mark.parametrize(
    ("codemod", "loop"),
    [
        ("range-to-fori-loop", "for _ in «range(3)»:\n    x = head(x)"),
        ("while-to-while-loop", "while «jnp.sum(x) > 9.0»:\n    x = head(x)"),
        ("for-to-vmap", "ys = []\nfor t in «range(3)»:\n    ys.append(head(xs[:, t]))\nx = jnp.stack(ys)"),
    ],
    ids=["fori_loop", "while_loop", "vmap"],
)
@pytest.mark.parametrize(
    ("before", "setup"),
    [
        ("head = nn.Dense(3)", ""),
        ("head = self.head", "self.head = nn.Dense(3)"),
        ("def head(x):\n    return self.head(x)", "self.head = nn.Dense(3)"),
    ],
    ids=["made here", "of setup", "in a function"],
)
def test_no_loop_of_jax_is_written_around_modules_that_variables_hold(
    rewrite: Rewrite, codemod: str, loop: str, before: str, setup: str
) -> None:
    method = "def __call__(self, xs):\n" + textwrap.indent(f"{before}\nx = xs\n{loop}\nreturn x", " " * 4)
    assert "calls `head` of a module, which may hold state" in rewrite(codemod, linen(method, setup=setup))
    if "self" not in before:
        plain = linen(method).replace("nn.Dense(3)", "nn.tanh")
        assert "refused" not in rewrite(codemod, plain)


def test_a_module_of_nnx_that_is_read_may_be_called_in_a_scan(rewrite: Rewrite) -> None:
    program = """import jax
import jax.numpy as jnp
from flax import nnx

class Model(nnx.Module):
    def __init__(self, rngs):
        self.cell = nnx.GRUCell(3, 4, rngs=rngs)

    def __call__(self, xs):
        h = jnp.zeros((2, 4))
        for t in «range(3)»:
            h, _ = self.cell(h, xs[:, t])
        return h
"""
    rewritten = rewrite("for-to-scan", program)
    assert "jax.lax.scan(body_fun, h, jnp.arange(3))" in rewritten
    values = []
    for text in (program.replace("«", "").replace("»", ""), rewritten):
        names: dict[str, Any] = {"__name__": "program"}
        exec(text, names)
        xs = jax.random.normal(jax.random.key(1), (2, 3, 3))
        loss = names["nnx"].jit(names["nnx"].grad(lambda model, xs=xs: jnp.sum(model(xs))))
        values.append(jax.tree.leaves(loss(names["Model"](names["nnx"].Rngs(0)))))
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_modules_that_are_made_in_each_iteration_stay_in_the_loop(rewrite: Rewrite) -> None:
    program = LINEN_COMPACT.replace("h, y = cell(h, x)", "h, y = nn.GRUCell(4)(h, x)")
    assert "which creates parameters" in rewrite("for-to-scan", program)
    own = program.replace("nn.GRUCell(4)", "Cell(4)")
    refused = rewrite("for-to-scan", f"{own}\nclass Cell(nn.GRUCell):\n    pass\n")
    assert "calls `Cell`, which creates parameters" in refused


def test_no_vmap_is_written_over_modules(rewrite: Rewrite) -> None:
    program = LINEN_SETUP.replace("h, y = self.cell(h, xs[:, t])", "y = self.head(xs[:, t])").replace(
        "self.head(y)", "y"
    )
    assert "of a module, which may hold state" in rewrite("for-to-vmap", program)
    assert "nn.scan" in rewrite("for-to-scan", program)
