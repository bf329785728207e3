"""`for-to-scan`, `for-to-vmap` and `stack-to-vmap`: what they write computes the same values and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.codemods.conftest import Rewrite

pytestmark = pytest.mark.usefixtures("compiled_quickly")

HEAD = """import jax
import jax.numpy as jnp
import numpy as np

def cell(w, h, x):
    return jnp.tanh(h @ w + x)

def norm(x):
    return jnp.sqrt(jnp.sum(x**2) + 1.0)

def pair(x):
    return x, x * 2

"""

# `f(w, h, xs)`: a matrix, a vector, and rows of vectors.
SCANS = {
    "states that are stacked": (
        "def f(w, h, xs):\n    hs = []\n    for x in «xs»:\n        h = cell(w, h, x)\n        hs.append(h)\n    return jnp.stack(hs), h\n",
        "h, hs = jax.lax.scan(body_fun, h, xs)\n    return hs, h",
    ),
    "several lists, comments, a value that changes afterwards": (
        "def f(w, h, xs):\n    hs, outs = [], []\n    total = 0.0\n    # all rows\n    for x in «xs»:  # one by one\n        # before\n"
        "        hs.append(h)\n        # a step\n        h = cell(w, h, x)\n        total = total + h.sum()\n        outs.append(h * 2)  # after\n"
        "    hs = jnp.stack(hs)\n    return hs, jnp.array(outs, ), total\n",
        "hs_row = h",
    ),
    "a list that begins with the start": (
        "def f(w, h, xs):\n    states = [h]\n    for x in «xs»:\n        h = cell(w, h, x)\n        states.append(h)\n    return jnp.stack(states)\n",
        "states = jnp.concatenate([jnp.stack(states), new_states])",
    ),
    "a list whose last item is read": (
        "def f(w, h, xs):\n    states = [h]\n    for x in «xs»:\n        states.append(cell(w, states[-1], x))\n    return jnp.stack(states)\n",
        "_, new_states = jax.lax.scan(body_fun, states[-1], xs)",
    ),
    "a last item beside a carry and a count": (
        "def f(w, h, xs):\n    states, g = [w[0], h], h * 2\n    for t in «range(4)»:\n        step = cell(w, states[-1], g) * float(t)\n        g = g + states[-1]\n"
        "        states.append(step)\n    return jnp.stack(states), g\n",
        "(g, _), new_states = jax.lax.scan(body_fun, (g, states[-1]), jnp.arange(4))",
    ),
    "a count that is not used": (
        "def f(w, h, xs):\n    out = []\n    for _ in «range(7)»:\n        h = jnp.tanh(h @ w)\n        out += [h]\n    return jnp.asarray(out)\n",
        "jax.lax.scan(body_fun, h, None, length=7)",
    ),
    "an index of rows": (
        "def f(w, h, xs):\n    out = []\n    for i in «range(len(xs))»:\n        h = cell(w, h, xs[i])\n        out.append(h.sum())\n    return jnp.stack(out)\n",
        "h, out = jax.lax.scan(body_fun, h, xs)",
    ),
    "an index that counts as well": (
        "def f(w, h, xs):\n    out = []\n    for i in «range(1, xs.shape[0])»:\n        h = cell(w, h, xs[i] - xs[i - 1]) * i\n        out.append(h)\n"
        "    return jnp.stack(out)\n",
        "jnp.arange(1, xs.shape[0])",
    ),
    "enumerate, two carried": (
        "def f(w, h, xs):\n    a, b, out = h, jnp.zeros_like(h), []\n    for i, x in «enumerate(xs)»:\n        a, b = cell(w, a, x), b + a / (i + 1)\n"
        "        out.append(a * b)\n    return jnp.stack(out), b\n",
        None,
    ),
    "zip": (
        "def f(w, h, xs):\n    out = []\n    for x, y in «zip(xs[1:], xs[:-1])»:\n        h = cell(w, h, x * y)\n        out.append(h)\n"
        "    return jnp.stack(out)\n",
        "(xs[1:], xs[:-1])",
    ),
    "rows in reverse": (
        "def f(w, h, xs):\n    out = []\n    for x in «reversed(xs)»:\n        h = cell(w, h, x)\n        out.append(h)\n    return jnp.stack(out)\n",
        "xs[::-1]",
    ),
    "reverse in and out": (
        "def f(w, h, xs):\n    out = []\n    for x in «reversed(xs)»:\n        h = cell(w, h, x)\n        out.append(h)\n"
        "    return jnp.stack(out[::-1]), h\n",
        "h, out = jax.lax.scan(body_fun, h, xs, reverse=True)\n    return out, h",
    ),
    "advantages": (
        "def f(w, h, xs):\n    values, rewards = xs @ w, jnp.sin(xs)\n    result = []\n    last, after = jnp.zeros_like(h), h\n"
        "    for t in «reversed(range(len(rewards)))»:\n        delta = rewards[t] + 0.9 * after - values[t]\n        last = delta + 0.8 * last\n"
        "        after = values[t]\n        result.append(last)\n    return jnp.stack(list(reversed(result)))\n",
        "(rewards, values),\n        reverse=True,",
    ),
    "advantages, turned around afterwards": (
        "def f(w, h, xs):\n    values = xs @ w\n    result = []\n    last = h\n"
        "    for t in «reversed(range(len(values)))»:\n        last = values[t] - 0.8 * last\n        result.append(last)\n"
        "    result = result[::-1]\n    return jnp.array(result)\n",
        "jax.lax.scan(body_fun, last, values, reverse=True)\n    return result",
    ),
    "turned around in place": (
        "def f(w, h, xs):\n    out = []\n    for x in «xs»:\n        h = cell(w, h, x)\n        out.append(h)\n"
        "    out.reverse()\n    return jnp.stack(out), jnp.stack(out[::-1])\n",
        "return out[::-1], out",
    ),
    "advantages, counted down, from the front": (
        "def f(w, h, xs):\n    values = xs @ w\n    steps, _ = values.shape\n    result = []\n    last = h\n"
        "    for t in «range(steps - 1, -1, -1)»:\n        last = values[t] - 0.8 * last\n        result.insert(0, last)\n"
        "    return jnp.array(result)\n",
        "jax.lax.scan(body_fun, last, values, reverse=True)",
    ),
    "advantages, with the value after": (
        "def f(w, h, xs):\n    values = jnp.concatenate([xs @ w, h[None]])\n    result = []\n    last = h\n"
        "    for t in «range(len(xs) - 1, -1, -1)»:\n        last = xs[t] + 0.9 * values[t + 1] - values[t] + 0.8 * last\n"
        "        result = [last] + result\n    return jnp.stack(result)\n",
        "jnp.arange(len(xs)), reverse=True",
    ),
    "filled forwards, used backwards": (
        "def f(w, h, xs):\n    out, front = [], []\n    for x in «xs»:\n        h = cell(w, h, x)\n        out.append(h)\n"
        "        front.insert(0, h * 2)\n    return jnp.stack(out[::-1]), jnp.stack(out), jnp.stack(front)\n",
        "return out[::-1], out, front[::-1]",
    ),
    "another axis": (
        "def f(w, h, xs):\n    out = []\n    for x in «xs»:\n        h = cell(w, h, x)\n        out.append(h)\n    return jnp.stack(out, axis=1)\n",
        "jnp.moveaxis(out, 0, 1)",
    ),
    "a tuple of lists": (
        "def f(w, h, xs):\n    hs, outs = [], []\n    for x in «xs»:\n        hs.append(h)\n        h = cell(w, h, x)\n        outs.append(h)\n"
        "    batch = (hs, outs)\n    return h, [jnp.stack(x) for x in batch]\n",
        "batch = (hs, outs)\n    return h, list(batch)",
    ),
    "lists of lists, written out": (
        "def f(w, h, xs):\n    hs, outs = [], []\n    for x in «xs»:\n        hs.append(h)\n        h = cell(w, h, x)\n        outs.append(h)\n"
        "    a, b = (jnp.stack(one) for one in (hs, outs))\n    c, d = map(jnp.stack, [outs, hs])\n"
        "    return tuple(jnp.array(x) for x in (hs, outs)), [jnp.stack(x) for x in (outs, hs)], a, b, c, d\n",
        "[outs, hs], a, b, c, d",
    ),
    "transitions that are tuples": (
        "def f(w, h, xs):\n    steps = []\n    for x in «xs»:\n        new = cell(w, h, x)\n        steps.append((h, new.sum()))\n        h = new\n"
        "    before, total = map(jnp.stack, zip(*steps))\n    return before, total, [jnp.stack(x) for x in zip(*steps)]\n",
        "before, total = steps",
    ),
    "transitions that are trees": (
        "def f(w, h, xs):\n    steps = []\n    for x in «xs»:\n        new = cell(w, h, x)\n        steps.append({'before': h, 'new': (new, x)})\n"
        "        h = new\n    return jax.tree.map(lambda *xs: jnp.stack(xs), *steps)\n",
        "return steps",
    ),
    "names within names": (
        "def f(w, h, xs):\n    out, xs_old = [], xs * 2\n    for i in «range(len(xs))»:\n        h = cell(w, h, xs[i]) + xs_old[i]\n        out.append(h)\n"
        "    return jnp.stack(out)\n",
        "(xs, xs_old)",
    ),
    "no carry": (
        "def f(w, h, xs):\n    out = []\n    for x in «xs»:\n        y = jnp.sin(x @ w)\n        out.append(y * h)\n    return jnp.stack(out)\n",
        "_, out = jax.lax.scan(body_fun, None, xs)",
    ),
    "keys": (
        "def f(w, h, xs):\n    key = jax.random.key(0)\n    out = []\n    for x in «xs»:\n        key, sub = jax.random.split(key)\n"
        "        h = cell(w, h, x + jax.random.normal(sub, x.shape))\n        out.append(h)\n    return jnp.stack(out)\n",
        "(key, h)",
    ),
    "what is done with the list afterwards": (
        "def f(w, h, xs):\n    out = []\n    for x in «xs»:\n        h = cell(w, h, x)\n        out.append(h)\n"
        "    return jnp.concatenate(out), jnp.stack(out, axis=1), out[-1] * len(out), jnp.vstack(out)\n",
        None,
    ),
    "sums of gradients": (
        "def f(w, h, xs):\n    total = jnp.zeros_like(w)\n    loss = 0.0\n    for x in «xs»:\n"
        "        value, grads = jax.value_and_grad(lambda w: jnp.sum(cell(w, h, x) ** 2))(w)\n        loss += value\n"
        "        total = jax.tree.map(jnp.add, total, grads)\n    return loss / 4, total\n",
        "(loss, total), _ = jax.lax.scan(body_fun, (loss, total), xs)",
    ),
    "gradients of parts of a batch": (
        "def f(w, h, xs):\n    total = jnp.zeros_like(w)\n    for i in «range(2)»:\n        part = xs[i * 2:(i + 1) * 2]\n"
        "        total += jax.grad(lambda w: jnp.mean(jnp.tanh(part @ w + h)))(w)\n    return total\n",
        "xs[: 2 * 2].reshape(2, 2, *xs.shape[1:])[i]",
    ),
    "equal parts": (
        "def f(w, h, xs):\n    total = jnp.zeros_like(w)\n    for part in «jnp.split(xs, 2)»:\n"
        "        total = total + jax.grad(lambda w: jnp.mean(jnp.tanh(part @ w + h)))(w)\n    return total\n",
        "jnp.stack(jnp.split(xs, 2))",
    ),
    "a string over lines, a long line": (
        "def f(w, h, xs):\n    first, second, third = [], [], []\n    for x in «xs»:\n        h = cell(\n            w, h,\n            x)\n"
        "        first.append(h * 1.0 + jnp.sin(h) * jnp.cos(h) * jnp.tanh(h))\n        second.append(jnp.where(h > 0, h, h * 0.25) + jnp.exp(h)\n"
        "            * 0.5)\n        third.append((h, x)[0])\n    return jnp.stack(first), jnp.stack(second), jnp.stack(third)\n",
        None,
    ),
    "to NumPy": (
        "def f(w, h, xs):\n    out = []\n    for x in «xs»:\n        h = cell(w, h, x)\n        out.append(h)\n    return jnp.sum(jnp.stack(out)), h\n",
        None,
    ),
}  # fmt: skip

LAYERS = {
    "a list of dictionaries": (
        "def f(w, h, xs):\n    layers = [{'w': w * k, 'b': x} for k, x in zip((1.0, 0.5, 0.3, 0.1), xs)]\n    for layer in «layers»:\n"
        "        h = h + jnp.tanh(h @ layer['w'] + layer['b'])\n    return h\n",
        "jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)",
    ),
    "pairs, counted": (
        "def f(w, h, xs):\n    layers = [(w, x) for x in xs]\n    for i, (weight, bias) in «enumerate(layers)»:\n"
        "        h = h + jnp.tanh(h @ weight + bias) / (i + 1)\n    return h\n",
        "i, (weight, bias) = row",
    ),
    "layers and states": (
        "def f(w, h, xs):\n    layers, states, new = [w, w * 2, w * 3, w], [x for x in xs], []\n    for layer, state in «zip(layers, states)»:\n"
        "        h = jnp.tanh(h @ layer + state)\n        new.append(h)\n    return h, jnp.stack(new)\n",
        None,
    ),
}  # fmt: skip

VMAPS = {
    "heads, as parts of the last axis": (
        "def f(w, h, xs):\n    size, out = 1, []\n    for i in «range(3)»:\n        out.append(jnp.tanh(xs[..., i * size : (i + 1) * size] @ w[i * size : size * (i + 1)]))\n"
        "    return jnp.concatenate(out, axis=-1)\n",
        "xs[..., : 3 * size].reshape(*xs.shape[:-1], 3, size)[..., i, :]",
    ),
    "heads, as columns of weights": (
        "def f(w, h, xs):\n    size, out = 1, []\n    for i in «range(3)»:\n        out.append(xs @ w[:, size * i : size * (i + 1)])\n    return jnp.stack(out)\n",
        "w[:, : 3 * size].reshape(*w.shape[:1], 3, size, *w.shape[2:])[:, i]",
    ),
    "one append": (
        "def f(w, h, xs):\n    out = []\n    for x in «xs»:\n        out.append(norm(x))\n    return jnp.array(out)\n",
        "out = jax.vmap(norm)(xs)\n    return out",
    ),
    "with more": (
        "def f(w, h, xs):\n    out = []\n    for i, x in «enumerate(xs)»:\n        out.append(cell(w, h, x) * i)\n    return jnp.stack(out)\n",
        "jax.vmap(lambda i, x: cell(w, h, x) * i)(jnp.arange(len(xs)), xs)",
    ),
    "a block, two lists": (
        "def f(w, h, xs):\n    a, b = [], []\n    for x, y in «zip(xs, xs * 2)»:\n        # both\n        z = jnp.sin(x @ w) * y\n        a.append(z)\n"
        "        b.append(z.sum() + norm(x))\n    return jnp.stack(a), jnp.stack(b)\n",
        "a, b = jax.vmap(row_fun)(xs, xs * 2)",
    ),
    "columns, kept as such": (
        "def f(w, h, xs):\n    a, b = [], []\n    for k in «range(xs.shape[1])»:\n        z = jnp.sum(xs[:, k : k + 1] * w[k], axis=0)\n"
        "        a.append(z)\n        b.append(z @ w)\n    return jnp.stack(a), jnp.stack(b)\n",
        "jax.lax.dynamic_slice_in_dim(xs, k, 1, axis=1) * w[k]",
    ),
    "windows": (
        "def f(w, h, xs):\n    size, out = 2, []\n    for i in «range(len(xs) - size + 1)»:\n        out.append(cell(w, h, xs[i : i + size]))\n"
        "    return jnp.stack(out)\n",
        "jax.lax.dynamic_slice_in_dim(xs, i, size)",
    ),
}  # fmt: skip

STACKS = {
    "a function": ("def f(w, h, xs):\n    return «jnp.stack([norm(x) for x in xs])»\n", "return jax.vmap(norm)(xs)"),
    "an expression": (
        "def f(w, h, xs):\n    return «jnp.array([jnp.dot(x, h) + 1 for x in xs])»\n",
        "jax.vmap(lambda x: jnp.dot(x, h) + 1)(xs)",
    ),
    "by an index": (
        "def f(w, h, xs):\n    return «jnp.stack([norm(xs[i]) for i in range(xs.shape[0])])»\n", "jax.vmap(norm)(xs)"
    ),
    "an index that counts": (
        "def f(w, h, xs):\n    return «jnp.stack([xs[i] * i for i in range(3)])»\n",
        "jax.vmap(lambda i: xs[i] * i)(jnp.arange(3))",
    ),
    "another axis": (
        "def f(w, h, xs):\n    return «jnp.stack([cell(w, h, x) for x in xs], axis=-1)»\n",
        "jax.vmap(lambda x: cell(w, h, x), out_axes=-1)(xs)",
    ),
    "zip and enumerate": (
        "def f(w, h, xs):\n    return «jnp.stack([norm(x * y) + i for i, (x, y) in enumerate(zip(xs, xs * 2))])»\n",
        "jax.vmap(lambda i, x, y: norm(x * y) + i)(jnp.arange(len(xs)), xs, xs * 2)",
    ),
    "keys": (
        "def f(w, h, xs):\n    keys = jax.random.split(jax.random.key(1), 4)\n"
        "    return «jnp.stack([jax.random.normal(key, (3,)) * h for key in keys])»\n",
        "jax.vmap(lambda key: jax.random.normal(key, (3,)) * h)(keys)",
    ),
}  # fmt: skip

REFUSED = {
    "a list that is read before it is reversed": (
        "for-to-scan",
        "hs = []\n    for x in «xs»:\n        hs.append(x)\n    first = jnp.stack(hs)\n    hs.reverse()\n    return first, jnp.stack(hs)\n",
        "read before it is reversed",
    ),
    "a list that is returned": ("for-to-scan", "hs = []\n    for x in «xs»:\n        hs.append(x)\n    return hs\n", "is used as a list"),
    "a branch": (
        "for-to-scan",
        "hs = []\n    for x in «xs»:\n        if x.sum() > 0:\n            h = h + x\n        hs.append(h)\n    return jnp.stack(hs)\n",
        "branches on `x`",
    ),
    "a branch on the count": (
        "for-to-scan",
        "hs = []\n    for i in «range(4)»:\n        h = h + (1 if i % 2 else 2)\n        hs.append(h)\n    return jnp.stack(hs)\n",
        "branches on `i`",
    ),
    "a condition around the append": (
        "for-to-scan", "hs = []\n    for x in «xs»:\n        if True:\n            hs.append(x)\n    return jnp.stack(hs)\n", "append",
    ),
    "output": ("for-to-scan", "for x in «xs»:\n        h = h + x\n        print(h)\n    return h\n", "effect"),
    "a number": ("for-to-scan", "for x in «xs»:\n        h = h + float(x.sum())\n    return h\n", "calls `float()`"),
    "NumPy": ("for-to-scan", "for x in «xs»:\n        h = h + np.sum(x)\n    return h\n", "does not take tracers"),
    "chance": ("for-to-scan", "for x in «xs»:\n        h = h + x * np.random.rand()\n    return h\n", "at trace time"),
    "a list that Python drew": (
        "stack-to-vmap",
        "import random\n    batch = random.sample(xs, 2)\n    return «jnp.array([row[0] for row in batch])»\n",
        "array",
    ),
    "chance by a generator": (
        "for-to-scan",
        "rng = np.random.default_rng(0)\n    for x in «xs»:\n        h = h + x * rng.normal()\n    return h\n",
        "at trace time",
    ),
    "break": ("for-to-scan", "for x in «xs»:\n        h = h + x\n        break\n    return h\n", "break"),
    "a slice that is made by itself": (
        "for-to-vmap", "out = []\n    for i in «range(2)»:\n        out.append(xs[slice(i, i + 2)])\n    return jnp.stack(out)\n", "slices by `i`",
    ),
    "parts of an axis that others follow": (
        "for-to-vmap", "out = []\n    for i in «range(2)»:\n        out.append(xs[i * 2 : (i + 1) * 2, 0])\n    return jnp.stack(out)\n", "slices by `i`",
    ),
    "a slice in a function that it calls": (
        "for-to-scan",
        "def part(x, n):\n        end = 2 * n\n        return x[:end].sum()\n    for i in «range(4)»:\n        h = h + part(xs, i)\n    return h\n",
        "`part`, which it calls, slices by `end`",
    ),
    "a shape in a function that a function calls": (
        "for-to-scan",
        "def ones(n):\n        return jnp.ones(n)\n    def part(x, n):\n        return x + ones(n=n).sum()\n"
        "    for i in «range(4)»:\n        h = part(h, i + 1)\n    return h\n",
        "`ones`, which it calls, computes a shape from `n`",
    ),
    "a slice that grows": ("for-to-scan", "for i in «range(4)»:\n        h = h + xs[:i].sum()\n    return h\n", "slices by `i`"),
    "windows that may be cut off": (
        "for-to-vmap", "out = []\n    for i in «range(len(xs))»:\n        out.append(xs[i : i + 2].sum())\n    return jnp.stack(out)\n", "slices by `i`",
    ),
    "columns of another array": (
        "for-to-vmap", "out = []\n    for i in «range(w.shape[1])»:\n        out.append(xs[:, i : i + 1].sum())\n    return jnp.stack(out)\n", "slices by `i`",
    ),
    "windows of another width each": (
        "for-to-scan",
        "for i in «range(len(xs) - 2)»:\n        n = i + 1\n        h = h + xs[i : i + n].sum(0)\n    return h\n",
        "slices by `i`",
    ),
    "layers that are called": ("for-to-scan", "for layer in «xs.layers»:\n        h = layer(h)\n    return h\n", "may change state"),
    "a shape": ("for-to-scan", "for i in «range(4)»:\n        h = h + jnp.ones(i).sum()\n    return h\n", "a shape from `i`"),
    "a list by index": (
        "for-to-scan", "ws = [1.0, 2.0]\n    for i in «range(2)»:\n        h = h * ws[i]\n    return h\n", "not an array",
    ),
    "methods of layers that are called": ("for-to-scan", "for layer in «xs.layers»:\n        h = layer.forward(h)\n    return h\n", ""),
    "a list of layers": ("for-to-scan", "ws = [w, w]\n    for a in «ws»:\n        h = h @ a\n    return h\n", "not an array"),
    "two appends": (
        "for-to-scan", "hs = []\n    for x in «xs»:\n        hs.append(x)\n        hs.append(h)\n    return jnp.stack(hs)\n", "more than once",
    ),
    "a value that may be missing": (
        "for-to-scan", "for x in «xs»:\n        last = x * 2\n    return last\n", "no value before the loop",
    ),
    "the row afterwards": ("for-to-scan", "for x in «xs»:\n        h = h + x\n    return h + x\n", "`x` is used after the loop"),
    "a list whose last item is read after the loop has added to it": (
        "for-to-scan",
        "hs = [h]\n    for x in «xs»:\n        hs.append(h + x)\n        h = hs[-1] * 2\n    return jnp.stack(hs)\n",
        "elsewhere",
    ),
    "a list that begins empty and whose last item is read": (
        "for-to-scan",
        "hs = []\n    for x in «xs»:\n        hs.append(hs[-1] + x)\n    return jnp.stack(hs)\n",
        "elsewhere",
    ),
    "a last item on which the loop decides": (
        "for-to-scan",
        "hs = [h]\n    for x in «xs»:\n        hs.append(hs[-1] + x if hs[-1].sum() > 0 else x)\n    return jnp.stack(hs)\n",
        "",
    ),
    "rows that need the last item": (
        "for-to-vmap",
        "hs = [h]\n    for x in «xs»:\n        hs.append(hs[-1] + x)\n    return jnp.stack(hs)\n",
        "carried",
    ),
    "a list that the loop reads": (
        "for-to-scan", "hs = [h]\n    for x in «xs»:\n        hs.append(hs[0] + x)\n    return jnp.stack(hs)\n", "elsewhere",
    ),
    "a carry under vmap": (
        "for-to-vmap", "hs = []\n    for x in «xs»:\n        h = h + x\n        hs.append(h)\n    return jnp.stack(hs)\n", "is carried between iterations",
    ),
    "a tuple with another list": (
        "for-to-scan", "hs, other = [], [w]\n    for x in «xs»:\n        hs.append(x)\n    return [jnp.stack(x) for x in (hs, other)]\n", "is used as a list",
    ),
    "trees in reverse": (
        "for-to-scan",
        "hs = []\n    for x in «xs»:\n        hs.append((h, x))\n    return jax.tree.map(lambda *xs: jnp.stack(xs), *hs[::-1])\n",
        "reverse order",
    ),
    "what is said of the list's order": (
        "for-to-scan", "hs = []\n    for x in «xs»:\n        hs.insert(0, x)\n    return hs[-1]\n", "reverse order",
    ),
    "a front of a list that has one": (
        "for-to-scan", "hs = [h]\n    for x in «xs»:\n        hs.insert(0, x)\n    return jnp.stack(hs)\n", "does not start empty",
    ),
    "a filter": ("stack-to-vmap", "return «jnp.stack([x for x in xs if x.sum() > 0])»\n", "skips rows"),
    "pairs": ("stack-to-vmap", "return «jnp.array([pair(x) for x in xs])»\n", "several values"),
    "numbers": ("stack-to-vmap", "return «jnp.array([float(x.sum()) for x in xs])»\n", "calls `float()`"),
    "equal rows": ("stack-to-vmap", "return «jnp.stack([h for x in xs])»\n", "the rows do not depend"),
    "a dictionary": ("stack-to-vmap", "d = {'a': h}\n    return «jnp.stack([v * 2 for v in d.values()])»\n", "not an array"),
}  # fmt: skip


def function_of(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "program.py", "exec"), names)
    return names["f"]


def check_same(before: str, after: str) -> None:
    """On random inputs: values, and the gradient of their weighted sum by each argument."""
    original, rewritten = function_of(before), function_of(after)

    def total(function: Callable[..., Any], *arguments: Any) -> Any:
        leaves = jax.tree.leaves(function(*arguments))
        return sum(jnp.sum(leaf * (k + 1.5)) for k, leaf in enumerate(leaves))

    def slopes(function: Callable[..., Any]) -> Callable[..., Any]:
        return jax.grad(lambda *arguments: total(function, *arguments), argnums=(0, 1, 2))

    compiled = jax.jit(rewritten)
    gradients = jax.jit(lambda *given: [slopes(f)(*given) for f in (original, rewritten)])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        given = [jnp.asarray(rng.normal(size=s), jnp.float32) for s in ((3, 3), (3,), (4, 3))]
        want, got = original(*given), compiled(*given)
        assert jax.tree.structure(got) == jax.tree.structure(want)
        for one, two in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
            assert one.shape == jnp.shape(two)
            assert one.dtype == jnp.asarray(two).dtype
            np.testing.assert_allclose(one, two, rtol=2e-5, atol=1e-6)
        for one, two in zip(*gradients(*given), strict=True):
            np.testing.assert_allclose(two, one, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(("code", "expect"), SCANS.values(), ids=SCANS)
def test_scans_compute_the_same(rewrite: Rewrite, code: str, expect: str | None) -> None:
    text = rewrite("for-to-scan", HEAD + code)
    assert "jax.lax.scan(" in text, text
    assert (expect or "") in text
    check_same(HEAD + code.replace("«", "").replace("»", ""), text)


@pytest.mark.parametrize(("code", "expect"), LAYERS.values(), ids=LAYERS)
def test_scans_over_layers_compute_the_same(rewrite: Rewrite, code: str, expect: str | None) -> None:
    text = rewrite("for-to-scan", HEAD + code, layers=True)
    assert "jax.lax.scan(" in text, text
    assert (expect or "") in text
    check_same(HEAD + code.replace("«", "").replace("»", ""), text)


@pytest.mark.parametrize(("code", "expect"), VMAPS.values(), ids=VMAPS)
def test_mapped_loops_compute_the_same(rewrite: Rewrite, code: str, expect: str | None) -> None:
    text = rewrite("for-to-vmap", HEAD + code)
    assert (expect or "") in text, text
    check_same(HEAD + code.replace("«", "").replace("»", ""), text)


SUMS = {
    "a loss by row": (
        "def f(w, h, xs):\n    total = 0.0\n    for x in «xs»:\n        total = total + cell(w, h, x).sum()\n    return total / len(xs)\n",
        "total_parts = jax.vmap(lambda x: cell(w, h, x).sum())(xs)\n    total = total + jnp.sum(total_parts, axis=0)\n",
    ),
    "by index, added to what there is": (
        "def f(w, h, xs):\n    for i in «range(len(xs))»:\n        h += cell(w, xs[i], xs[i] * 2)\n    return h\n",
        "h = h + jnp.sum(h_parts, axis=0)",
    ),
    "two sums, the second from a value between, and a stack": (
        "def f(w, h, xs):\n    a, b, out = 0.0, jnp.zeros(()), []\n    for i, x in «enumerate(xs)»:\n        y = cell(w, h, x)\n        a = y * i + a\n"
        "        y = y * 2\n        b += jnp.sum(y)\n        out.append(y)\n    return a, b, jnp.stack(out)\n",
        "b = b + jnp.sum(b_parts, axis=0)",
    ),
}

NO_SUMS = {
    "what there is is read": "total = 0.0\n    for x in «xs»:\n        total = total + (x - total).sum()\n    return total\n",
    "what there is is multiplied": "total = 0.0\n    for x in «xs»:\n        total = 0.9 * total + x.sum()\n    return total\n",
    "another reads it": "total, most = 0.0, 0.0\n    for x in «xs»:\n        total = total + x.sum()\n        most = jnp.maximum(most, total)\n    return most\n",
    "added twice": "total = 0.0\n    for x in «xs»:\n        total = total + x.sum()\n        total = total + 1.0\n    return total\n",
    "subtracted": "total = 0.0\n    for x in «xs»:\n        total -= x.sum()\n    return total\n",
}


@pytest.mark.parametrize(("code", "expect"), SUMS.values(), ids=SUMS)
def test_sums_over_mapped_rows_compute_the_same(rewrite: Rewrite, code: str, expect: str) -> None:
    text = rewrite("for-to-vmap", HEAD + code, sums=True)
    assert expect in text, text
    check_same(HEAD + code.replace("«", "").replace("»", ""), text)
    assert "is carried between iterations" in rewrite(
        "for-to-vmap", HEAD + code
    )  # not unless it is asked for


@pytest.mark.parametrize("body", NO_SUMS.values(), ids=NO_SUMS)
def test_what_each_iteration_needs_is_no_sum(rewrite: Rewrite, body: str) -> None:
    code = f"{HEAD}def f(w, h, xs):\n    {body}"
    assert "is carried between iterations" in rewrite("for-to-vmap", code, sums=True)


@pytest.mark.parametrize(("code", "expect"), STACKS.values(), ids=STACKS)
def test_mapped_comprehensions_compute_the_same(rewrite: Rewrite, code: str, expect: str | None) -> None:
    text = rewrite("stack-to-vmap", HEAD + code)
    assert "jax.vmap(" in text, text
    assert (expect or "") in text
    check_same(HEAD + code.replace("«", "").replace("»", ""), text)


@pytest.mark.parametrize(
    "value",
    [
        "jnp.full((3,), i)",
        "jnp.full(shape=(3,), fill_value=xs[i, 0])",
        "jnp.reshape(xs[i], (3,))",
        "jnp.tile(xs[i, 0], 3)",
        "jnp.linspace(0.0, xs[i, 0], 3)",
    ],
)
def test_values_that_depend_on_a_counter_are_no_shapes(rewrite: Rewrite, value: str) -> None:
    after = rewrite(
        "for-to-scan",
        f"{HEAD}def f(w, h, xs):\n    for i in «range(len(xs))»:\n        h = h + {value}\n    return h\n",
    )
    assert "lax.scan" in after, after


@pytest.mark.parametrize(
    "value",
    [
        "jnp.full(i, 1.0)",
        "jnp.full(shape=(i,), fill_value=1.0)",
        "xs.reshape(i, -1)",
        "jnp.tile(xs[0], i)",
        "jnp.linspace(0.0, 1.0, i)",
        "jnp.full(*(i, 1.0))",
    ],
)
def test_shapes_that_depend_on_a_counter_are_refused(rewrite: Rewrite, value: str) -> None:
    after = rewrite(
        "for-to-scan",
        f"{HEAD}def f(w, h, xs):\n    for i in «range(len(xs))»:\n        h = h + {value}.sum()\n    return h\n",
    )
    assert after.startswith("refused: ")
    assert "a shape from `i`" in after


@pytest.mark.parametrize(("codemod", "code", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_sure_is_refused(rewrite: Rewrite, codemod: str, code: str, reason: str) -> None:
    answer = rewrite(codemod, f"{HEAD}def f(w, h, xs):\n    {code}")
    assert answer.startswith("refused: ")
    assert reason in answer


LISTED = {
    "returned": "for x in «xs»:\n        h = jnp.tanh(h @ w + x)\n        hs.append(h)\n    return hs\n",
    "read in another loop, and stacked": "for x in «xs»:\n        h = jnp.tanh(h @ w + x)\n        hs.append(h)\n    both = [jnp.stack(hs)]\n    for one in hs:\n        both.append(one * 2)\n    return both\n",
    "filled on, after the loop": "for x in «xs»:\n        h = h + x\n        hs.append(h)\n    hs.append(w[0])\n    return hs\n",
}


@pytest.mark.parametrize("code", LISTED.values(), ids=LISTED)
def test_a_list_that_is_used_as_one_may_be_made_of_the_rows(rewrite: Rewrite, code: str) -> None:
    before = f"{HEAD}def f(w, h, xs):\n    hs = []\n    {code}"
    after = rewrite("for-to-scan", before, listed=True)
    assert "jax.lax.scan(" in after
    assert "    hs = list(hs)\n" in after
    check_same(before.replace("«", "").replace("»", ""), after)


@pytest.mark.parametrize(
    "code",
    [
        "for x in «xs»:\n        hs.append((x, h))\n    return hs\n",  # a list of tuples
        "hs.append(h)\n    for x in «xs»:\n        hs.append(x)\n    return hs\n",
        "for x in «xs»:\n        hs.insert(0, x)\n    return hs\n",
    ],
)
def test_rows_that_are_not_the_items_of_the_list_are_refused(rewrite: Rewrite, code: str) -> None:
    before = f"{HEAD}def f(w, h, xs):\n    hs = []\n    {code}"
    assert rewrite("for-to-scan", before, listed=True).startswith("refused: ")


def test_functions_that_take_a_traced_number_are_called(rewrite: Rewrite) -> None:
    """One that is asked for its own shapes, and one that calls itself, no more than a few deep."""
    code = (
        "def part(x, n, deep=False):\n        if deep or x.ndim > 9:\n            return part(x, n)\n        return x[: x.shape[0]] * n\n"
        "    for i in «range(4)»:\n        h = h + part(h, i)\n    return h\n"
    )
    assert "jax.lax.scan(" in rewrite("for-to-scan", f"{HEAD}def f(w, h, xs):\n    {code}")


def test_what_is_written(rewrite: Rewrite) -> None:
    before = (
        "import jax\nimport jax.numpy as jnp\n\ndef f(w, h, xs):\n    hs, total = [], 0.0\n    # all rows\n    for x in «xs»:  # one by one\n"
        "        # a step\n        h = jnp.tanh(h @ w + x)\n\n        total += h.sum()  # so far\n        hs.append(h)  # kept\n    return jnp.stack(hs), total\n"
    )
    assert rewrite("for-to-scan", before) == (
        "import jax\nimport jax.numpy as jnp\n\ndef f(w, h, xs):\n    total = 0.0\n    # all rows\n    # one by one\n"
        "    def body_fun(carry, x):\n        h, total = carry\n        # a step\n        h = jnp.tanh(h @ w + x)\n\n"
        "        total += h.sum()  # so far\n        return (h, total), h\n\n"
        "    (h, total), hs = jax.lax.scan(body_fun, (h, total), xs)  # kept\n    return hs, total\n"
    )


def test_rows_that_one_statement_unpacks_get_a_function(rewrite):
    before = (
        "import jax\nimport jax.numpy as jnp\n\n\n"
        "def loss(w, trials):\n"
        "    total = 0.0\n"
        "    for dose, seen in «trials»:\n"
        "        total += jnp.mean((w * dose - seen) ** 2)\n"
        "    return total + jnp.sum(w)\n\n\n"
        "trials = [(jnp.ones(3), jnp.zeros(3)), (2 * jnp.ones(3), jnp.ones(3))]\n"
        "print(loss(jnp.ones(3), trials))\n"
    )
    after = rewrite("for-to-vmap", before, layers=True, sums=True)
    assert (
        "        def row_fun(row):\n"
        "            dose, seen = row\n"
        "            return jnp.mean((w * dose - seen) ** 2)\n"
    ) in after
    assert "total_parts = jax.vmap(row_fun)(\n" in after
