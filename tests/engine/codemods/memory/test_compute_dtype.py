"""`compute-dtype`, and which layers a line calls."""

from __future__ import annotations

from pathlib import Path

import flax.linen
import jax
import jax.numpy as jnp
import pytest

from jaxlint.codemods.memory.compute_dtype import find_layers
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.source import SourceFile

HEAD = "import jax.numpy as jnp\nfrom flax import linen as nn\n"
REWRITES = {
    "linen": (f"{HEAD}x = «nn.Dense(8)»(x)\n", f"{HEAD}x = nn.Dense(8, dtype=jnp.bfloat16)(x)\n"),
    "nnx, an import": (
        "from flax import nnx\nlayer = «nnx.Linear(4, 8, rngs=rngs)»\n",
        "import jax.numpy as jnp\nfrom flax import nnx\nlayer = nnx.Linear(4, 8, rngs=rngs, dtype=jnp.bfloat16)\n",
    ),
    "one argument a line": (
        f"{HEAD}x = «nn.Conv(\n    8,\n    (3, 3),\n)»(x)\n",
        f"{HEAD}x = nn.Conv(\n    8,\n    (3, 3),\n    dtype=jnp.bfloat16,\n)(x)\n",
    ),
}
REFUSALS = {
    "a dtype": (f"{HEAD}x = «nn.Dense(8, dtype=d)»(x)\n", "already has a `dtype`"),
    "options": (f"{HEAD}x = «nn.Dense(8, **o)»(x)\n", "unpacked arguments"),
    "a norm": (f"{HEAD}x = «nn.LayerNorm()»(x)\n", "not a flax layer"),
}
MODEL = f"""{HEAD}
class Net(nn.Module):
    def setup(self):
        self.first = nn.Dense(8)

    def __call__(self, x):
        second = nn.Dense(4)
        x = self.first(x)
        x = nn.relu(second(x))
        return nn.Dense(2)(nn.LayerNorm()(x)) @ x
"""


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, after):
    assert rewrite("compute-dtype", before) == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, reason):
    answer = rewrite("compute-dtype", before)
    assert answer.startswith("refused: ")
    assert reason in answer


def site(text: str) -> Site:
    return Site(SourceFile(Path("net.py"), "net.py", text, "utf-8", False, ""))


@pytest.mark.parametrize(
    ("called", "layer"),
    [("self.first(x)", "nn.Dense(8)"), ("second(x)", "nn.Dense(4)"), ("LayerNorm", "nn.Dense(2)")],
)
def test_the_layer_that_a_line_calls(called, layer):
    net = site(MODEL)
    line = next(n for n, text in enumerate(MODEL.splitlines(), 1) if called in text)
    assert [net.lines.slice(span) for span in find_layers(net, line)] == [layer]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import equinox as eqx\ny = eqx.nn.Linear(2, 2, key=k)(x)\n", "cast the module"),
        ("import haiku as hk\ny = hk.Linear(2)(x)\n", "hk.mixed_precision.set_policy"),
    ],
)
def test_other_frameworks_are_told_what_they_have(text, reason):
    with pytest.raises(Refused, match=reason):
        find_layers(site(text), 2)


def test_parameters_stay_in_float32_and_outputs_do_not():
    layer = flax.linen.Dense(8, dtype=jnp.bfloat16)
    x = jnp.ones((2, 4))
    params = layer.init(jax.random.key(0), x)
    assert {str(leaf.dtype) for leaf in jax.tree.leaves(params)} == {"float32"}
    assert layer.apply(params, x).dtype == jnp.bfloat16
