"""`while-to-while-loop` on the host: loops that fetch numbers, held against what they compute in Python."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.codemods.conftest import Rewrite

from .test_row_loops import function_of

HEAD = "import math\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\ndef half(x):\n    return 0.5 * (x + 2.0 / x)\n\n\n"

# `f(x, limit)`: positive numbers and an int.
LOOPS = {
    "float of an expression, and a count": (
        "def f(x, limit):\n    new, step = half(x), 0\n    while «float(jnp.linalg.norm(new - x)) > 1e-4 and step < limit»:\n"
        "        x, new = new, half(new)\n        step += 1\n    return new, step\n",
        "(jnp.linalg.norm(new - x) > 1e-4) & (step < limit)",
    ),
    "a number that the body fetches": (
        "def f(x, limit):\n    error, count = 1.0, 0\n    while «error > 1e-4 and count < limit»:\n        new = half(x)\n"
        "        error = float(jnp.max(jnp.abs(new - x)))\n        x, count = new, count + 1\n    return x, error\n",
        "error = jnp.max(jnp.abs(new - x))",
    ),
    "item, asarray, nested": (
        "def f(x, limit):\n    while «float(np.asarray(jnp.sum(x - 1.5))) > 0.1»:\n        x = half(x)\n        size = jnp.sum(x).item()\n"
        "        x = jnp.where(size > 100, x * 0.5, x)\n    return x\n",
        "size = jnp.sum(x)\n",
    ),
    "not yet": (
        "def f(x, limit):\n    done = False\n    while «not done»:\n        new = half(x)\n        done = bool(jnp.all(jnp.abs(new - x) < 1e-4))\n"
        "        x = new\n    return x\n",
        "jnp.logical_not(done)",
    ),
    "a tree": (
        "def f(x, limit):\n    tree = {'a': x, 'b': (x * 2,)}\n    while «float(sum(jnp.sum(leaf) for leaf in jax.tree.leaves(tree))) > 9.0»:\n"
        "        tree = jax.tree.map(lambda leaf: leaf * 0.7, tree)\n    return tree\n",
        "sum(jnp.sum(leaf) for leaf in jax.tree.leaves(tree)) > 9.0",
    ),
    "waiting": (
        "def f(x, limit):\n    while «jax.device_get(x).sum() > 5.0»:\n        x = (x * 0.9).block_until_ready()\n    return x\n",
        "x = (x * 0.9)",
    ),
}  # fmt: skip

# The span is the test of the `break`.
STOPS = {
    "a fixed point": (
        "def f(x, limit):\n    for _ in range(limit):\n        new = half(x)\n        if «jnp.max(jnp.abs(new - x)) < 1e-4»:\n            break\n"
        "        x = new\n    return x\n",
        "x = jnp.where(done, x, new)",
    ),
    "what has no value before the loop, and the count": (
        "def f(x, limit):\n    previous = jnp.inf\n    for i in range(limit + 1):\n        # a step\n        x = half(x)\n        size = jnp.sum(x**2)\n"
        "        if «abs(float(size) - previous) < 1e-3»:  # enough\n            break\n        previous = size\n    return x, size, i + 1\n",
        "carry = body_fun((-1, False, x, None, previous))",
    ),
    "for as long as it takes": (
        "def f(x, limit):\n    while True:\n        old, x = x, half(x)\n        if «float(jnp.linalg.norm(x - old)) < 1e-3 or x[0] < 0»:\n            break\n"
        "    return x\n",
        "return ~done",
    ),
    "either of two names": (
        "def f(x, limit):\n    for _ in range(limit):\n        x = half(x)\n        small, low = x.sum() < 2.0, x[0] < 0.2\n"
        "        if «small or low»:\n            break\n    return x\n",
        "done = jnp.logical_or(small, low)",
    ),
    "a test at the top, two below": (
        "def f(x, limit):\n    y = x * 2\n    for k in range(1, limit):\n        if «jnp.sum(x) < 5.0»:\n            break\n"
        "        x, y = half(x), y + x / k\n    return x, y\n",
        "x, y = jnp.where(done, x, half(x)), jnp.where(done, y, y + x / k)",
    ),
}  # fmt: skip

REFUSED_STOPS = {
    "data": ("for row in rows:\n        x = x + row\n        if «x.sum() > 3»:\n            break\n    return x\n", "does not iterate over a range"),
    "two ways out": (
        "for _ in range(9):\n        x = half(x)\n        if «x.sum() > 3»:\n            break\n        if x.sum() < 1:\n            break\n    return x\n",
        "only",
    ),
    "a test of its own": (
        "while x.sum() > 1:\n        x = half(x)\n        if «x.sum() > 3»:\n            break\n    return x\n", "besides its `break`",
    ),
    "a sum below it": (
        "for _ in range(9):\n        if «x.sum() > 3»:\n            break\n        x += 1.0\n    return x\n", "below the `break`",
    ),
    "the count of an earlier loop": (
        "i = 7\n    for i in range(limit):\n        x = half(x)\n        if «x.sum() > 3»:\n            break\n    return x, i\n", "has a value before",
    ),
    "what is asked for before it is there": (
        "for i in range(limit):\n        x = half(x)\n        if «x.sum() > 3»:\n            break\n        x = x + (last if i else 0.0)\n        last = x\n"
        "    return x\n",
        "no value before the loop",
    ),
    "output": ("for _ in range(9):\n        x = half(x)\n        print(x)\n        if «x.sum() > 3»:\n            break\n    return x\n", "effect"),
}  # fmt: skip

REFUSED = {
    "a whole number": ("while «int(x.sum()) > 3»:\n        x = x * 0.5\n    return x\n", "calls `int()`"),
    "a branch": ("while «float(x.sum()) > 3»:\n        if x[0] > 1:\n            x = x * 0.5\n        x = x * 0.9\n    return x\n", "branches on `x`"),
    "NumPy": ("while «float(x.sum()) > 3»:\n        x = x * np.exp(-x)\n    return x\n", "does not take tracers"),
    "a history": ("seen = []\n    while «float(x.sum()) > 3»:\n        x = x * 0.5\n        seen.append(x)\n    return seen\n", "append"),
    "output": ("while «float(x.sum()) > 3»:\n        x = x * 0.5\n        print(x)\n    return x\n", "effect"),
    "over lines": ("while «float(\n        x.sum()\n    ) > 3»:\n        x = x * 0.5\n    return x\n", "several lines"),
    "data of the host": ("while «float(x.sum()) > 3»:\n        x = x * np.random.rand()\n    return x\n", "at trace time"),
}  # fmt: skip


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(("code", "expect"), STOPS.values(), ids=STOPS)
def test_a_loop_that_stops_early_computes_the_same(
    rewrite: Rewrite, code: str, expect: str, zeros: bool
) -> None:
    text = rewrite("break-to-while-loop", HEAD + code, zeros=zeros)
    assert "jax.lax.while_loop(" in text, text
    if zeros and "None, " in expect:  # the first iteration runs in the loop, too
        expect = expect.replace("carry = ", "_, _, _, size, _ = jax.eval_shape(body_fun, ").replace(
            "body_fun((", "(", 1
        )
        assert "size = jax.tree.map(jnp.zeros_like, size)" in text
    assert expect in text
    original = function_of(HEAD + code.replace("«", "").replace("»", ""))
    rewritten = jax.jit(function_of(text))
    for seed, limit in itertools.product(range(4), (0, 1, 2, 6, 60)):
        x = jnp.asarray(np.random.default_rng(seed).uniform(0.5, 8.0, size=3), jnp.float32)
        want, got = original(x, limit), rewritten(x, limit)
        assert jax.tree.structure(want) == jax.tree.structure(got)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5), got, want)


@pytest.mark.parametrize(("code", "reason"), REFUSED_STOPS.values(), ids=REFUSED_STOPS)
def test_what_stops_otherwise_is_refused(rewrite: Rewrite, code: str, reason: str) -> None:
    answer = rewrite("break-to-while-loop", f"{HEAD}def f(x, limit, rows):\n    {code}")
    assert answer.startswith("refused: ")
    assert reason in answer


@pytest.mark.parametrize(("code", "expect"), LOOPS.values(), ids=LOOPS)
def test_the_loop_on_the_device_computes_the_same(rewrite: Rewrite, code: str, expect: str) -> None:
    text = rewrite("while-to-while-loop", HEAD + code, host=True)
    assert "jax.lax.while_loop(" in text
    assert expect in text
    original = function_of(HEAD + code.replace("«", "").replace("»", ""))
    rewritten = jax.jit(function_of(text))
    for seed in range(4):
        x = jnp.asarray(np.random.default_rng(seed).uniform(0.5, 8.0, size=3), jnp.float32)
        want, got = original(x, 6), rewritten(x, 6)
        assert jax.tree.structure(want) == jax.tree.structure(got)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5), got, want)

        def first(function: Any, x: Any = x) -> Any:
            return jnp.sum(jax.tree.leaves(function(x, 6))[0])

        direction = jnp.ones_like(x)
        slope = jax.jvp(lambda x: first(rewritten, x), (x,), (direction,))[1]
        step = 1e-3 * direction
        differences = (first(original, x + step) - first(original, x - step)) / 2e-3
        if abs(float(differences)) < 10:  # elsewhere another iteration begins in between
            np.testing.assert_allclose(slope, differences, rtol=0.02, atol=0.02)


@pytest.mark.parametrize(("code", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_sure_is_refused(rewrite: Rewrite, code: str, reason: str) -> None:
    answer = rewrite("while-to-while-loop", f"{HEAD}def f(x, limit):\n    {code}", host=True)
    assert answer.startswith("refused: ")
    assert reason in answer
