"""`checkpoint-scan-body`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.codemods.checkpoint import find_scans
from jaxlint.codemods.site import Site

from .conftest import Rewrite, source_file

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
        ("import jax\ny = «jax.lax.scan(*args)»\n", "not written at the call"),
        ("import jax\ny = «jax.lax.scan(**options)»\n", "not written at the call"),
        ("import jax\ny = «jax.lax.map(f, xs)»\n", "not one of jax.lax.scan"),
        ("from flax import linen as nn\ny = «nn.scan(f)»\n", "not one of jax.lax.scan"),
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
