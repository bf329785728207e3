"""Fixes keep what a program computes: the original runs without jit, the rewritten one under jit, on random inputs.

Values are compared, and derivatives: in reverse mode where the program has one, else forward through loops.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.finding import Finding
from jaxlint.fixes import fix_sources
from jaxlint.registry import all_rules
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze

CATEGORIES = ("tracing", "purity", "numerics", "recompilation", "transfer", "vectorization", "api")
HEAD = """
import math
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

"""


@dataclass(frozen=True)
class Program:
    """`f` in a source without imports. Its parameters are numbers, vectors (`v`, `w`) or counts (`n`, `m`).

    `mode`: how derivatives by the first argument are taken, "reverse", "forward" or "" for none. `expect` must stand in
    the rewritten text. `host`: the original assigns items, and runs on NumPy's arrays.
    `staged`: `f` itself is jitted.
    """

    code: str
    mode: str = "reverse"
    expect: str = ""
    host: bool = False
    staged: bool = True


PROGRAMS = {
    "ternary": Program("def f(x):\n    return x * 2 if x > 0 else -x\n", expect="jnp.where"),
    "ternary with an integer": Program("def f(x):\n    return x * x if x > 0 else 0\n", expect="jnp.where"),
    "ternary that guards a root": Program(
        "def f(x):\n    return jnp.sqrt(x) if x > 0 else 0\n", expect="lambda: 0.0"
    ),
    "ternary that guards a division": Program(
        "def f(x, y):\n    return x / y if y != 0 else x\n", expect="lax.cond"
    ),
    "nested ternaries": Program("def f(x):\n    return x if x > 1 else x * x if x > 0 else -x\n"),
    "ternary inside an expression": Program("def f(x, y):\n    return 3 * (x if x > y else y) + 1\n"),
    "ternary over lines": Program("def f(x, y):\n    return (\n        x  # first\n        + 1\n    ) if x > y else (\n        y * 2\n    )\n"),
    "both branches assign": Program(
        "def f(x):\n    if x > 0:\n        y = x * 3\n    else:\n        y = x - 1\n    return y * y\n", expect="jnp.where"
    ),
    "no else": Program("def f(x):\n    y = x\n    if x < 0:\n        y = -x\n    return y + 1\n"),
    "augmented": Program("def f(x):\n    y = x\n    if x < 0:\n        y *= 2 - x\n    return y\n"),
    "two results": Program(
        "def f(x):\n    if x < 0:\n        y = 1.0\n        z = x\n    else:\n        y = x\n        z = 2.0\n    return y * z\n",
        expect="jnp.where",
    ),
    "results that depend on each other": Program(
        "def f(x):\n    y = x\n    if x < 0:\n        x = x + 1\n        y = x * 2\n    return x * y\n", expect="lax.cond"
    ),
    "the test reads what a branch binds": Program(
        "def f(x, y):\n    if x < y:\n        x = y + 1\n        y = x * 2\n    return x * y\n"
    ),
    "swap": Program("def f(x, y):\n    if x < y:\n        x, y = y, x\n    return x - 2 * y\n"),
    "blocks": Program(
        "def f(x):\n    if x > 0:\n        # root\n        t = x + 1\n        y = jnp.sqrt(t)\n        y = y * t\n    else:\n"
        "        y = x * 2\n        y += 1\n    return y\n",
        expect="lax.cond",
    ),
    "one branch leaves the value alone": Program(
        "def f(x):\n    y = jnp.sin(x)\n    if y > 0:\n        t = y * 2\n        y = t / (t + 1)\n    return y + x\n"
    ),
    "elif": Program(
        "def f(x):\n    if x > 1:\n        y = x\n    elif x > 0:\n        y = x * x\n    else:\n        y = -x\n    return y\n"
    ),
    "elif with blocks": Program(
        "def f(x):\n    if x > 1:\n        y = x / 2\n    elif x > 0:\n        t = x * x\n        y = t / (1 + x)\n    else:\n"
        "        y = -x\n    return y\n"
    ),
    "early return": Program("def f(x):\n    if x < 0:\n        return -x\n    return x * x\n", expect="return jnp.where"),
    "early return before a computation": Program(
        "def f(x):\n    if x < 0:\n        return x\n    # positive\n    y = jnp.log(x + 1)\n    y += x\n    return y  # done\n",
        expect="lax.cond",
    ),
    "early returns in a row": Program(
        "def f(x):\n    if x < -1:\n        return x\n    y = jnp.exp(x)\n    if y < 1:\n        return y\n    x = x + y\n"
        "    return x / y\n"
    ),
    "return in both branches": Program(
        "def f(x):\n    if x < 0:\n        t = x * x\n        return t * x / 2\n    else:\n        return x\n"
    ),
    "return on one side, the other goes on": Program(
        "def f(x):\n    y = x\n    if x > 1:\n        return x / 3\n    elif x < 0:\n        y = x * x\n    y = y + 1\n    return y\n"
    ),
    "several values": Program("def f(x):\n    if x < 0:\n        return x, 1.0\n    return -x, x\n", expect="lax.cond"),
    "a branch in a loop": Program(
        "def f(x):\n    for i in range(3):\n        if x < i:\n            x = x * 2 + 1\n        else:\n            x = x / 2\n"
        "    return x\n"
    ),
    "a branch in a branch": Program(
        "def f(x, y):\n    if x < 0:\n        z = x\n        if y < 0:\n            z = z * y\n        z = z / 2\n    else:\n"
        "        z = y\n    return z\n"
    ),
    "on one line": Program("def f(x):\n    if x < 0: x = -x\n    return x\n"),
    "in a helper": Program(
        "def g(x, limit):\n    if jnp.max(x) > limit:\n        return x / jnp.max(x)\n    return x\n\ndef f(v):\n"
        "    return g(v, 0.5) * 2\n"
    ),
    "a test of an array function": Program("def f(v):\n    return v * 2 if jnp.any(v > 1) else v\n"),
    "and": Program("def f(x, y):\n    both = x > 0 and y > 0\n    return jnp.where(both, x, y)\n", expect="&"),
    "or, not": Program(
        "def f(x, y):\n    one = not x > 0 or jnp.isfinite(y) and y > 0\n    return jnp.where(one, x, y)\n"
    ),
    "and in a test": Program("def f(x, y):\n    return x if x > 0 and not y > 0 else y\n"),
    "chained comparison": Program("def f(x, y):\n    return x if -1 < x <= y else y\n"),
    "only for a literal": Program("def f(x, n):\n    return jnp.where(n + 0 in (1, 3), x, -x)\n"),
    "no only for a literal": Program("def f(x, n):\n    return x if n + 1 not in (1, 3) else -x\n"),
    "max and min": Program("def f(x, y):\n    x, y = x * 1, y * 1\n    return max(x, y, 0.5) - min(x, y)\n", expect="jnp.maximum"),
    "all and any": Program("def f(x, y):\n    return jnp.where(all([x > 0, y > 0]) or any((x > 2, y > 2)), x, y)\n"),
    "while": Program(
        "def f(x):\n    y = abs(x) + 0.1\n    while y < 10:\n        y = y * 2\n    return y\n", "forward", "lax.while_loop"
    ),
    "while with a count": Program(
        "def f(x):\n    y, n = abs(x) + 0.1, 0\n    while y < 10 and n < 3:\n        t = y * 2\n        y = t + 1\n        n += 1\n"
        "    return y * n\n",
        "forward",
    ),
    "while whose count becomes a float": Program(
        "def f(x):\n    s = 0\n    while s < 3:\n        s = s + 0.5 + x * x\n    return s\n", "forward"
    ),
    "while with a branch": Program(
        "def f(x):\n    y = abs(x)\n    while y < 5:\n        if y < 1:\n            y = y + 1\n        else:\n            y = y * 1.5\n"
        "    return y\n",
        "forward",
    ),
    "while that may not run": Program("def f(x):\n    while x > 1:\n        x = x / 2\n    return x\n", "forward"),
    "for over a traced range": Program(
        "def f(x, n):\n    s = 0.0\n    for i in range(n):\n        s += x * i\n    return s\n", "forward", "lax.fori_loop"
    ),
    "for with a start and two results": Program(
        "def f(x, n):\n    a = x\n    b = 1.0\n    for _ in range(1, n + 1):\n        a, b = b, a + b\n    return a * b\n", "forward"
    ),
    "for that fills an array": Program(
        "def f(x, n):\n    v = jnp.zeros(6)\n    for i in range(n):\n        v = v.at[i].set(x * i)\n    return v\n", "forward"
    ),
    "loops in each other": Program(
        "def f(x, n, m):\n    s = x\n    for i in range(n):\n        for j in range(m):\n            s = s + x * i * j\n    return s\n",
        "forward",
    ),
    "NumPy": Program("def f(v):\n    return np.exp(v) + np.linalg.norm(v) + np.concatenate([v, v])[:3]\n", "", "jnp.exp"),
    "a NumPy buffer": Program(
        "def f(x):\n    m = np.zeros((2, 2))\n    m[0, 0] = jnp.cos(x)\n    m[0, 1] = -jnp.sin(x)\n    m[1] += m[0] * 2\n"
        "    m[1, 1] //= 2\n    return m\n",
        "",
        ".at[",
    ),
    "a NumPy buffer in a loop": Program(
        "def f(v):\n    out = np.empty(3)\n    for i in range(3):\n        out[i] = v[i] * i\n    return out * 2\n", ""
    ),
    "item assignment": Program(
        "def f(v, x):\n    w = jnp.zeros(3)\n    w[0] = x\n    w[1:] += v[1:]\n    w[2] -= x\n    w[1] %= 2\n    return w\n", "", host=True
    ),
    "float": Program("def f(x):\n    return float(x * 2) + 1\n", ""),
    "int": Program("def f(x, v):\n    n = int(x * 5)\n    return v * n + n // 2\n", ""),
    "bool": Program("def f(x):\n    return jnp.where(bool(x > 1), 2, 3)\n", ""),
    "item": Program("def f(v, x):\n    return v.sum().item() + (x * 2).item()\n", ""),
    "while on a number": Program(
        "def f(x, n, m):\n    a, b = n + 1, m + 1\n    while b:\n        a, b = b, a % b\n    return a * x\n", "", "b != 0"
    ),
    "any over the elements": Program(
        "def f(v):\n    w = v * 1\n    return w * 2 if any(e > 1 for e in w) else w\n", expect="jnp.any"
    ),
    "all over the elements": Program("def f(v):\n    w = v * 1\n    return jnp.where(all([-1 < e for e in w]), w, 0.0)\n"),
    "float of a mean": Program("def f(v):\n    return float(jnp.mean(v * v)) + 1\n", "", "jnp.mean(v * v) + 1"),
    "an index": Program("def f(v, w):\n    i = int(jnp.argmax(v))\n    return w[i]\n", "", "i = jnp.argmax(v)"),
    "a logarithm to a base": Program("def f(x):\n    return 2 * math.log(abs(x) + 2, 3)\n", "", "2 * (jnp.log("),
    "swapped items": Program(
        "def f(v):\n    v = v * 1\n    v[0], v[1] = v[1], v[0]\n    return v\n", "", "v.at[0].set(v[1]).at[1].set(v[0])", True
    ),
    "items of items": Program(
        "def f(v):\n    m = jnp.zeros((3, 3))\n    m[1][0] = v[0]\n    m[1] += v\n    m[2][1:] = v[1:]\n    return m\n", "", host=True
    ),
    "while with a flag": Program(
        "def f(x):\n    done = False\n    y = abs(x) + 1\n    while not done:\n        y = y * 2\n        done = y > 50\n    return y\n",
        "forward", "jnp.logical_not(done)",
    ),
    "while until it converges": Program(
        "def f(x):\n    err, it = jnp.inf, 0\n    y = abs(x) + 1.0\n    while err > 1e-3 and it < 50:\n        new = 0.5 * (y + 2.0 / y)\n"
        "        err = abs(new - y)\n        y = new\n        it += 1\n    return y\n",
        "forward", "(err > 1e-3) & (it < 50)",
    ),
    "masks": Program(
        "def f(v):\n    v = v * 1\n    mask = v > 0\n    a = v.at[v < -1].set(-1.0)\n    b = v.at[mask].add(a.sum())\n"
        "    return a, b, v[mask].sum(), jnp.mean(v[v > -9]), jnp.sum(v[~jnp.isnan(v)])\n",
        expect="jnp.mean(v, where=v > -9)",
    ),
    "a list by a traced index": Program(
        "W = [1.0, 2.0, 3.0]\n\ndef f(v, n):\n    k = n % 3\n    return v * W[k] + v[k:k + 1]\n", expect="jnp.array(W)[k]"
    ),
    "a flag": Program(
        "@jax.jit\ndef g(x, double):\n    if double:\n        return x * 2\n    return x\n\ndef f(x):\n"
        "    return g(x, True) + g(x, double=False)\n",
        staged=False, expect='static_argnames="double"',
    ),
    "a string": Program(
        "def g(x, k, how):\n    return x * k if how == 'scale' else x + k\n\nh = jax.jit(g, static_argnums=(1,))\n\n"
        "def f(x):\n    return h(x, 2, 'scale') + h(x, 3, 'shift')\n",
        staged=False, expect="static_argnums=(1, 2)",
    ),
    "a function": Program(
        "@jax.jit\ndef g(x, act):\n    return act(x)\n\ndef f(x):\n    return g(x, jnp.tanh)\n", staged=False
    ),
    "a static list": Program(
        "from functools import partial\n\n@partial(jax.jit, static_argnames='dims')\ndef g(v, dims):\n    return v.reshape(dims)\n\n"
        "DIMS = [3, 1]\n\ndef f(v):\n    return g(v, dims=DIMS) + g(v, dims=[1, 3])\n",
        staged=False, expect="tuple(DIMS)",
    ),
    "jit in a loop": Program(
        "def f(x, y):\n    for i in range(4):\n        step = jax.jit(lambda a, b: a * b + 1)  # once\n        x = step(x, y)\n"
        "    for i in range(4):\n        x = jax.jit(lambda a: a * y)(x)\n    return x\n",
        staged=False, expect="jitted = jax.jit(lambda a: a * y)",
    ),
    "a nested function in a loop": Program(
        "def f(x, y):\n    total = x\n    for i in range(4):\n        x = x + 1\n        # one step\n        @jax.jit\n"
        "        def step(a, b):\n            return a * b\n\n        total = total + step(x, y)\n    return total\n",
        staged=False,
    ),
    "losses that are only collected": Program(
        "@jax.jit\ndef step(x):\n    return x * 0.9, x * x\n\ndef f(x):\n    losses = []\n    for i in range(9):\n"
        "        x, loss = step(x)\n        losses.append(float(loss))\n    return x, losses\n",
        "", "losses.append(loss)", staged=False,
    ),
    "vmap of jit": Program(
        "@jax.vmap\n@jax.jit\ndef g(a):\n    return a * a\n\ndef f(v):\n    return g(v) + jax.vmap(jax.jit(lambda a: a + 1))(v)\n",
        staged=False,
    ),
    "lists as arguments": Program(
        "def f(x, y):\n    parts = [x, y * 2]\n    return jnp.mean(parts) + jnp.max((x, y)) + jnp.sum([[1.0, 2.0], [3.0, 4.0]])\n",
        expect="jnp.mean(jnp.array(parts))", host=True, mode="",
    ),
    "softmax": Program(
        "def f(v):\n    a = jnp.exp(v) / jnp.exp(v).sum()\n    m = v[:, None] * v\n    e = jnp.exp(m)\n"
        "    b = e / e.sum(axis=-1, keepdims=True)\n    t = jnp.sum(jnp.exp(m * 2), 0)\n    c = jnp.exp(m * 2) / t\n"
        "    z = jnp.exp(-1 * m + 1)\n    return a, b, c, z / jnp.sum(z, axis=1)[:, None]\n",
        expect="jax.nn.softmax(m * 2, axis=0)",
    ),
    "logarithms of sums of exponentials": Program(
        "def f(v):\n    m = v[:, None] * v\n    total = jnp.sum(jnp.exp(m), axis=1, keepdims=True)\n    a = jnp.log(total)\n"
        "    p = jax.nn.softmax(m, axis=0)\n    s = jax.nn.sigmoid(v * 2)\n"
        "    return a, jnp.log(p)[0], jnp.log(s), jnp.log(1 - s), jnp.log(1 + jnp.exp(v * 2)), jnp.log(jnp.exp(m).sum(0))\n",
        expect="jax.nn.logsumexp(m, axis=1, keepdims=True)",
    ),
    "small numbers": Program(
        "def f(x):\n    x = jnp.abs(x) * 0.3\n    y = jnp.exp(-x) - 1\n"
        "    return jnp.log(1 + x * x) + jnp.log(1.0 - x / 4) * (jnp.exp(x) - 1) + y\n",
        expect="jnp.log1p(-(x / 4))",
    ),
    "a recurrence": Program(
        "def f(x, v):\n    rows = v[:, None] * v\n    hs, total = [], 0.0\n    for i in range(rows.shape[0]):\n        x = jnp.tanh(x + rows[i].sum())\n"
        "        total += x\n        hs.append(x)\n    return jnp.stack(hs), total\n\nf(1.0, jnp.ones(5))\n",
        expect="lax.scan(",
    ),
    "a rollout": Program(
        "@jax.jit\ndef step(state, key):\n    return state + jax.random.normal(key, state.shape), jnp.sum(state)\n\ndef f(v):\n"
        "    key = jax.random.key(0)\n    states, rewards = [], []\n    for t in range(10):\n        key, sub = jax.random.split(key)\n"
        "        v, reward = step(v, sub)\n        states.append(v)\n        rewards.append(reward)\n    return jnp.stack(states), jnp.array(rewards)\n",
        staged=False, expect="None, length=10",
    ),
    "layers": Program(
        "def f(v, w):\n    layers = [{'w': w * k, 'b': v} for k in range(6)]\n    return g(layers, v)\n\n@jax.jit\ndef g(layers, h):\n"
        "    for layer in layers:\n        h = h + jnp.tanh(jnp.dot(h, layer['w']) + layer['b'])\n    return h\n",
        staged=False, expect="jnp.stack(leaves), *layers",
    ),
    "sums of gradients": Program(
        "def f(v, w):\n    parts = w[:, None] * v\n    grads = jnp.zeros_like(v)\n    for i in range(3):\n"
        "        grads = grads + jax.grad(lambda v: jnp.sum(jnp.tanh(v * parts[i])))(v)\n    return grads\n",
        expect="lax.scan(",
    ),
    "rows that are stacked": Program(
        "def norm(x):\n    return jnp.sqrt(jnp.sum(x**2) + 1)\n\ndef f(v, w):\n    rows = w[:, None] * v\n"
        "    return jnp.stack([norm(row) for row in rows]) + jnp.array([norm(rows[i]) for i in range(len(rows))])\n",
        expect="jax.vmap(norm)(rows)",
    ),
    "math": Program(
        "def f(x):\n    y = math.exp(x) + math.atan2(x, 2.0)\n    return math.floor(y) + math.sqrt(y + 2)\n", ""
    ),
}  # fmt: skip


def fixed(code: str, *, unsafe: bool = True) -> str:
    """The program after all fixes. No finding may be left."""

    def check(sources: Any) -> list[Finding]:
        rules = [rule() for rule in all_rules() if rule.category in CATEGORIES]
        analysis = analyze(list(sources.values()), rules)
        assert not analysis.errors
        return analysis.findings

    source = source_from_bytes(code.encode(), Path("program.py"), "program.py")
    result = fix_sources({"program.py": source}, check, unsafe=unsafe)
    assert not result.errors
    assert not result.remaining, [(one.message, r.reason) for one in result.remaining for r in result.refused]
    return result.texts["program.py"]


def function_of(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "program.py", "exec"), names)
    return names["f"]


def inputs_of(function: Callable[..., Any], seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for name in inspect.signature(function).parameters:
        if name in ("n", "m"):
            found.append(jnp.int32((seed + (name == "m")) % 5))
        elif name in ("v", "w"):
            found.append(jnp.asarray(rng.normal(size=3) * 1.5, jnp.float32))
        else:
            found.append(jnp.float32(rng.normal() * 1.5))
    return found


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of all results, weighted, so that each counts."""

    def run(first: Any, *rest: Any) -> Any:
        leaves = jax.tree.leaves(function(first, *rest))
        return sum(jnp.sum(jnp.asarray(leaf) * (number + 1.5)) for number, leaf in enumerate(leaves))

    return run


