"""`add-donation`."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

REWRITES = {
    "call": ("import jax\nf = «jax.jit(g)»\n", "import jax\nf = jax.jit(g, donate_argnums=(0, 1))\n"),
    "call with options": (
        "import jax\nf = «jax.jit(g, static_argnums=2)»\n",
        "import jax\nf = jax.jit(g, static_argnums=2, donate_argnums=(0, 1))\n",
    ),
    "one argument a line": (
        "import jax\nf = «jax.jit(\n    g,  # the step\n    static_argnums=2,  # n\n)»\n",
        "import jax\nf = jax.jit(\n    g,  # the step\n    static_argnums=2,  # n\n    donate_argnums=(0, 1),\n)\n",
    ),
    "decorator of a method": (
        "import jax\nfrom functools import partial\nclass A:\n    @«partial(\n        jax.jit,\n        static_argnums=2,\n    )»\n"
        "    def f(x, y, n): ...\n",
        "import jax\nfrom functools import partial\nclass A:\n    @partial(\n        jax.jit,\n        static_argnums=2,\n"
        "        donate_argnums=(0, 1),\n    )\n    def f(x, y, n): ...\n",
    ),
    "aligned arguments": (
        "import jax\nf = «jax.jit(g,\n            static_argnums=2)»\n",
        "import jax\nf = jax.jit(g,\n            static_argnums=2,\n            donate_argnums=(0, 1))\n",
    ),
    "bare decorator": (
        "import functools\nimport jax\n\n@«jax.jit»\ndef f(x, y): ...\n",
        "import functools\nimport jax\n\n@functools.partial(jax.jit, donate_argnums=(0, 1))\ndef f(x, y): ...\n",
    ),
    "bare decorator, partial imported": (
        "from functools import partial\nimport jax\n\n@«jax.jit»\ndef f(x, y): ...\n",
        "from functools import partial\nimport jax\n\n@partial(jax.jit, donate_argnums=(0, 1))\ndef f(x, y): ...\n",
    ),
    "bare decorator, no import": (
        '"""Doc."""\n\nimport jax\n\n@«jax.jit»\ndef f(x, y): ...\n',
        '"""Doc."""\n\nimport functools\n\nimport jax\n\n'
        "@functools.partial(jax.jit, donate_argnums=(0, 1))\ndef f(x, y): ...\n",
    ),
    "partial decorator": (
        "from functools import partial\nimport jax\n@«partial(jax.jit, static_argnums=2)»\ndef f(x, y, n): ...\n",
        "from functools import partial\nimport jax\n"
        "@partial(jax.jit, static_argnums=2, donate_argnums=(0, 1))\ndef f(x, y, n): ...\n",
    ),
    "decorator with options": (
        "import jax\n@«jax.jit(static_argnums=2)»\ndef f(x, y, n): ...\n",
        "import jax\n@jax.jit(static_argnums=2, donate_argnums=(0, 1))\ndef f(x, y, n): ...\n",
    ),
    "nnx": (
        "from flax import nnx\nf = «nnx.jit(g)»\n",
        "from flax import nnx\nf = nnx.jit(g, donate_argnums=(0, 1))\n",
    ),
}
REFUSALS = {
    "donates already": ("import jax\n«jax.jit(g, donate_argnums=0)»\n", "already has donate_argnums"),
    "donates by name already": (
        "import jax\n«jax.jit(g, donate_argnames='x')»\n",
        "already has donate_argnames",
    ),
    "unseen options": ("import jax\n«jax.jit(g, **options)»\n", "may already donate"),
    "static argument": ("import jax\n«jax.jit(g, static_argnums=(1,))»\n", "both static"),
    "equinox donates otherwise": (
        "import equinox as eqx\n«eqx.filter_jit(g)»\n",
        "equinox.filter_jit has no donate_argnums",
    ),
    "not a jit": ("import jax\n«jax.vmap(g)»\n", "jax.vmap takes no donation"),
    "jit handed on": ("import jax\nf = wrap(«jax.jit», g)\n", "not called here"),
    "a local called functools": (
        "import jax\ndef make(functools):\n    @«jax.jit»\n    def f(x, y): ...\n    return f\n",
        "hides the import",
    ),
}


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, after):
    assert rewrite("add-donation", before, argnums=[0, 1]) == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, reason):
    answer = rewrite("add-donation", before, argnums=[0, 1])
    assert answer.startswith("refused: ")
    assert reason in answer


KEEPING = """
import jax

