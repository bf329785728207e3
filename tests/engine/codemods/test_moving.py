"""Codemods that move work: out of loops, behind them, before clocks; and what they leave alone."""

from __future__ import annotations

import pytest

HEAD = "import time\nimport jax\nimport jax.numpy as jnp\n\n"
REWRITES = {
    "hoist-jit: comments go along": (
        "hoist-jit",
        "def f(xs):\n    for x in xs:\n        print(x)\n\n        # the step\n        g = «jax.jit(lambda a: a * 2)»  # fast\n\n        g(x)\n",
        "def f(xs):\n    # the step\n    g = jax.jit(lambda a: a * 2)  # fast\n    for x in xs:\n        print(x)\n\n        g(x)\n",
    ),
    "hoist-jit: over lines": (
        "hoist-jit",
        "def f(xs, k):\n    for x in xs:\n        g = «jax.jit(\n            lambda a: a * k,\n        )»\n        g(x)\n",
        "def f(xs, k):\n    g = jax.jit(\n        lambda a: a * k,\n    )\n    for x in xs:\n        g(x)\n",
    ),
    "convert-after-loop: nested": (
        "convert-after-loop",
        "def f(xs):\n    seen = []\n    for x in xs:\n        for y in x:\n            seen.append(«y.sum().item()»)  # note\n    return seen\n",
        "def f(xs):\n    seen = []\n    for x in xs:\n        for y in x:\n            seen.append(y.sum())  # note\n"
        "    seen = [value.item() for value in seen]\n    return seen\n",
    ),
    "convert-after-loop: also printed": (
        "convert-after-loop",
        "def f(xs):\n    seen = []\n    for i in range(9):\n        x = xs[i]\n        seen.append(«float(x)»)\n"
        "        print(f'{x.item()} {x}', float(x))\n    return seen\n",
        "def f(xs):\n    seen = []\n    for i in range(9):\n        x = xs[i]\n        seen.append(x)\n"
        "        print(f'{x.item()} {x}', float(x))\n    seen = [float(value) for value in seen]\n    return seen\n",
    ),
    "convert-after-loop: a buffer of each turn": (
        "convert-after-loop",
        "import numpy as np\n@jax.jit\ndef g(x):\n    return x.sum()\n\ndef f(n):\n    seen = []\n"
        "    for i in range(n):\n        buf = np.zeros(4)\n        buf[:] = i\n        seen.append(«float(g(buf))»)\n    return seen\n",
        "import numpy as np\n@jax.jit\ndef g(x):\n    return x.sum()\n\ndef f(n):\n    seen = []\n"
        "    for i in range(n):\n        buf = np.zeros(4)\n        buf[:] = i\n        seen.append(g(buf))\n"
        "    seen = [float(value) for value in seen]\n    return seen\n",
    ),
    "bind-result: an attribute of a plain class": (
        "bind-result",
        "class A:\n    def put(self, i):\n        «self.x.at[i].set(0)»\n        return self.x\n",
        "class A:\n    def put(self, i):\n        self.x = self.x.at[i].set(0)\n        return self.x\n",
    ),
}
REFUSALS = {
    "hoist-jit: reads the loop variable": (
        "hoist-jit",
        "def f(xs):\n    for x in xs:\n        g = «jax.jit(lambda a: a * x)»\n        g(x)\n",
        "reads `x`, which changes",
    ),
    "hoist-jit: bound twice": (
        "hoist-jit",
        "def f(xs):\n    g = None\n    for x in xs:\n        g = «jax.jit(lambda a: a)»\n        g(x)\n",
        "assigned elsewhere",
    ),
    "hoist-jit: under a condition": (
        "hoist-jit",
        "def f(xs):\n    for x in xs:\n        if x:\n            g = «jax.jit(lambda a: a)»\n            g(x)\n",
        "directly in a loop body",
    ),
    "convert-after-loop: used in the loop": (
        "convert-after-loop",
        "def f(xs):\n    seen = []\n    for x in xs:\n        seen.append(«float(x)»)\n        print(seen[-1])\n    return seen\n",
        "used inside the loop",
    ),
    "convert-after-loop: returns from the loop": (
        "convert-after-loop",
        "def f(xs):\n    seen = []\n    for x in xs:\n        seen.append(«float(x)»)\n        if x is None:\n            return 1\n    return seen\n",
        "end early",
    ),
    "convert-after-loop: a buffer that waits for the number": (
        "convert-after-loop",
        "import numpy as np\n@jax.jit\ndef g(x):\n    return x.sum()\n\ndef f(n):\n    seen = []\n    buf = np.zeros(4)\n"
        "    for i in range(n):\n        buf[:] = i\n        seen.append(«float(g(buf))»)\n    return seen\n",
        "while JAX may still read it",
    ),
    "convert-after-loop: not empty": (
        "convert-after-loop",
        "def f(xs):\n    seen = [0.0]\n    for x in xs:\n        seen.append(«float(x)»)\n    return seen\n",
        "empty list",
    ),
    "convert-after-loop: an outer list": (
        "convert-after-loop",
        "def f(xs, seen):\n    for x in xs:\n        seen.append(«float(x)»)\n    return seen\n",
        "empty list",
    ),
    "convert-after-loop: the array is passed on": (
        "convert-after-loop",
        "def f(x):\n    seen = []\n    for i in range(9):\n        x = step(x)\n        seen.append(«float(x)»)\n    return seen\n",
        "may donate its buffer",
    ),
    "bind-result: nobody looks": (
        "bind-result",
        "def f(x):\n    «x.at[0].set(1)»\n",
        "not used afterwards",
    ),
    "bind-result: an outer variable": (
        "bind-result",
        "x = jnp.zeros(3)\ndef f():\n    «x.at[0].set(1)»\n    return x\n",
        "outer scope",
    ),
    "bind-result: a frozen class": (
        "bind-result",
        "class A(Base):\n    def put(self, i):\n        «self.x.at[i].set(0)»\n        return self.x\n",
        "may forbid assignment",
    ),
    "mask-to-where: another shape": (
        "mask-to-where",
        "def f(x, mask):\n    return «x.at[mask]».set(0)\n",
        "its shape may differ",
    ),
    "mask-to-where: of rows": (
        "mask-to-where",
        "def f(x):\n    return «x.at[x[:, 0] > 0]».set(0)\n",
        "its shape may differ",
    ),
    "mask-to-where: the items themselves": (
        "mask-to-where",
        "def f(x):\n    return «x[x > 0]»\n",
        "no sum or mean follows",
    ),
    "stable-form: the sum along another axis": (
        "stable-form",
        "def f(x):\n    e = jnp.exp(x)\n    return «e / e.sum(axis=1)»\n",
        "may differ",
    ),
    "stable-form: the variable has changed": (
        "stable-form",
        "def f(x):\n    e = jnp.exp(x)\n    x = x + 1\n    return «e / e.sum()» * x\n",
        "this form",
    ),
    "stable-form: two exponentials": (
        "stable-form",
        "def f(x, y):\n    return «jnp.exp(x) / jnp.exp(y).sum()»\n",
        "this form",
    ),
    "add-static-argument: donates": (
        "add-static-argument",
        "f = «jax.jit(g, donate_argnums=0)»\n",
        "also donates",
    ),
    "sequence-to-array: an open slice": (
        "sequence-to-array",
        "def f(x, i):\n    return «x[:i]»\n",
        "depends on data",
    ),
    "forward-clock: the date is told": (
        "forward-clock",
        "def f():\n    start = «time.time()»\n    print(start)\n    return time.time() - start\n",
        "time of day",
    ),
    "split-key: in the head of a loop": (
        "split-key",
        "def f(key):\n    for x in «jax.random.normal(key, (3,))»:\n        print(x, key)\n",
        "compound statement",
    ),
}


@pytest.mark.parametrize(("codemod", "marked", "expected"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, codemod, marked, expected):
    assert rewrite(codemod, HEAD + marked) == HEAD + expected


@pytest.mark.parametrize(("codemod", "marked", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(rewrite, codemod, marked, reason):
    result = rewrite(codemod, HEAD + marked, name="mode", key="key")
    assert result.startswith("refused: ")
    assert reason in result
