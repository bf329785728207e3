"""`jit-call`."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _may_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """How it is written is the question here; `test_purity.py` asks when it may be."""
    monkeypatch.setattr("jaxlint.codemods.compilation.jit_call.may_be_compiled", lambda *_: None)


REWRITES: dict[str, tuple[str, dict[str, Any], str]] = {
    "plain": (
        "import jax\nparams = «model.init(key, x)»['params']\n",
        {},
        "import jax\nparams = jax.jit(model.init)(key, x)['params']\n",
    ),
    "static arguments": (
        "import jax\nparams = «init(key, 3, 'he', train=False, bias=True)»\n",
        {"static_argnums": [1, 2], "static_argnames": ["train"]},
        "import jax\nparams = jax.jit(init, static_argnums=(1, 2), static_argnames=\"train\")(key, 3, 'he', train=False, bias=True)\n",
    ),
    "the framework's own, which needs no static arguments": (
        "import equinox as eqx\nmodel = «Model(3, key)»\n",
        {"transform": "equinox.filter_jit", "static_argnums": [0]},
        "import equinox as eqx\nmodel = eqx.filter_jit(Model)(3, key)\n",
    ),
    "jax not imported, over several lines": (
        "params = «init(\n    key,\n)»\n",
        {},
        "import jax\n\nparams = jax.jit(init)(\n    key,\n)\n",
    ),
}
REFUSALS: dict[str, tuple[str, dict[str, Any], str]] = {
    "unpacked arguments": ("import jax\n«init(*args)»\n", {}, "unpacks arguments"),
    "unpacked keywords": ("import jax\n«init(key, **options)»\n", {}, "unpacks arguments"),
    "a function made by a call": ("import jax\n«make(3)(key)»\n", {}, "creates the function again"),
    "another transform": (
        "import jax\n«init(key)»\n",
        {"transform": "torch.compile"},
        "is unknown; use one of",
    ),
    "no call": ("import jax\n«init»\n", {}, "no Call"),
}


@pytest.mark.parametrize(("before", "parameters", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, parameters, after):
    assert rewrite("jit-call", before, **parameters) == after


@pytest.mark.parametrize(("before", "parameters", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, parameters, reason):
    answer = rewrite("jit-call", before, **parameters)
    assert answer.startswith("refused: ")
    assert reason in answer