def slope(function: Callable[..., Any], mode: str, arguments: list[Any]) -> Any:
    if mode == "reverse":
        return jax.grad(total(function))(*arguments)
    first, *rest = arguments
    return jax.jvp(lambda x: total(function)(x, *rest), (first,), (jnp.ones_like(first),))[1]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_fixed_program_computes_the_same(program: Program) -> None:
    code = HEAD + (program.code.replace("def f(", "@jax.jit\ndef f(") if program.staged else program.code)
    text = fixed(code)
    assert program.expect in text
    assert "\n    \n" not in text
    original, rewritten = function_of(code), function_of(text)
    for seed in range(8):
        arguments = inputs_of(original, seed)
        with jax.disable_jit():
            want = run_original(original, arguments, host=program.host)
        got = rewritten(*arguments)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6), got, want)
        if program.mode:
            with jax.disable_jit():
                want_slope = slope(original, program.mode, arguments)
            np.testing.assert_allclose(
                slope(rewritten, program.mode, arguments), want_slope, rtol=2e-4, atol=1e-5
            )


def run_original(function: Callable[..., Any], arguments: list[Any], *, host: bool) -> Any:
    """On arrays of NumPy where `host` is set: they take the item assignments that those of JAX refuse."""
    if not host:
        return function(*arguments)
    source: Any = inspect.unwrap(function)
    names = {**source.__globals__, "jnp": np}
    copied = [np.array(argument) for argument in arguments]
    return type(source)(source.__code__, names)(*copied)
