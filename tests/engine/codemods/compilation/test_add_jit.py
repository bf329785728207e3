"""`add-jit`."""

from __future__ import annotations

from typing import Any

import pytest

PLAIN = "import jax\n\n\ndef «step»(x, mode, n): ...\n"
REWRITES: dict[str, tuple[str, dict[str, Any], str]] = {
    "plain": (PLAIN, {}, "import jax\n\n\n@jax.jit\ndef step(x, mode, n): ...\n"),
    "the same static argument": (
        PLAIN,
        {"static_argnames": ["mode"]},
        'import functools\n\nimport jax\n\n\n@functools.partial(jax.jit, static_argnames="mode")\ndef step(x, mode, n): ...\n',
    ),
    "static arguments": (
        "import jax\nfrom functools import partial\n\ndef «step»(x, mode, n): ...\n",
        {"static_argnames": ["mode", "n"]},
        'import jax\nfrom functools import partial\n\n@partial(jax.jit, static_argnames=("mode", "n"))\ndef step(x, mode, n): ...\n',
    ),
    "the framework's own, which needs no static arguments": (
        "import equinox as eqx\n\ndef «step»(x, mode, n): ...\n",
        {"transform": "equinox.filter_jit", "static_argnames": ["mode"]},
        "import equinox as eqx\n\n@eqx.filter_jit\ndef step(x, mode, n): ...\n",
    ),
    "in an indented block": (
        "import jax\nif x:\n    # the step\n    def «step»(x): ...\n",
        {},
        "import jax\nif x:\n    # the step\n    @jax.jit\n    def step(x): ...\n",
    ),
    "jax not imported": ("def «step»(x): ...\n", {}, "import jax\n\n@jax.jit\ndef step(x): ...\n"),
}
REFUSALS: dict[str, tuple[str, dict[str, Any], str]] = {
    "decorators": ("import jax\n@wraps(g)\ndef «step»(x): ...\n", {}, "has other decorators"),
    "an unknown static argument": (PLAIN, {"static_argnames": ["depth"]}, "does not exist"),
    "another transform": (PLAIN, {"transform": "torch.compile"}, "is unknown; use one of"),
    "no function": ("import jax\n«x = 1»\n", {}, "does not define exactly one function"),
}


@pytest.mark.parametrize(("before", "parameters", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, parameters, after):
    assert rewrite("add-jit", before, **parameters) == after


@pytest.mark.parametrize(("before", "parameters", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, parameters, reason):
    answer = rewrite("add-jit", before, **parameters)
    assert answer.startswith("refused: ")
    assert reason in answer


def test_metrics_of_nnx_are_state_that_its_jit_carries(rewrite):
    before = (
        "from flax import nnx\n\n\ndef «eval_step»(metrics, loss):\n    metrics.update(loss=loss)\n\n\n"
        "def main(values):\n    metrics = nnx.MultiMetric(loss=nnx.metrics.Average('loss'))\n"
        "    for value in values:\n        eval_step(metrics, value)\n    print(metrics.compute())\n"
    )
    seen = {
        "name": "metrics",
        "type": "MultiMetric",
        "module": "flax.nnx.training.metrics",
        "holds": ["ArrayImpl"],
        "leaves": [{}],
    }
    after = rewrite("add-jit", before, transform="flax.nnx.jit", arguments=[seen])
    assert "@nnx.jit\ndef eval_step(" in after
    assert rewrite("add-jit", before, transform="jax.jit", arguments=[seen]).startswith("refused: ")
