"""Functions that a program jits anew: the proposed edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxlint.source import read_source
from jaxlint_runtime.rewrites.repeated_jits import from_repeated_jits
from jaxlint_runtime.rewrites.tried_edit import edited

PROGRAM = """
import jax


def energy(x):
    return (x * x).sum()


def relax(x, turns):
    force = jax.jit(jax.grad(energy))
    for _ in range(turns):
        x = x - 0.1 * force(x)
    return x
"""
COMPILES = [{"trace_s": 0.1, "lower_s": 0.1, "compile_s": 1.0}] * 2


@pytest.mark.parametrize(
    ("changes", "estimates"),
    [
        ({}, [1.2]),
        ({"wrappers": 4}, [1.8]),
        ({"wrappers": 1}, []),
        ({"wrappers": None}, []),
        ({"compiles": COMPILES[:1]}, [0.6]),
        ({"compiles": []}, []),
        ({"jit_line": 5}, []),
        ({"jit_path": None}, []),
    ],
)
def test_a_function_that_is_jitted_more_than_once(
    tmp_path: Path, changes: dict[str, Any], estimates: list[float]
) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(PROGRAM)
    sources = {str(path): read_source(path, str(path))}
    one = {"function": "energy", "path": str(path), "jit_path": str(path), "jit_line": 10, "wrappers": 2}
    found = from_repeated_jits([{**one, "compiles": COMPILES, **changes}], sources)
    assert [rewrite.estimate for rewrite in found] == [pytest.approx(each) for each in estimates]
    for rewrite in found:
        new = edited(rewrite.fixes, sources)
        assert not isinstance(new, str)
        assert "jitted_energy = jax.jit(jax.grad(energy))\n\n\ndef relax" in new[str(path)].text


DECORATED = """
import jax
import jax.numpy as jnp


class Relaxation:
    def __init__(self, rate):
        self.rate = rate

    def relax(self, x, turns):
        @jax.jit
        def step(x):
            return x - self.rate * x

        for _ in range(turns):
            x = step(x)
        return x


x = jnp.ones(3)
for rate in (0.1, 0.2):
    x = Relaxation(rate).relax(x, 3)
"""


def test_a_function_that_a_method_decorates_at_each_call(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(DECORATED)
    sources = {str(path): read_source(path, str(path))}
    name = "Relaxation.relax.<locals>.step"
    one = {"function": name, "path": str(path), "jit_path": str(path), "jit_line": 11, "wrappers": 2}
    (rewrite,) = from_repeated_jits([{**one, "compiles": COMPILES}], sources)
    assert rewrite.name == "jit-method"
    assert rewrite.summary == "Jit step once, in a method"
    new = edited(rewrite.fixes, sources)
    assert not isinstance(new, str)
    assert "            x = self._jitted_step(x)\n" in new[str(path)].text


@pytest.mark.parametrize("turns", [1, 5])
def test_a_method_counts_as_often_as_a_loop_calls_it(tmp_path: Path, turns: int) -> None:
    """The run was stopped in its first call."""
    path = tmp_path.resolve() / "program.py"
    head, _, _ = DECORATED.rpartition("for rate in")
    loop = (
        "relaxation = Relaxation(0.1)\n"
        + "for _ in range(5):\n    " * (turns > 1)
        + "x = relaxation.relax(x, 3)\n"
    )
    path.write_text(head + loop)
    sources = {str(path): read_source(path, str(path))}
    name = "Relaxation.relax.<locals>.step"
    one = {"function": name, "path": str(path), "jit_path": str(path), "jit_line": 11, "wrappers": 1}
    found = from_repeated_jits([{**one, "compiles": COMPILES[:1]}], sources)
    assert [rewrite.estimate for rewrite in found] == ([pytest.approx(4.8)] if turns > 1 else [])
