"""Fixes whose point is not the value: fresh keys, clocks that wait, updates that count, arguments in their places."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.finding import Finding
from jaxlint.fixes import FixResult, fix_sources
from jaxlint.registry import all_rules
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze


def fixed(code: str, *names: str) -> FixResult:
    """What the rules of these names make of `code`."""
    rules = [rule for rule in all_rules() if rule.name in names]
    assert len(rules) == len(names)

    def check(sources: Any) -> list[Finding]:
        return analyze(list(sources.values()), [rule() for rule in rules]).findings

    source = source_from_bytes(code.encode(), Path("program.py"), "program.py")
    result = fix_sources({"program.py": source}, check, unsafe=True)
    assert not result.errors
    return result


def text_of(code: str, *names: str) -> str:
    result = fixed(code, *names)
    assert not result.remaining, [(one.message, result.refused) for one in result.remaining]
    return result.texts["program.py"]


def load(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "program.py", "exec"), names)
    return names


# Keys

KEYS = {
    "twice": "def f(key):\n    a = jax.random.normal(key, (3,))\n    b = jax.random.uniform(key, (3,))\n    return a, b\n",
    "three times, then split": (
        "def f(key):\n    a = jax.random.normal(key)\n    b = jax.random.normal(key)\n    key, sub = jax.random.split(key)\n"
        "    return a, b, jax.random.normal(sub), jax.random.normal(key)\n"
    ),
    "in a loop": (
        "def f(key):\n    out = []\n    for i in range(3):\n        x = jax.random.normal(key)\n        out.append(x)\n    return out\n"
    ),
    "in a branch": (
        "def f(key, first=True):\n    a = 0\n    if first:\n        a = jax.random.normal(key)\n    return a, jax.random.normal(key)\n"
    ),
    "through a helper": (
        "def init(key):\n    return jax.random.normal(key)\n\ndef f(key):\n    w = init(key)\n    b = init(key)\n    return w, b\n"
    ),
    "in a method": (
        "class Net:\n    def __init__(self, key):\n        self.w = jax.random.normal(key)\n        self.b = jax.random.normal(key)\n\n"
        "def f(key):\n    net = Net(key)\n    return net.w, net.b\n"
    ),
    "by another name than the caller's": (
        "def f(key):\n    start, _ = jax.random.split(key)\n    return draw(start)\n\n"
        "def draw(rng):\n    a = jax.random.normal(rng)\n    return a, jax.random.normal(rng)\n"
    ),
    "a name that is taken": (
        "def f(key):\n    key, subkey = jax.random.split(key)\n    a = jax.random.normal(key)\n    b = jax.random.normal(key)\n"
        "    return a, b, jax.random.normal(subkey)\n"
    ),
}


def repeated(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many draws and splits use a key that was used before."""
    used: list[bytes] = []

    def noting(function: Any) -> Any:
        def run(key: Any, *args: Any, **kwargs: Any) -> Any:
            used.append(np.asarray(jax.random.key_data(key)).tobytes())
            return function(key, *args, **kwargs)

        return run

    with monkeypatch.context() as patch:
        for name in ("normal", "uniform", "split"):
            patch.setattr(jax.random, name, noting(getattr(jax.random, name)))
        load(text)["f"](jax.random.key(0))
    return len(used) - len(set(used))


@pytest.mark.parametrize("code", KEYS.values(), ids=KEYS)
def test_keys_are_used_once(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import jax\n\n{code}"
    assert repeated(code, monkeypatch) > 0
    assert repeated(text_of(code, "key-reuse"), monkeypatch) == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("    return [jax.random.normal(key) for _ in range(3)]\n", "comprehension"),
        (
            "    def draw():\n        return jax.random.normal(key)\n    return draw(), jax.random.uniform(key)\n",
            "a nested function reads",
        ),
        ("    return jax.random.normal(key) + jax.random.uniform(key)\n", "2 times in one statement"),
    ],
)
def test_keys_that_are_left_alone(body: str, reason: str) -> None:
    result = fixed(f"import jax\n\ndef f(key):\n{body}", "key-reuse")
    assert not result.texts
    assert reason in result.refused[0].reason


# Clocks

TIMED = """
import time
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.sin(x), x.sum()

def f(x):
    step(x)
    start = time.perf_counter()
    for _ in range(3):
        x, total = step(x)
    seconds = time.perf_counter() - start
    return x, total, seconds

def g(x):
    start = time.perf_counter()
    step(x)
    end = time.perf_counter()
    print("time per call:", end - start)
    return end - start

g(jnp.ones(3))
"""


