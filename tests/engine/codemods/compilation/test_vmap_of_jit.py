"""`swap-vmap-of-jit`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

REWRITES = {
    "plain": ("import jax\ng = «jax.vmap(jax.jit(f))»\n", "import jax\ng = jax.jit(jax.vmap(f))\n"),
    "called at once": (
        "import jax\ny = «jax.vmap(jax.jit(f))»(x)\n",
        "import jax\ny = jax.jit(jax.vmap(f))(x)\n",
    ),
    "options go with their transform": (
        "import jax\ng = «jax.vmap(jax.jit(f, static_argnums=1), in_axes=(0, None))»\n",
        "import jax\ng = jax.jit(jax.vmap(f, in_axes=(0, None)), static_argnums=1)\n",
    ),
    "positional options of vmap": (
        "import jax\ng = «jax.vmap(jax.jit(f), (0, None), 0)»\n",
        "import jax\ng = jax.jit(jax.vmap(f, (0, None), 0))\n",
    ),
    "from imports": (
        "from jax import jit, vmap\ng = «vmap(jit(lambda x: x))»\n",
        "from jax import jit, vmap\ng = jit(vmap(lambda x: x))\n",
    ),
    "layout and comments": (
        "import jax\ng = «jax.vmap(\n    jax.jit(f),  # the step\n    in_axes=0,\n)»\n",
        "import jax\ng = jax.jit(jax.vmap(\n    f,  # the step\n    in_axes=0,\n))\n",
    ),
    "in an indented block": (
        "import jax\nclass A:\n    if x:\n        g = «jax.vmap(\n            jax.jit(f),\n            in_axes=0,\n        )»\n",
        "import jax\nclass A:\n    if x:\n        g = jax.jit(jax.vmap(\n            f,\n            in_axes=0,\n        ))\n",
    ),
    "parentheses around": (
        "import jax\ng = («jax.vmap(jax.jit(f))»)\n",
        "import jax\ng = (jax.jit(jax.vmap(f)))\n",
    ),
    "decorators": (
        "import jax\n@«jax.vmap»\n@jax.jit\ndef f(x): ...\n",
        "import jax\n@jax.jit\n@jax.vmap\ndef f(x): ...\n",
    ),
    "both decorators marked": (
        "import jax\n@«jax.vmap\n@jax.jit»\ndef f(x): ...\n",
        "import jax\n@jax.jit\n@jax.vmap\ndef f(x): ...\n",
    ),
    "partial decorators with comments": (
        "import jax\nfrom functools import partial\n"
        "@«partial(jax.vmap, in_axes=(0, None))»  # batch\n@partial(jax.jit, static_argnums=1)  # fast\n"
        "def f(x, n): ...\n",
        "import jax\nfrom functools import partial\n"
        "@partial(jax.jit, static_argnums=1)  # batch\n@partial(jax.vmap, in_axes=(0, None))  # fast\n"
        "def f(x, n): ...\n",
    ),
}
REFUSALS = {
    "donation": ("import jax\n«jax.vmap(jax.jit(f, donate_argnums=0))»\n", "donate_argnums"),
    "shardings": ("import jax\n«jax.vmap(jax.jit(f, in_shardings=s))»\n", "in_shardings"),
    "unseen options": ("import jax\n«jax.vmap(jax.jit(f, **options))»\n", "**options"),
    "no jit inside": ("import jax\n«jax.vmap(f)»\n", "not wrapped in jax.jit"),
    "jit of vmap already": ("import jax\n«jax.jit(jax.vmap(f))»\n", "not a call of jax.vmap"),
    "another library's vmap": (
        "from torch import vmap\nimport jax\n«vmap(jax.jit(f))»\n",
        "not a call of jax.vmap",
    ),
    "a local called jax": (
        "import jax\ndef g(jax):\n    return «jax.vmap(jax.jit(f))»\n",
        "not a call of jax.vmap",
    ),
    "decorators the other way round": (
        "import jax\n@«jax.jit»\n@jax.vmap\ndef f(x): ...\n",
        "not jax.vmap over jax.jit",
    ),
    "donation among the decorators": (
        "import jax\nfrom functools import partial\n@«jax.vmap»\n@partial(jax.jit, donate_argnums=0)\ndef f(x): ...\n",
        "donate_argnums",
    ),
    "syntax that libcst does not have here": ("import jax\n«jax»\n", "there is no Call"),
}


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, after):
    assert rewrite("swap-vmap-of-jit", before) == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, reason):
    answer = rewrite("swap-vmap-of-jit", before)
    assert answer.startswith("refused: ")
    assert reason in answer


@pytest.mark.parametrize(
    ("options", "axes"),
    [("", "in_axes=(0, None)"), (", static_argnums=1", "in_axes=(0, None)"), (", inline=True", "(0, None)")],
)
def test_computes_the_same_and_compiles_the_batch(rewrite, options, axes):
    program = (
        "import jax\nimport jax.numpy as jnp\nshapes = []\n"
        "def f(x, n):\n    shapes.append(type(n))\n    return jnp.sin(x) * n\n"
        f"g = «jax.vmap(jax.jit(f{options}), {axes})»\n"
    )
    before: dict[str, object] = {}
    exec(program.replace("«", "").replace("»", ""), before)
    after: dict[str, object] = {}
    exec(rewrite("swap-vmap-of-jit", program), after)
    x = jnp.linspace(0.0, 1.0, 5)
    np.testing.assert_array_equal(before["g"](x, 3), after["g"](x, 3))  # type: ignore[operator]
    assert before["shapes"] == after["shapes"]  # what was static still is
    assert hasattr(after["g"], "lower")
    assert not hasattr(before["g"], "lower")
    assert jax.tree.map(jnp.shape, after["g"](x, 3)) == (5,)  # type: ignore[operator]
