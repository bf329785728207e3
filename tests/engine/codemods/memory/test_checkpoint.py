"""`checkpoint-scan-body`."""

from __future__ import annotations

import functools
import textwrap
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.codemods.memory.checkpoint import find_scans
from jaxlint.codemods.source.site import Site
from tests.engine.codemods.conftest import Rewrite, source_file

pytestmark = pytest.mark.usefixtures("compiled_quickly")

REWRITES = {
    "plain": (
        "import jax\nc, y = «jax.lax.scan(body, c, xs)»\n",
        "import jax\nc, y = jax.lax.scan(jax.checkpoint(body, prevent_cse=False), c, xs)\n",
    ),
    "from lax, jax not imported": (
        "from jax import lax\nc, y = «lax.scan(body, c, xs)»\n",
        "import jax\nfrom jax import lax\nc, y = lax.scan(jax.checkpoint(body, prevent_cse=False), c, xs)\n",
    ),
    "by name, a lambda over lines": (
        "import jax\ny = «jax.lax.scan(\n    xs=xs,\n    f=lambda c, x: (\n        c * x, None),  # step\n    init=c)»\n",
        "import jax\ny = jax.lax.scan(\n    xs=xs,\n    f=jax.checkpoint(lambda c, x: (\n        c * x, None), prevent_cse=False),  # step\n    init=c)\n",
    ),
    "another import of checkpoint": (
        "import jax as j\nfrom jax import checkpoint\ny = «j.lax.scan(self.body, c, xs)»\n",
        "import jax as j\nfrom jax import checkpoint\ny = j.lax.scan(checkpoint(self.body, prevent_cse=False), c, xs)\n",
    ),
    "haiku's": (
        "import haiku as hk\nc, y = «hk.scan(body, c, xs)»\n",
        "import haiku as hk\nc, y = hk.scan(hk.remat(body, prevent_cse=False), c, xs)\n",
    ),
    "linen's, of a function": (
        "from flax import linen as nn\ndef body(cell, c, x): ...\nc, y = «nn.scan(body, variable_broadcast='params')»(cell, c, xs)\n",
        "from flax import linen as nn\ndef body(cell, c, x): ...\nc, y = nn.scan(nn.remat(body, prevent_cse=False), variable_broadcast='params')(cell, c, xs)\n",
    ),
    "nnx's": (
        "from flax import nnx\nscanned = «nnx.scan(body)»\n",
        "from flax import nnx\nscanned = nnx.scan(nnx.remat(body, prevent_cse=False))\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_the_body_is_wrapped(rewrite: Rewrite, before: str, after: str) -> None:
    assert rewrite("checkpoint-scan-body", before) == after


def test_the_policy_is_named(rewrite: Rewrite) -> None:
    new = rewrite(
        "checkpoint-scan-body", "import jax\ny = «jax.lax.scan(f, c, xs)»\n", policy="dots_saveable"
    )
    assert "jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable, prevent_cse=False)" in new


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import jax\ny = «jax.lax.scan(jax.checkpoint(f), c, xs)»\n", "already"),
        ("import jax\ny = «jax.lax.scan(jax.remat(f, prevent_cse=False), c, xs)»\n", "already"),
        ("import jax\ny = «jax.lax.scan(*args)»\n", "not an argument of the call"),
        ("import jax\ny = «jax.lax.scan(**options)»\n", "not an argument of the call"),
        ("import jax\ny = «jax.lax.map(f, xs)»\n", "not one of jax.lax.scan"),
        ("from flax import linen as nn\ny = «nn.scan(Cell)»\n", "renames its parameters"),
        ("import haiku as hk\ny = «hk.scan(hk.remat(f), c, xs)»\n", "already"),
    ],
)
def test_anything_else_is_refused(rewrite: Rewrite, source: str, reason: str) -> None:
    found = rewrite("checkpoint-scan-body", source)
    assert found.startswith("refused: ")
    assert reason in found


def test_scans_are_found_by_their_first_line() -> None:
    text = "from jax.lax import scan as s, map\na = s(\n    f, c,\n    s(f, c, xs)[1])\nb = map(f, xs)\n"
    site = Site(source_file(text))
    assert [[span.line for span in find_scans(site, line)] for line in range(1, 6)] == [[], [2], [], [4], []]