def events_of(text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """ "c" for each reading of the clock, "w" for each time that the host waits."""
    log: list[str] = []
    wait, clock = jax.block_until_ready, time.perf_counter
    program = load(text)
    with monkeypatch.context() as patch:
        patch.setattr(jax, "block_until_ready", lambda tree: (log.append("w"), wait(tree))[1])
        patch.setattr(time, "perf_counter", lambda: (log.append("c"), clock())[1])
        program[name](jnp.ones(3))
    return "".join(log)


def test_the_clock_waits_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of(TIMED, "unsynced-timing", "timing-includes-compile")
    assert events_of(TIMED, "f", monkeypatch) == events_of(TIMED, "g", monkeypatch) == "cc"
    assert events_of(text, "f", monkeypatch) == "cwc"
    assert events_of(text, "g", monkeypatch) == "wcwc"  # once to compile, once in the region


def test_the_clock_goes_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    code = TIMED.replace("perf_counter", "time")
    rule = "wall-clock-timer"
    text = fixed(code, rule).texts["program.py"]
    readings = iter(range(100, 0, -1))
    monkeypatch.setattr(time, "time", lambda: float(next(readings)))
    assert load(code)["f"](jnp.ones(3))[2] < 0
    assert load(text)["f"](jnp.ones(3))[2] > 0
    dated = code.replace("return x, total, seconds", "return x, total, start")
    result = fixed(dated, rule)
    assert "time of day" in result.refused[0].reason


# Updates and arguments


def test_updates_take_effect() -> None:
    code = """
import jax.numpy as jnp
from jax import lax

class Counter:
    def __init__(self):
        self.counts = jnp.zeros(3)

    def count(self, i):
        self.counts.at[i].add(1.0)
        return self.counts

def f(v):
    grid = jnp.zeros((2, 2))
    v.at[0].set(9.0)
    for i in range(2):
        grid.at[i, 0].set(v[i])
    jnp.fill_diagonal(grid, 5.0)
    lax.dynamic_update_slice(v, jnp.ones(1), (2,))
    return v, grid, Counter().count(1)
"""
    got = load(text_of(code, "discarded-update"))["f"](jnp.array([1.0, 2.0, 3.0]))
    want = ([9.0, 2.0, 1.0], [[5.0, 0.0], [2.0, 5.0]], [0.0, 1.0, 0.0])
    jax.tree.map(
        np.testing.assert_array_equal, [np.asarray(one) for one in got], [np.array(one) for one in want]
    )


def test_blocks_come_first() -> None:
    code = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def f(x):
    spec = pl.BlockSpec(lambda i: (i, 0), (2, 4))
    call = pl.pallas_call(kernel, grid=(3,), in_specs=[spec], out_specs=spec, out_shape=x, interpret=True)
    return call(x)
"""
    x = jnp.arange(24.0).reshape(6, 4)
    with pytest.raises((TypeError, ValueError)):
        load(code)["f"](x)
    np.testing.assert_array_equal(load(text_of(code, "block-spec-arguments"))["f"](x), x * 2)


def test_a_misspelt_static_argument() -> None:
    code = """
from functools import partial
import jax

@partial(jax.jit, static_argnames=["step", "mode"])
def f(x, steps, mode="sum"):
    for _ in range(steps):
        x = x * 2
    return x
"""
    with pytest.raises(ValueError, match="argname"):
        load(code)["f"](1.0, 3)
    assert load(text_of(code, "static-argument-mismatch"))["f"](1.0, 3) == 8


def test_stores_under_a_condition_in_a_kernel() -> None:
    code = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    i = pl.program_id(0)
    if i == 0:  # the first block
        zero = jnp.zeros_like(o_ref[...])
        o_ref[...] = zero
    o_ref[...] += x_ref[...] * (i + 1)

def f(x):
    spec = pl.BlockSpec((2, 4), lambda i: (i, 0))
    out = pl.BlockSpec((2, 4), lambda i: (0, 0))
    shape = jax.ShapeDtypeStruct((2, 4), jnp.float32)
    return pl.pallas_call(kernel, grid=(3,), in_specs=[spec], out_specs=out, out_shape=shape, interpret=True)(x)
"""
    x = jnp.arange(24.0).reshape(6, 4)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        load(code)["f"](x)
    text = text_of(code, "tracer-branch")
    assert "@pl.when(i == 0)" in text
    np.testing.assert_allclose(load(text)["f"](x), x[:2] + 2 * x[2:4] + 3 * x[4:])
