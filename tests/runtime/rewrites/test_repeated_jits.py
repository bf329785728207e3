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
        ({"compiles": COMPILES[:1]}, []),
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
