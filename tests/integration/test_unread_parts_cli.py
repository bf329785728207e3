"""What cannot be read costs what it is, and no more: through the real command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.helpers.command_line import jaxlint

NEW = """import jax
import jax.numpy as jnp
from flax import nnx

type Pair[
    T
] = tuple[T, T]
type Scale = float


class Layer[T: nnx.Module](nnx.Module):
    def __call__[V](self, x: V) -> V:
        return x


@jax.jit
def step[T: (jax.Array, None)](x: T, names: dict) -> T:
    label = f"{names["a"]} {
        names["b"]  # the second
    }"
    if x.sum() > 0:
        return x
    return -x


tree = jax.tree_map(lambda a: a, f"{"-".join(["a"])}" if Pair else [1])
print(f"{float(step(jnp.ones(3), {"é": jax.tree_map(abs, [1])}))}")


def shadowed[jax](x: jax.nonsense):
    return jax.nonsense(x)
"""
OLD = """import jax
import jax.numpy as jnp
from flax import nnx

Pair = (

    tuple)
Scale      = float


class Layer                   (nnx.Module):
    def __call__   (self, x: 'V') -> 'V':
        return x


@jax.jit
def step                       (x: 'T', names: dict) -> 'T':
    label = (f"{names['a']} {names['b']}"

    )
    if x.sum() > 0:
        return x
    return -x


tree = jax.tree_map(lambda a: a, f"{'-'.join(['a'])}" if Pair else [1])
print(f"{float(step(jnp.ones(3), {'é': jax.tree_map(abs, [1])}))}")


def shadowed     (x: 'jax.nonsense'):
    return None
"""


def found(name: str, cwd: Path) -> list[tuple[Any, ...]]:
    run = jaxlint("check", "--no-cache", "--output-format", "json", name, cwd=cwd)
    assert run.returncode in (0, 1), run.stderr
    report = json.loads(run.stdout)
    findings = report["findings"] if isinstance(report, dict) else report
    return [(one["code"], one["line"], one["column"], one["end_line"], one["end_column"]) for one in findings]


def test_new_syntax_has_the_findings_of_old_syntax_at_the_same_places(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text(NEW, encoding="utf-8")
    (tmp_path / "old.py").write_text(OLD, encoding="utf-8")
    new = found("new.py", tmp_path)
    assert {"JAX101"} < {code for code, *_ in new}
    assert new == found("old.py", tmp_path)


def test_new_syntax_is_fixed_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "new.py"
    path.write_text(NEW, encoding="utf-8")
    run = jaxlint("fix", "--unsafe-fixes", "--no-cache", "new.py", cwd=tmp_path)
    assert run.returncode in (0, 1), run.stderr
    after = path.read_text(encoding="utf-8")
    assert "jnp.where(x.sum() > 0, x, -x)" in after
    assert '{"é": jax.tree.map(abs, [1])}' in after
    assert NEW.partition("@jax.jit")[0] == after.partition("@jax.jit")[0]


COLAB = '''"""An export."""
!pip install jax
pip install flax
%matplotlib inline
import jax
import jax.numpy as jnp
if True:
    !ls -la \\
       here
files = !ls
%%time
@jax.jit
def step(x):
    if x > 0:
        return x
    return -x
jax.jit?
%%bash
echo "it's here
'''


def test_commands_of_a_notebook_cost_their_lines_alone(tmp_path: Path) -> None:
    path = tmp_path / "colab.py"
    path.write_text(COLAB)
    run = jaxlint("check", "--no-cache", "--output-format", "concise", "colab.py", "./colab.py", cwd=tmp_path)
    assert run.returncode == 1
    assert "colab.py:14:8: error JAX101" in run.stdout
    assert run.stderr.splitlines() == [
        "warning: colab.py: lines 2, 3, 4, 8, 9 and 5 more are commands of a notebook, not Python; the rest was read"
    ]
    path.write_bytes(COLAB.replace("\n", "\r\n").encode())
    assert jaxlint("fix", "--unsafe-fixes", "--no-cache", "colab.py", cwd=tmp_path).returncode == 0
    expected = COLAB.replace(
        "    if x > 0:\n        return x\n    return -x\n", "    return jnp.where(x > 0, x, -x)\n"
    )
    assert path.read_bytes() == expected.replace("\n", "\r\n").encode()


def test_a_file_of_nothing_but_commands_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("!pip install jax\nimport jax\n")
    run = jaxlint("check", "--no-cache", "setup.py", cwd=tmp_path)
    assert run.returncode == 0
    assert run.stderr.strip() == "warning: setup.py:1: a command of a notebook, not Python; the rest was read"


CONFLICT = """import jax


@jax.jit
def step(x):
<<<<<<< HEAD
    if x > 0:
        return x
=======
    if x < 0:
        return x
