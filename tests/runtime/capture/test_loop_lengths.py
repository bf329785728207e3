"""How often loops run, read from the variables of a call."""

from __future__ import annotations

import ast
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.capture.loop_lengths import lengths_of_loops, loops_of


class Holder:
    def __init__(self) -> None:
        self.sites = [1, 2, 3]
        self.table = {"low": (4, 5), "high": []}
        self.turns = 6

    @property
    def asked(self) -> list[int]:
        raise AssertionError("a property was asked")


@pytest.mark.parametrize(
    ("over", "length"),
    [
        ("self.sites", 3),
        ("self.table['low']", 2),
        ("self.table['none']", None),
        ("self.table.items()", 2),
        ("self.sites.items()", None),
        ("self.asked", None),
        ("self.sites[1:]", None),
        ("rows", 4),
        ("host", 5),
        ("scalar", None),
        ("unknown", None),
        ("words", None),
        ("zip(self.sites, rows, unknown)", 3),
        ("zip(unknown)", None),
        ("zip()", None),
        ("enumerate(rows)", 4),
        ("enumerate()", None),
        ("range(self.turns)", 6),
        ("range(1, len(self.sites))", 2),
        ("range(0, 9, 2)", 5),
        ("range(0, 9, 0)", None),
        ("range(scalar)", None),
        ("range(len(rows) - 1)", None),
        ("reversed(rows)", None),
    ],
)
def test_lengths(over: str, length: int | None) -> None:
    names: dict[str, Any] = {
        "self": Holder(),
        "rows": jnp.zeros((4, 2)),
        "host": np.zeros(5),
        "scalar": jnp.zeros(()),
        "words": "words",
    }
    found = lengths_of_loops([ast.parse(over, mode="eval").body], names)
    assert found == ({} if length is None else {over: length})


def test_a_name_of_the_program_is_not_the_builtin() -> None:
    (over,) = [ast.parse("zip(rows, rows)", mode="eval").body]
    assert lengths_of_loops([over], {"rows": [1], "zip": max}) == {}
    (over,) = [ast.parse("range(len(rows))", mode="eval").body]
    assert lengths_of_loops([over], {"rows": [1], "len": max}) == {}


def test_loops_of_nested_functions_are_not_those_of_the_function() -> None:
    text = "def f(xs, ys):\n    for x in xs:\n        for y in ys: pass\n    def g(zs):\n        for z in zs: pass\n"
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert sorted(map(ast.unparse, loops_of(function))) == ["xs", "ys"]
