"""Functions whose state begins weakly typed: the proposed edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxlint.source import read_source
from jaxlint_runtime.rewrites.state_dtypes import from_weak_starts
from jaxlint_runtime.rewrites.tried_edit import edited

PROGRAM = """
import jax
import jax.numpy as jnp


@jax.jit
def cool(heat, air):
    return 0.5 * heat + air


def run(air):
    heat = jnp.array(80.0)
    for _ in range(9):
        heat = cool(heat, air)
    return heat
"""
START = {"name": "heat", "argument": 0, "key": None, "dtype": "float32"}
COMPILES = [{"trace_s": 0.1, "lower_s": 0.1, "compile_s": 1.0}] * 2


def proposed(
    tmp_path: Path, functions: list[dict[str, Any]], watched: list[dict[str, Any]]
) -> list[tuple[float, str]]:
    path = tmp_path.resolve() / "program.py"
    path.write_text(PROGRAM)
    sources = {str(path): read_source(path, str(path))}
    place = {"function": "cool", "path": str(path), "line": 6}
    found = []
    for one in from_weak_starts(
        [{**place, **each} for each in functions], [{**place, **each} for each in watched], sources
    ):
        new = edited(one.fixes, sources)
        assert not isinstance(new, str)
        found.append((one.estimate, new[str(path)].text))
    return found


def test_the_compile_of_the_first_call_is_what_it_costs(tmp_path: Path) -> None:
    path = str(tmp_path.resolve() / "program.py")
    calls = [{"path": path, "place": [14, 15, 14, 30]}, {"path": "other.py", "place": [1, 0, 1, 4]}]
    weak = {"starts": [START], "calls": calls}
    jitted, plain = {"weak": weak, "compiles": COMPILES}, {"weak": {"starts": [START]}}
    found = proposed(tmp_path, [jitted], [plain])
    assert [estimate for estimate, _ in found] == [pytest.approx(1.2)]  # the other edit is the same
    assert "heat = jnp.array(80.0, dtype=float)" in found[0][1]


def test_a_function_that_runs_op_by_op_gains_nothing_alone(tmp_path: Path) -> None:
    ((estimate, text),) = proposed(tmp_path, [], [{"weak": {"starts": [START]}}])
    assert 0.0 < estimate < 1e-3
    assert "heat = jnp.array(80.0, dtype=float)" in text


@pytest.mark.parametrize("weak", [None, {"starts": [{**START, "name": "air"}]}])
def test_nothing_to_edit(tmp_path: Path, weak: Any) -> None:
    assert proposed(tmp_path, [], [{"weak": weak}]) == []
