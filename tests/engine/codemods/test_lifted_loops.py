"""`for-to-scan` in modules: the scan of their framework, with the same parameters under the same names."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from .conftest import Rewrite

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


def gradient(text: str) -> tuple[Any, Any]:
    """The parameters of the program's model, and the gradient of what it computes."""
    names: dict[str, Any] = {"__name__": "program"}
    exec(text, names)
    xs = jax.random.normal(jax.random.key(1), (2, 3, 3))
    params = names["model"].init(jax.random.key(0), xs)
    return params, jax.grad(lambda params: jnp.sum(names["model"].apply(params, xs) ** 2))(params)


@pytest.mark.parametrize(
    ("program", "scan"),
    [
        (HAIKU, "h, ys = hk.scan("),
        (HAIKU_FUNCTION, "hk.scan(body_fun, state, jnp.arange(3))"),
        (LINEN_SETUP, "h, ys = scan(self, h, jnp.arange(xs.shape[1]))"),
        (LINEN_COMPACT, "ys = scan(self, (h, x), None)"),
    ],
    ids=["haiku", "haiku function", "linen setup", "linen compact"],
)
def test_a_loop_that_calls_modules_becomes_the_scan_of_their_framework(
    rewrite: Rewrite, program: str, scan: str
) -> None:
    rewritten = rewrite("for-to-scan", program)
    assert scan in rewritten
    before, after = gradient(program.replace("«", "").replace("»", "")), gradient(rewritten)
    assert jax.tree.structure(before) == jax.tree.structure(after)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), before, after)


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
    assert "which makes parameters" in rewrite("for-to-scan", program)
    own = program.replace("nn.GRUCell(4)", "Cell(4)")
    refused = rewrite("for-to-scan", f"{own}\nclass Cell(nn.GRUCell):\n    pass\n")
    assert "calls `Cell`, which makes parameters" in refused


def test_no_vmap_is_written_over_modules(rewrite: Rewrite) -> None:
    program = LINEN_SETUP.replace("h, y = self.cell(h, xs[:, t])", "y = self.head(xs[:, t])").replace(
        "self.head(y)", "y"
    )
    assert "of a module, which may hold state" in rewrite("for-to-vmap", program)
    assert "nn.scan" in rewrite("for-to-scan", program)
