"""`trace-static-fields`."""

from __future__ import annotations

import contextlib
import io

import pytest

PROGRAM = """import math
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Tank:
    inflow: float = 0.5
    leak: float = 0.1
    name: str = "north"
    cells: int = 4


@«partial(jax.jit, static_argnames=("tank", "order"))»
def fill(level, tank, order):
    return level + tank.inflow - tank.leak * level**order


level = jnp.ones(4)
for leak in (0.1, 0.2, 0.3):
    level = fill(level, replace(Tank(), leak=leak), 2)
print(level, fill._cache_size(), hash(Tank()) == hash(Tank()))
"""
REGISTER = '@partial(jax.tree_util.register_dataclass, data_fields=["inflow", "leak"], meta_fields=["name", "cells"])\n'
OTHERS = '    name: str = "north"\n    cells: int = 4\n'


def changed(*pairs: tuple[str, str]) -> str:
    text = PROGRAM
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_other_fields_stay_static(rewrite):
    after = rewrite("trace-static-fields", PROGRAM, name="tank", fields=["leak"])
    assert REGISTER + "@dataclass(frozen=True)\nclass Tank:" in after
    assert '@partial(jax.jit, static_argnames="order")\ndef fill' in after


def test_a_class_of_numbers_alone_needs_no_list(rewrite):
    after = rewrite("trace-static-fields", changed((OTHERS, "")), name="tank", fields=["leak"])
    assert "@jax.tree_util.register_dataclass\n@dataclass(frozen=True)\nclass Tank:" in after


def test_a_named_tuple_is_a_pytree(rewrite):
    before = changed(
        (OTHERS, ""),
        ("@dataclass(frozen=True)\nclass Tank:", "class Tank(NamedTuple):"),
        ("replace(Tank(), leak=leak)", "Tank()._replace(leak=leak)"),
    )
    after = rewrite("trace-static-fields", before, name="tank", fields=["leak"])
    assert "register_dataclass" not in after
    assert 'static_argnames="order")' in after


def test_one_program_serves_every_number_and_gives_the_same(rewrite):
    printed = []
    for text in (
        PROGRAM.replace("«", "").replace("»", ""),
        rewrite("trace-static-fields", PROGRAM, name="tank", fields=["leak"]),
    ):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, "program", "exec", dont_inherit=True), {"__name__": __name__})
        printed.append(out.getvalue().split("]"))
    assert printed[0][0] == printed[1][0]
    assert [one[1].split() for one in printed] == [["3", "True"], ["1", "True"]]


REFUSALS = {
    "a branch on it": (
        (("    return level +", "    if tank.leak > 0:\n        level = level * 2\n    return level +"),),
        "tracer",
    ),
    "a branch in a function that gets the object": (
        (
            ("@«", "def loss(tank):\n    return 1.0 if tank.leak > 0 else 2.0\n\n\n@«"),
            ("tank.leak * level", "loss(tank) * level"),
        ),
        "tracer",
    ),
    "Python's own functions of it": ((("tank.leak * level", "math.exp(tank.leak) * level"),), "tracer"),
    "a size": ((("leak: float", "leak: int"),), "may be a size"),
    "not frozen": ((("frozen=True", "unsafe_hash=True"),), "no frozen dataclass"),
    "checks in the constructor": (
        ((OTHERS, OTHERS + "\n    def __post_init__(self):\n        assert self.leak > 0\n"),),
        "would call with tracers",
    ),
    "a derived class": ((("level = jnp", "class Wide(Tank):\n    pass\n\n\nlevel = jnp"),), "derive"),
    "an object in a tree": (
        (("level = jnp", "jax.tree.map(print, [Tank()])\nlevel = jnp"),),
        "gets a `Tank`",
    ),
    "something else as well": ((("print(level", "fill(level, 'none', 2)\nprint(level"),), "something else"),
}


@pytest.mark.parametrize(("pairs", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, pairs, reason):
    answer = rewrite("trace-static-fields", changed(*pairs), name="tank", fields=["leak"])
    assert answer.startswith("refused: ")
    assert reason in answer
