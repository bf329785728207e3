"""Functions that compile for each number in a static argument: what a run shows of them, and the proposed edit."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jaxlint.source import read_source
from jaxlint_runtime.capture.signature import read_signature
from jaxlint_runtime.capture.varying_numbers import varying_numbers
from jaxlint_runtime.lowering.jit_options import Parameters, read_options
from jaxlint_runtime.rewrites.static_numbers import from_numbers
from jaxlint_runtime.rewrites.tried_edit import edited


@dataclasses.dataclass(frozen=True)
class Tank:
    leak: float
    cells: int = 4


class Pipe(NamedTuple):
    width: float
    rough: float


def fill(level: Any, tank: Any) -> Any:
    return level * tank


def seen(*values: Any) -> list[dict[str, Any]]:
    parameters = Parameters.of(fill, read_options({"static_argnames": "tank"}))
    return [
        {"name": one.name, "fields": list(one.fields)}
        for one in varying_numbers([read_signature(parameters, (1.0, value), {}) for value in values])
    ]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ((0.1, 0.2), [{"name": "tank", "fields": []}]),
        ((Tank(0.1), Tank(0.2)), [{"name": "tank", "fields": ["leak"]}]),
        ((Pipe(1.0, 0.1), Pipe(1.0, 0.2)), [{"name": "tank", "fields": ["rough"]}]),
        ((0.1, 0.1), []),
        ((1, 2), []),
        ((True, False), []),
        ((Tank(0.1), Tank(0.2, 8)), []),  # a size differs as well
        ((Tank(0.1), Pipe(1.0, 0.1)), []),
        ((), []),
    ],
)
def test_the_numbers_that_differ(values: tuple[Any, ...], found: list[dict[str, Any]]) -> None:
    assert seen(*values) == found


PROGRAM = """
from dataclasses import dataclass

import jax


@dataclass(frozen=True)
class Tank:
    leak: float


def fill(level, tank):
    return level * tank.leak


step = jax.jit(fill, static_argnums=1)
print(step(1.0, Tank(0.1)))
"""


@pytest.mark.parametrize(("line", "written"), [(16, True), (12, False)])
def test_the_jitted_call_is_edited(tmp_path: Path, line: int, written: bool) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(PROGRAM)
    sources = {str(path): read_source(path, str(path))}
    compiles = [{"trace_s": 0.1, "lower_s": 0.1, "compile_s": 1.0}] * 2
    one = {
        "function": "fill",
        "path": str(path),
        "line": 12,
        "jit_path": str(path),
        "jit_line": line,
        "numbers": [{"name": "tank", "fields": ["leak"]}],
        "compiles": compiles,
    }
    rewrites = from_numbers([one], sources)
    assert len(rewrites) == written
    for rewrite in rewrites:
        assert rewrite.estimate == pytest.approx(2.4)
        new = edited(rewrite.fixes, sources)
        assert not isinstance(new, str)
        assert "step = jax.jit(fill)" in new[str(path)].text
        assert "@jax.tree_util.register_dataclass\n@dataclass" in new[str(path)].text
        assert from_numbers([one], sources, rewrites) == rewrites  # another codemod's edit is no reason
