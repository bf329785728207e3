"""`jaxlint inspect` as a user runs it: what is traced, how the trace gets there, and the options that it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint

MODEL = """\
import jax.numpy as jnp


class Layer:
    def __init__(self, width):
        self.width = width

    def apply(self, weight, x):
        return jnp.tanh(self.scaled(weight) @ x)

    def scaled(self, weight):
        return weight / self.width


def describe(layer):
    return f"{layer.width} wide"
"""
TRAIN = """\
import jax
from model import Layer, describe


def loss(weight, x, layer):
    return layer.apply(weight, x).sum()


@jax.jit
def step(weight, x):
    return weight - 0.1 * jax.grad(loss)(weight, x, Layer(4))


def main():
    print(describe(Layer(4)))
    print(step(jax.numpy.ones((4, 4)), jax.numpy.ones(4)))


main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def test_a_file_is_shown_with_the_calls_of_the_others(project: Path) -> None:
    run = jaxlint("inspect", "model.py", cwd=project)
    lines = run.stdout.splitlines()
    jitted = "traced, `step` is decorated with `jax.jit` at train.py:9; call path: `step` -> `loss` ->"
    assert run.returncode == 0
    assert f"model.py:8 Layer.apply: {jitted} `Layer.apply`" in lines
    assert f"model.py:11 Layer.scaled: {jitted} `Layer.apply` -> `Layer.scaled`" in lines
    assert lines[lines.index(f"model.py:11 Layer.scaled: {jitted} `Layer.apply` -> `Layer.scaled`") + 1 :][
        :2
    ] == [
        "    self: static",
        "    weight: traced",
    ]
    assert "model.py:15 describe: not traced, every call found runs on the host" in lines
    assert lines[-1] == "4 functions: 2 traced, 1 not traced, 1 unknown."


def test_a_function_by_name(project: Path) -> None:
    run = jaxlint("inspect", "--function", "step", ".", cwd=project)
    assert [line for line in run.stdout.splitlines() if not line.startswith(" ")] == [
        "train.py:9 step: traced, `step` is decorated with `jax.jit` at line 9"
    ]
    assert (
        jaxlint("inspect", "--function", "nobody", ".", cwd=project).stdout
        == "no function in these files is named 'nobody'\n"
    )


def test_json_has_the_keys_that_are_documented(project: Path) -> None:
    found = json.loads(jaxlint("inspect", "model.py", "--output-format", "json", cwd=project).stdout)
    (apply,) = [one for one in found if one["qualname"] == "Layer.apply"]
    assert apply.pop("reason").startswith("`step` is decorated with `jax.jit` at train.py:9")
    assert apply == {
        "path": "model.py",
        "qualname": "Layer.apply",
        "line": 8,
        "traced": "yes",
        "staged": "yes",  # its former name
        "basis": "visible",
        "params": {"self": "static", "weight": "traced", "x": "traced"},
    }


def test_options_of_rules_are_not_taken(project: Path) -> None:
    run = jaxlint("inspect", "--select", "JAX101", ".", cwd=project)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "error: No such option '--select'; see `jaxlint inspect --help`\n"
    assert jaxlint("inspect", "--no-cache", ".", cwd=project).returncode == 0


def test_what_cannot_be_read_is_named(project: Path) -> None:
    run = jaxlint("inspect", "model.py", "missing.py", cwd=project)
    assert run.returncode == 2
    assert run.stderr == "error: missing.py: no such file or folder; check the path\n"


ARRAYS = """\
import jax.numpy as jnp


def project(x, w):
    rows, columns = x.shape
    y = jnp.zeros((rows, 2 * columns))
    return y


table = jnp.ones((3, 4), jnp.bfloat16)
"""


def test_arrays_are_shown_by_line(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(ARRAYS)
    run = jaxlint("inspect", "--arrays", "p.py", cwd=tmp_path)
    assert (run.returncode, run.stdout.splitlines()) == (
        0,
        ["p.py:6:5 y: f32[rows, 2*columns]", "p.py:10:1 table: bf16[3, 4]"],
    )
    run = jaxlint(
        "inspect", "--arrays", "--function", "project", "--output-format", "json", ".", cwd=tmp_path
    )
    assert json.loads(run.stdout) == [
        {
            "path": "p.py",
            "line": 6,
            "column": 4,
            "name": "y",
            "function": "project",
            "dtype": "float32",
            "shape": ["rows", "2*columns"],
            "weak": False,
            "tracer": False,
            "cases": [],
            "complete": True,
        }
    ]
