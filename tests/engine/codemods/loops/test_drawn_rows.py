"""Rows that draw random numbers are not computed together where the program may choose a generator that draws others then."""

from __future__ import annotations

import pytest

from .test_empty_loops import HEAD, edited

ROWS = "return jnp.stack([noisy(k) for k in jax.random.split(key, 3)])"
LISTED = (
    "ys = []\n    for k in jax.random.split(key, 3):\n        ys.append(noisy(k))\n    return jnp.stack(ys)"
)


@pytest.mark.parametrize(("codemod", "body"), [("stack-to-vmap", ROWS), ("for-to-vmap", LISTED)])
@pytest.mark.parametrize(
    ("chosen", "refused"),
    [
        ("key = jax.random.key(0)", False),
        ("key = jax.random.key(0, impl='threefry2x32')", False),
        ("key = jax.random.key(0, impl='rbg')", True),
        ("key = jax.random.key(0, impl=name)", True),
        ("jax.config.update('jax_default_prng_impl', name)", True),
        ("jax.config.update('jax_platforms', name)", False),
        ("import os\n    os.environ['JAX_DEFAULT_PRNG_IMPL'] = name", True),
    ],
)
def test_another_generator_refuses_vmap(codemod: str, body: str, chosen: str, refused: bool) -> None:
    text = (
        f"{HEAD}def noisy(k):\n    return jnp.sin(jax.random.normal(k, (2,)))\n\n\ndef f(key):\n    {body}\n\n\n"
        f"def main(name):\n    {chosen}\n    return f(jax.random.key(1))\n"
    )
    new = edited(codemod, text)
    assert ("may draw with `rbg`" in new) == refused, new
    calm = edited(codemod, text.replace("jax.random.normal(k, (2,))", "k"))
    assert "jax.vmap(" in calm, calm