def test_the_call_of_what_a_scan_made_leads_to_it() -> None:
    text = "from flax import linen as nn\nmade = nn.scan(\n    body)\ny = made(cell, c, xs)\nz = other(cell)\nnn.scan(f)(g, h)\n"
    site = Site(source_file(text))
    assert [[span.line for span in find_scans(site, line)] for line in (2, 4, 5, 6)] == [[2], [2], [], [6]]


LAYERS = {
    "haiku": """
        import haiku as hk
        def net(xs):
            linear = hk.Linear(8)
            def body(c, x):
                return jnp.tanh(jnp.sin(linear(c)) * x), None
            return «hk.scan(body, xs[0], xs)»[0].sum()
        model = hk.without_apply_rng(hk.transform(net))
    """,
    "linen": """
        import flax.linen as nn
        class Net(nn.Module):
            def setup(self):
                self.linear = nn.Dense(8)
            def __call__(self, xs):
                def body(module, c, x):
                    return jnp.tanh(jnp.sin(module.linear(c)) * x), None
                scanned = «nn.scan(body, variable_broadcast="params", split_rngs={"params": False})»
                return scanned(self, xs[0], xs)[0].sum()
        model = Net()
    """,
}


def test_a_module_that_the_body_of_linen_is_not_given_is_left_alone(rewrite: Rewrite) -> None:
    source = "import flax.linen as nn\ndef net(xs):\n    linear = nn.Dense(8)\n    def body(module, c, x):\n        return {}(c), None\n    return «nn.scan(body)»\n"
    assert "the body calls `linear`" in rewrite("checkpoint-scan-body", source.format("linear"))
    assert "nn.remat(body" in rewrite("checkpoint-scan-body", source.format("module"))
    around = source.replace("    def body", "    def step(c):\n        return {}(c)\n    def body", 1)
    assert "the body calls `step`" in rewrite("checkpoint-scan-body", around.format("linear", "step"))
    assert "nn.remat(body" in rewrite("checkpoint-scan-body", around.format("nn.tanh", "step"))


@pytest.mark.parametrize("source", LAYERS.values(), ids=LAYERS)
def test_the_parameters_of_modules_keep_their_names(rewrite: Rewrite, source: str) -> None:
    source = "import jax.numpy as jnp\n" + textwrap.dedent(source)
    xs = jnp.linspace(0.0, 1.0, 40).reshape(5, 8)
    parameters, gradients, residuals = [], [], []
    for text in (source.replace("«", "").replace("»", ""), rewrite("checkpoint-scan-body", source)):
        names: dict[str, Any] = {}
        exec(text, names)
        model = names["model"]
        parameters.append(model.init(jax.random.key(0), xs))
        gradients.append(jax.grad(model.apply)(parameters[0], xs))
        _, pull = jax.vjp(lambda p: model.apply(p, xs), parameters[0])  # noqa: B023
        residuals.append(sum(leaf.size for leaf in jax.tree.leaves(pull)))
    jax.tree.map(np.testing.assert_array_equal, *parameters)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-6), *gradients)
    assert residuals[1] < residuals[0]


def test_the_rewritten_scan_computes_the_same_and_keeps_less(rewrite: Rewrite) -> None:
    source = "import jax\ndef run(body, c, xs):\n    return «jax.lax.scan(body, c, xs)»[0].sum()\n"

    def body(c: jax.Array, x: jax.Array) -> tuple[jax.Array, None]:
        return c + jnp.tanh(jnp.sin(c) * x), None

    gradients, residuals = [], []
    for text in (source.replace("«", "").replace("»", ""), rewrite("checkpoint-scan-body", source)):
        names: dict[str, object] = {}
        exec(text, names)
        run = names["run"]
        c, xs = jnp.ones(8), jnp.arange(5.0)
        gradients.append(jax.grad(run, argnums=1)(body, c, xs))  # type: ignore[arg-type]
        _, pull = jax.vjp(lambda c: run(body, c, xs), c)  # type: ignore[operator]  # noqa: B023
        residuals.append(sum(leaf.size for leaf in jax.tree.leaves(pull)))
    np.testing.assert_allclose(*gradients, rtol=1e-6)
    assert residuals[1] < residuals[0]
