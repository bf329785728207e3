"""`outline-jit`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.codemods.conftest import Rewrite


@pytest.fixture(autouse=True)
def _may_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """How it is written is the question here; `test_purity.py` asks when it may be."""
    monkeypatch.setattr("jaxlint.codemods.compilation.outline.may_be_compiled", lambda *_: None)


REWRITES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a model that the function is given, and an attribute": (
        "import functools\nimport jax\n\n\n# What to do next.\n@trace\ndef act(model, state, obs):\n    return int(jax.numpy.argmax(«model.apply(state.params, obs, train=False)»))\n",
        {},
        "import functools\nimport jax\n\n\n@functools.partial(jax.jit, static_argnums=0)\ndef model_apply(model, params, obs):\n"
        "    return model.apply(params, obs, train=False)\n\n\n# What to do next.\n@trace\ndef act(model, state, obs):\n"
        "    return int(jax.numpy.argmax(model_apply(model, state.params, obs)))\n",
    ),
    "a model of the module, in a loop of the module, keywords": (
        "import jax\nmodel = Model()\nfor x in xs:\n    print(«model.apply(params, x[None], rngs={'dropout': key})»)\n",
        {},
        "import jax\nmodel = Model()\n\n\n@jax.jit\ndef model_apply(params, x, rngs):\n    return model.apply(params, x, rngs=rngs)\n\n\n"
        "for x in xs:\n    print(model_apply(params, x[None], {'dropout': key}))\n",
    ),
    "a module of equinox under vmap": (
        "import equinox as eqx\nimport jax\n\n\ndef score(model, xs):\n    return float(«jax.vmap(model)(xs)».mean())\n",
        {"transform": "equinox.filter_jit"},
        "import equinox as eqx\nimport jax\n\n\n@eqx.filter_jit\ndef call_model(model, xs):\n    return jax.vmap(model)(xs)\n\n\n"
        "def score(model, xs):\n    return float(call_model(model, xs).mean())\n",
    ),
    "a name that is taken, a model held by the object": (
        "import functools\nimport jax\n\n\ndef model_apply():\n    pass\n\n\nclass Agent:\n    def act(self, obs):\n        return int(«self.model.apply(self.params, obs)»)\n",
        {},
        "import functools\nimport jax\n\n\ndef model_apply():\n    pass\n\n\n@functools.partial(jax.jit, static_argnums=0)\n"
        "def model_apply_2(model, params, obs):\n    return model.apply(params, obs)\n\n\n"
        "class Agent:\n    def act(self, obs):\n        return int(model_apply_2(self.model, self.params, obs))\n",
    ),
}
REFUSALS: dict[str, tuple[str, str]] = {
    "a function of the module": (
        "def f(x):\n    return x\n\n\ndef g(x):\n    return int(«f(x)»)\n",
        "at its definition",
    ),
    "a method of the object": (
        "class A:\n    def f(self, x):\n        return int(«self.g(x)»)\n",
        "all of its attributes",
    ),
    "unpacked arguments": ("def f(model, xs):\n    return «model.apply(*xs)»\n", "unpacks unknown arguments"),
    "constants alone": ("def f(model):\n    return «model.apply(1, 2)»\n", "no argument to trace"),
    "a model that is made there": ("def f(x):\n    return «Model().apply(p, x)»\n", "created again"),
    "a model in a list": ("def f(models, p, x):\n    return «models[0].apply(p, x)»\n", "has no name here"),
}


@pytest.mark.parametrize(("before", "parameters", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite: Rewrite, before: str, parameters: dict[str, Any], after: str) -> None:
    assert rewrite("outline-jit", before, **parameters) == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(rewrite: Rewrite, before: str, reason: str) -> None:
    refused = rewrite("outline-jit", before)
    assert refused.startswith("refused: ")
    assert reason in refused
