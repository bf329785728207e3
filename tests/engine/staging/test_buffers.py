"""Which places hold a donated buffer: bindings, containers, and what functions do for their callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint.staging.analysis import Reporter
from jaxlint.staging.events import DonatedReadEvent

HEAD = """
import functools, typing, jax, jax.numpy as jnp
step = jax.jit(lambda p, x: p - x, donate_argnums=0)
def helper(state):
    state.params = step(state.params, 1.0)
def advance(setup):
    setup["params"] = step(setup["params"], 1.0)
def peek(x):
    return step(x, 1.0)
def both(state):
    p, q = state
    return step(p, 1.0), step(q, 1.0)
class Pair(typing.NamedTuple):
    step: object
    average: object
def begin(x):
    return Pair(jnp.zeros(()), x)
def begin_with_copy(x):
    return Pair(jnp.zeros(()), average=jnp.copy(x))
def begin_perhaps(x):
    if x is None:
        return Pair(jnp.zeros(()), x)
    return Pair(jnp.zeros(()), jnp.copy(x))
def same(x):
    return x
class Keeper:
    def __init__(self, first):
        self.first = first
        self.second = self.third = jnp.ones(3)
    def swap(self):
        self.first, self.second = self.second, self.first
    def keep(self, x):
        self.first = x
    def perhaps_keep(self, x, flag):
        if flag:
            self.first = x
    def keep_own(self):
        self.second = self.first
def program(x, other, state, flag):
"""


class Reads(Rule):
    code = "JAX000"
    name = "reads"

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def on_donated_read(self, event: DonatedReadEvent, report: Reporter) -> None:
        if (event.place, event.how) not in self.seen:
            self.seen.append((event.place, event.how))


def reads(body: str, tmp_path: Path) -> list[tuple[str, str]]:
    path = tmp_path / "program.py"
    code = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(code)
    rule = Reads()
    analysis = analyze([source_from_bytes(code.encode(), path, "program.py")], [rule])
    assert not analysis.errors
    return rule.seen


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = step(x, 1.0)\nreturn y, x", [("x", "returned")]),
        ("y = x\nx = step(x, 1.0)\nreturn x + y", [("y", "used")]),
        ("pair = (x, other)\nx = step(x, 1.0)\nreturn other + pair[1]", []),
        ("pair = (x, other)\nx = step(x, 1.0)\nreturn other + pair[0]", [("pair[0]", "used")]),
        ("a, b = x, other\nx = step(x, 1.0)\nreturn a * b", [("a", "used")]),
        ("p = state.params\nhelper(state)\nreturn p + state.params", [("p", "used")]),
        ('p = other["params"]\nadvance(other)\nreturn p', [("p", "returned")]),
        ('advance(other)\np = other["params"]\nreturn p.sum()', []),
        ("y = peek(x)\nreturn jnp.sum(x)", [("x", "used")]),
        ("if flag:\n    y = step(x, 1.0)\n    return y\nreturn x", []),
        ("kept = []\nkept.append(x)\nx = step(x, 1.0)\nreturn jnp.stack(kept)", [("kept", "used")]),
        ("y = step(x, x)\nreturn y", [("x", "twice")]),
        ("y = step(x, 1.0)\ndel x\nreturn y", []),
        ("f = jax.jit(lambda z: step(z, 1.0) + z)\nreturn f(x) + x", []),
        ("state, update = state\nother, update = step(state, 1.0), update\nreturn other, update", []),
        ("p, q = state\np = step(p, 1.0)\nq = step(q, p)\nreturn state", [("state", "returned")]),
        ("p, q = state\nother = step(state, 1.0)\nreturn other, q", [("q", "returned")]),
        ("other = both(state)\nreturn other, state", [("state", "returned")]),
        ('k = x["key"]\ndel x["key"]\nother = step(x, 1.0)\nreturn k + other', []),
        ('k = x["key"]\ndel x["mask"]\nother = step(x, 1.0)\nreturn k + other', [("k", "used")]),
        ('other = step(x, 1.0)\nfor k in x["a"].keys():\n    print(x["a"][k].shape)\nreturn other', []),
        ('other = step(x, 1.0)\nreturn [x["a"][k] + other for k in flag]', [("x['a']", "used")]),
        ("other = step(x, 1.0)\njax.tree.map(lambda a: a.delete(), x)\nreturn other", []),
        ("other = step(x, 1.0)\nreturn jax.tree.map(lambda a: a * 2, x)", [("x", "used")]),
        ("pair = begin(x)\nreturn step(x, pair)", [("x", "twice")]),
        ("pair = begin(x)\nx = step(x, 1.0)\nreturn pair.average", [("pair.average", "returned")]),
        ("pair = begin_with_copy(x)\nreturn step(x, pair)", []),
        ("pair = begin_perhaps(x)\nreturn step(x, pair)", []),
        ("pair = begin(x)\nx = step(x, 1.0)\nreturn step(x, pair)", [("pair", "used")]),
        ("pair = begin(x)\nx = x * 2\nreturn step(x, pair)", []),
        ("y = same(x)\nx = step(x, 1.0)\nreturn x + y", [("y", "used")]),
        ("k = Keeper(x)\nx = step(x, 1.0)\nreturn k.first", [("k.first", "returned")]),
        ("k = Keeper(x)\nk.swap()\nx = step(x, 1.0)\nreturn k.first", []),
        ("k = Keeper(x)\nk.swap()\nx = step(x, 1.0)\nreturn k.second", [("k.second", "returned")]),
        ("k = Keeper(x)\nk.keep(other)\nx = step(x, 1.0)\nreturn k.first", []),
        (
            "k = Keeper(x)\nk.perhaps_keep(other, flag)\nx = step(x, 1.0)\nreturn k.first",
            [("k.first", "returned")],
        ),
        ("k = Keeper(x)\nk.keep_own()\nreturn step(k.first, k.second)", [("k.first", "twice")]),
        (
            "k = Keeper(x)\nif flag:\n    k.keep_own()\nreturn step(k.first, k.second)",
            [("k.second", "shared")],
        ),
        ("k = Keeper(x)\nif flag:\n    k.keep_own()\n    k.keep(other)\nreturn step(k.first, k.second)", []),
        ("k = Keeper(x)\nreturn step(k.second, k.third)", [("k.second", "twice")]),
    ],
)
def test_reads_of_donated_buffers(body: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    assert reads(body, tmp_path) == expected
