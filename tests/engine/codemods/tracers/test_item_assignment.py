"""`item-assignment-to-at`."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

REWRITES = {
    "plain": ("def f(x):\n    «x[0] = 1»\n", "def f(x):\n    x = x.at[0].set(1)\n"),
    "slices and ellipsis": ("«x[1:, ..., None] = y»\nx = 1\n", "x = x.at[1:, ..., None].set(y)\nx = 1\n"),
    "spacing inside is kept": ("x = z\n«x[ i,j ]=y»\n", "x = z\nx = x.at[ i,j ].set(y)\n"),
    "add": ("def f(x):\n    «x[i] += v»\n", "def f(x):\n    x = x.at[i].add(v)\n"),
    "subtract a name": ("def f(x):\n    «x[i] -= v»\n", "def f(x):\n    x = x.at[i].add(-v)\n"),
    "subtract a sum": ("def f(x):\n    «x[i] -= a + b»\n", "def f(x):\n    x = x.at[i].add(-(a + b))\n"),
    "subtract a negative": ("def f(x):\n    «x[i] -= -v»\n", "def f(x):\n    x = x.at[i].add(v)\n"),
    "subtract a power": ("def f(x):\n    «x[i] -= v**2»\n", "def f(x):\n    x = x.at[i].add(-(v**2))\n"),
    "multiply": ("def f(x):\n    «x[i] *= v»\n", "def f(x):\n    x = x.at[i].multiply(v)\n"),
    "divide": ("def f(x):\n    «x[i] /= v»\n", "def f(x):\n    x = x.at[i].divide(v)\n"),
    "floor division": (
        "def f(x):\n    «x[i] //= v + 1»\n",
        "def f(x):\n    x = x.at[i].set(x[i] // (v + 1))\n",
    ),
    "bit operators": ("x = z\n«x[0] |= y»\n", "x = z\nx = x.at[0].set(x[0] | y)\n"),
    "power": ("def f(x):\n    «x[i] **= v»\n", "def f(x):\n    x = x.at[i].power(v)\n"),
    "a bare tuple is one value": ("x = z\n«x[0] = 1, 2»\n", "x = z\nx = x.at[0].set((1, 2))\n"),
    "parentheses become those of the call": (
        "x = z\n«x[0] = (\n    a\n    + b\n)»  # sum\n",
        "x = z\nx = x.at[0].set(a\n    + b)  # sum\n",
    ),
    "a comment inside stays": (
        "x = z\n«x[0] = (  # why\n    a\n)»\n",
        "x = z\nx = x.at[0].set((  # why\n    a\n))\n",
    ),
    "several lines in a block": (
        "def f(x):\n    if x:\n        «x[\n            0\n        ] = g(\n            a,\n        )»\n",
        "def f(x):\n    if x:\n        x = x.at[\n            0\n        ].set(g(\n            a,\n        ))\n",
    ),
    "a comment after stays": ("x = z\n«x[0] = 1»  # one\n", "x = z\nx = x.at[0].set(1)  # one\n"),
    "two on a line": ("x = z\n«x[0] = 1»; «x[1] = 2»\n", "x = z\nx = x.at[0].set(1); x = x.at[1].set(2)\n"),
    "global": (
        "def f():\n    global x\n    «x[0] = 1»\n",
        "def f():\n    global x\n    x = x.at[0].set(1)\n",
    ),
    "code points, not bytes": (
        "é = z; «é[0] = 'ü'»  # ä\n",
        "é = z; é = é.at[0].set('ü')  # ä\n",
    ),
    "line ends": ("x = z\r\n«x[0] = 1»\r\ny = x\r\n", "x = z\r\nx = x.at[0].set(1)\r\ny = x\r\n"),
}
REFUSALS = {
    "chained": ("x = z\n«a = x[0] = 1»\n", "chained"),
    "item of an item": ("x = z\n«x[0][1] = 1»\n", "item of an item"),
    "attribute": ("def f(self):\n    «self.x[0] = 1»\n", "not a plain variable"),
    "result of a call": ("«f()[0] = 1»\n", "not a plain variable"),
    "a call in an index that is needed twice": ("x = z\n«x[f()] //= 2»\n", "run twice"),
    "variable of an outer function": (
        "def f(x):\n    def g():\n        «x[0] = 1»\n    g()\n    return x\n",
        "outer scope",
    ),
    "global variable": ("x = z\ndef f():\n    «x[0] = 1»\n", "outer scope"),
    "class body": ("x = z\nclass A:\n    «x[0] = 1»\n", "outer scope"),
    "walrus": ("x = z\n«x[0] = (i := 1)»\n", "order"),
    "yield": ("def f(x):\n    «x[0] = yield»\n", "order"),
    "not an item": ("«x = 1»\n", "not to an item"),
    "not an assignment": ("«x[0]»\n", "there is no Assign"),
}


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, after):
    assert rewrite("item-assignment-to-at", before) == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, reason):
    answer = rewrite("item-assignment-to-at", before)
    assert answer.startswith("refused: ")
    assert reason in answer


def test_attributes_are_taken_on_request(rewrite):
    before = "def f(self):\n    «self.x[0] += 1»\n"
    assert rewrite("item-assignment-to-at", before, target_ok=True) == (
        "def f(self):\n    self.x = self.x.at[0].add(1)\n"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "x[1:3] = v",
        "x[i] += v",
        "x[i] -= v",
        "x[2] *= 3",
        "x[i] /= v",
        "x[i] **= 2",
        "x[i] //= v",
        "x[i] %= 3",
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_computes_what_numpy_does(rewrite, statement, dtype):
    if dtype == "uint8" and "/" in statement:
        pytest.skip("NumPy refuses to divide integers in place")
    program = f"def f(x, v, i):\n    «{statement}»\n    return x\n"
    values = np.arange(1, 6).astype(dtype), np.asarray(2, dtype), 3
    expected: dict[str, object] = {}
    exec(program.replace("«", "").replace("»", ""), expected)
    actual: dict[str, object] = {}
    exec(rewrite("item-assignment-to-at", program), actual)
    want = expected["f"](values[0].copy(), *values[1:])  # type: ignore[operator]
    got = actual["f"](jnp.asarray(values[0]), *values[1:])  # type: ignore[operator]
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