@«jax.jit»
def step(w, x):
    return w + x

def train(w, xs):
    for x in xs:
        w = step(w, x)
    return w

def main(w, xs):
    CALL
"""


@pytest.mark.parametrize(
    "call", ["new = train(w, xs)\n    return new - w", "print(train(w, xs), train(w, xs))"]
)
def test_what_a_caller_further_out_still_reads_is_not_donated(rewrite, call):
    answer = rewrite("add-donation", KEEPING.replace("CALL", call), argnums=[0])
    assert answer.startswith("refused: `w` may be read after line ")
    assert "passes it to `train`, which would donate it" in answer


@pytest.mark.parametrize(
    "call", ["w = train(w, xs)\n    return w", "return train(w, xs)", "return train(w + 1, xs)"]
)
def test_what_no_caller_reads_is_donated(rewrite, call):
    assert "donate_argnums=(0,)" in rewrite("add-donation", KEEPING.replace("CALL", call), argnums=[0])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@«eqx.filter_jit»\ndef f(x): ...\n", '@eqx.filter_jit(donate="all")\ndef f(x): ...\n'),
        ("f = «eqx.filter_jit(g)»\n", 'f = eqx.filter_jit(g, donate="all")\n'),
        ("f = «eqx.filter_jit(g, donate='warn')»\n", "refused: equinox.filter_jit already has donate here"),
        ("f = wrap(«eqx.filter_jit», g)\n", "refused: the transform is not called here"),
        ("import jax\nf = «jax.jit(g)»\n", "refused: jax.jit has no donate"),
    ],
)
def test_all_that_equinox_is_given(rewrite, before, after):
    found = rewrite("add-donation", f"import equinox as eqx\n{before}", donate="all")
    assert (
        found.startswith(after) if after.startswith("refused") else found == f"import equinox as eqx\n{after}"
    )


def test_what_equinox_is_given_is_given_up(rewrite):
    names: dict[str, object] = {}
    before = "import equinox as eqx\n\n@«eqx.filter_jit»\ndef f(x, y):\n    return x + y, x - y\n"
    exec(rewrite("add-donation", before, donate="all"), names)
    x, y = jnp.arange(3.0), jnp.ones(3)
    assert names["f"](x, y)[0].tolist() == [1.0, 2.0, 3.0]  # type: ignore[operator]
    assert x.is_deleted()
    assert y.is_deleted()


def test_names_instead_of_numbers(rewrite):
    before = "import jax\nf = «jax.jit(g)»\n"
    assert rewrite("add-donation", before, argnames=["state"]) == (
        'import jax\nf = jax.jit(g, donate_argnames=("state",))\n'
    )
    assert "no argument" in rewrite("add-donation", before, argnums=[])


@pytest.mark.parametrize(
    "before",
    [
        "import jax\n\n@«jax.jit»\ndef f(x, y):\n    return x + y\n",
        "import jax\nf = «jax.jit(lambda x, y: x + y)»\n",
        "import jax\n\n@«jax.jit(inline=False)»\ndef f(x, y):\n    return x + y\n",
    ],
)
def test_the_buffer_is_given_up(rewrite, before):
    names: dict[str, object] = {}
    exec(rewrite("add-donation", before, argnums=[0]), names)
    x, y = jnp.arange(3.0), jnp.ones(3)
    assert names["f"](x, y).tolist() == [1.0, 2.0, 3.0]  # type: ignore[operator]
    assert x.is_deleted()
    assert not y.is_deleted()