>>>>>>> other
    return -x


y = jax.tree_map(
<<<<<<< HEAD
    abs, [1],
||||||| base
    abs, [2],
=======
    abs, [3],
>>>>>>> other
)
"""


def test_a_merge_conflict_is_said_once_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CONFLICT)
    run = jaxlint("check", "--no-cache", "--output-format", "concise", "a.py", cwd=tmp_path)
    assert run.returncode == 2
    assert [line[:23].strip() for line in run.stdout.splitlines()[:2]] == [
        "a.py:7:8: error JAX101",
        "a.py:16:5: error JAX901",
    ]
    assert run.stderr.splitlines() == [
        "error: a.py:6: an unresolved merge conflict (and 1 more below); one side of it was read, resolve it"
    ]
    jaxlint("fix", "--no-cache", "a.py", cwd=tmp_path)
    assert path.read_text() == CONFLICT.replace("tree_map", "tree.map")


def test_a_cell_of_an_export_that_is_no_python_costs_that_cell(tmp_path: Path) -> None:
    text = "# %%\nimport jax\n# %%\nx = = 1\n# %%\ny = jax.tree_map(abs, [1])\n"
    (tmp_path / "cells.py").write_text(text)
    (tmp_path / "whole.py").write_text(text.replace("# %%", "#"))
    run = jaxlint("check", "--no-cache", "--output-format", "concise", ".", cwd=tmp_path)
    assert run.returncode == 2
    assert run.stdout.startswith("cells.py:6:5: error JAX901")
    assert [line[:18] for line in run.stderr.splitlines()] == ["error: cells.py:4:", "error: whole.py:4:"]


def test_pip_in_a_cell_of_a_notebook_is_a_command(tmp_path: Path) -> None:
    source = ["pip install jax\n", "import jax\n", "jax.tree_map(abs, [1])"]
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    run = jaxlint("check", "--no-cache", "--output-format", "concise", "a.ipynb", cwd=tmp_path)
    assert run.returncode == 1
    assert run.stderr == ""


def test_python_that_looks_like_commands_is_left_alone(tmp_path: Path) -> None:
    text = 'x = """\n!pip install a\n<<<<<<< HEAD\n=======\n>>>>>>> x\n"""\nz = (5\n% 3)\n# %%\npip = conda = 1\npip -conda\n'
    (tmp_path / "a.py").write_text(text)
    run = jaxlint("check", "--no-cache", "a.py", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")


def test_broken_settings_of_an_example_cost_a_warning(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    example = tmp_path / "examples" / "foo"
    example.mkdir(parents=True)
    (example / "a.py").write_text("import jax\njax.tree_map(abs, [1])\n")
    (example / "pyproject.toml").write_text("[project\n")
    for path in (".", "examples/foo", "examples/foo/a.py"):
        run = jaxlint("check", "--no-cache", path, cwd=tmp_path)
        assert run.returncode == 1
        assert len(run.stderr.splitlines()) == 1
        assert run.stderr.startswith("warning: examples/foo/pyproject.toml: not valid TOML")
    # Where they are the settings of the run, they are an error as ever.
    assert jaxlint("check", "--no-cache", ".", cwd=example).returncode == 2
    (example / "pyproject.toml").write_text('[tool.jaxlint\nignore = ["JAX901"]\n')
    assert jaxlint("check", "--no-cache", "examples/foo", cwd=tmp_path).returncode == 2


def test_many_broken_settings_are_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    for number in range(40):
        (tmp_path / f"p{number:02}").mkdir()
        (tmp_path / f"p{number:02}" / "a.py").write_text("x = 1\n")
        (tmp_path / f"p{number:02}" / "pyproject.toml").write_text("[project\n")
    run = jaxlint("check", "--no-cache", ".", cwd=tmp_path)
    *named, last = run.stderr.splitlines()
    assert (run.returncode, len(named)) == (0, 10)
    assert last == "warning: 30 more pyproject.toml are not TOML and ignored"


def test_the_same_message_is_printed_once(tmp_path: Path) -> None:
    run = jaxlint("check", "--no-cache", "nothing.py", "nothing.py", cwd=tmp_path)
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1


def test_a_broken_file_costs_its_neighbours_no_finding(tmp_path: Path) -> None:
    """Whether a name may be taken from a file is asked of those that import it, one of which is no Python."""
    (tmp_path / "settings.py").write_text("from jax.config import config\n")
    (tmp_path / "uses.py").write_text("from settings import config\nprint(config[)\n")
    done = jaxlint("check", "--no-cache", ".", cwd=tmp_path)
    assert "settings.py:1:24: error JAX901" in done.stdout
    assert [
        line.partition(":")[2].lstrip() for line in done.stderr.splitlines() if "uses.py" not in line
    ] == []
    assert "internal error" not in done.stderr
    assert done.returncode == 2
