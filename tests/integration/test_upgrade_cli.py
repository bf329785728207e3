"""`jaxlint upgrade`: the migration of a project in one command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint

OLD = """\
import jax
import jax.numpy as jnp


def total(tree):
    leaves = jax.tree_leaves(tree)
    return sum(jnp.sum(jnp.clip(leaf, a_min=0.0, a_max=1.0)) for leaf in leaves)


if __name__ == "__main__":
    print(float(total({"a": jnp.asarray([-1.0, 0.25, 2.0])})))
"""
LEFT = "from jax.experimental import host_callback\n\n\ndef told(x):\n    return host_callback.id_tap(print, x)\n"
PROJECT = """\
[project]
name = "old"
version = "1"
dependencies = ["jax>=0.1.55", "chex>=0.0.8"]

[tool.jaxlint]
ignore = ["removed-api"]  # an upgrade is asked for all the same
"""
TO = ("--to", "jax==0.10.2")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "requirements.txt").write_text("jax==0.3.25\njaxlib==0.3.25\nnumpy\n")
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "left.py").write_text(LEFT)
    (tmp_path / "test_old.py").write_text(
        "import chex\n\n\ndef test_it(a):\n    chex.assert_tree_all_close(a, a)\n"
    )
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": "import jax\n"}, {**cell, "source": "y = jax.tree_map(abs, {})\n"}]
    (tmp_path / "nb.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_the_whole_way(project: Path) -> None:
    before = contents(project)
    done = jaxlint("upgrade", *TO, "--check", cwd=project)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("Upgrade to jax 0.10.2, chex 0.1.92.\nWould rewrite 4 places in 3 files:\n")
    assert contents(project) == before

    done = jaxlint("upgrade", *TO, cwd=project)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[1:6] == [
        "Rewrote 4 places in 3 files:",
        "     1 x chex.assert_tree_all_close",
        "     1 x jax.numpy.clip",
        "     1 x jax.tree_leaves",
        "     1 x jax.tree_map",
    ]
    assert lines[6:] == [
        "Raised 4 requirements:",
        "  pyproject.toml:4: jax>=0.1.55 -> jax>=0.10.2",
        "  pyproject.toml:4: chex>=0.0.8 -> chex>=0.1.92",
        "  requirements.txt:1: jax==0.3.25 -> jax==0.10.2",
        "  requirements.txt:2: jaxlib==0.3.25 -> jaxlib==0.10.2",
        "2 places left:",
        *lines[12:],
    ]
    assert any("`jax.experimental.host_callback` was removed in jax" in line for line in lines[12:])
    assert any("use `jax.debug.callback`" in line for line in lines[12:])
    assert any("--unsafe-fixes applies it" in line for line in lines[12:])
    assert lines[-1] == "    left.py:1:30"

    assert (project / "requirements.txt").read_text() == "jax==0.10.2\njaxlib==0.10.2\nnumpy\n"
    assert "chex.assert_trees_all_close" in (project / "test_old.py").read_text()
    assert "jax.tree_map" not in (project / "nb.ipynb").read_text()
    ran = subprocess.run([sys.executable, "old.py"], cwd=project, capture_output=True, text=True, check=True)
    assert ran.stdout == "1.25\n"

    after = contents(project)
    done = jaxlint("upgrade", *TO, cwd=project)
    assert (done.returncode, contents(project)) == (1, after)
    (project / "left.py").unlink()
    done = jaxlint("upgrade", *TO, "--check", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Upgrade to jax 0.10.2, chex 0.1.92.\nNothing to rewrite.\nNothing is left.\n"


def test_fix_says_what_low_bounds_hold_back(project: Path) -> None:
    """A project that asks for old releases: no replacement exists in all of them, and `fix` says which command helps."""
    (project / "pyproject.toml").write_text(
        '[project]\nname = "a"\nversion = "1"\ndependencies = ["jax>=0.1.55", "chex>=0.0.8"]\n'
    )
    (project / "old.py").write_text(
        "import chex\nimport jax.numpy as jnp\n\nchex.assert_tree_all_close(1, 1)\nprint(jnp.DeviceArray)\n"
    )
    said = "A replacement must exist in all of chex >=0.0.8 and jax >=0.1.55; `jaxlint upgrade` raises the requirement and rewrites.\n"
    done = jaxlint("fix", "old.py", cwd=project)
    assert done.stdout.endswith(said)
    done = jaxlint("fix", "--diff", "old.py", cwd=project)
    assert done.stderr.endswith(said)
    assert said not in jaxlint("fix", "--quiet", "old.py", cwd=project).stdout
    (project / "pyproject.toml").write_text("")
    (project / "old.py").write_text("import jax\n\nprint(jax.experimental.host_callback)\n")
    assert "has to exist" not in jaxlint("fix", "old.py", cwd=project).stdout


def test_for_other_tools(project: Path) -> None:
    done = jaxlint("upgrade", *TO, "--check", "--output-format", "json", cwd=project)
    record = json.loads(done.stdout)
    assert record["version"] == 1
    assert record["targets"] == {"jax": "==0.10.2", "chex": "==0.1.92"}
    assert record["files"] == ["nb.ipynb", "old.py", "pyproject.toml", "requirements.txt", "test_old.py"]
    assert {one["api"] for one in record["left"]} == {
        "jax.experimental.host_callback",
        "jax.experimental.host_callback.id_tap",
    }
    assert {
        "path": "requirements.txt",
        "line": 1,
        "before": "jax==0.3.25",
        "after": "jax==0.10.2",
        "reason": "",
    } in record["requirements"]["raised"]


def test_a_diff_is_for_patch(project: Path) -> None:
    before = contents(project)
    done = jaxlint("upgrade", *TO, "--diff", cwd=project)
    assert done.returncode == 1
    assert contents(project) == before
    subprocess.run(["patch", "-p0", "-s"], cwd=project, input=done.stdout, text=True, check=True)
    patched = contents(project)
    for name, data in before.items():
        (project / name).write_bytes(data)
    jaxlint("upgrade", *TO, cwd=project)
    assert patched == contents(project)


def test_a_setup_py_that_is_old_itself(project: Path) -> None:
    (project / "setup.py").write_text(
        "import jax\nfrom setuptools import setup\n\njax.tree_map(print, {})\nsetup(install_requires=['jax>=0.3'])\n"
    )
    jaxlint("upgrade", *TO, cwd=project)
    text = (project / "setup.py").read_text()
    assert "install_requires=['jax>=0.10.2']" in text
    assert "jax.tree_map" not in text


def test_nothing_is_written_through_a_link(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "requirements.txt"
    outside.write_text("jax==0.3.25\n")
    (project / "requirements.txt").unlink()
    (project / "setup.py").write_text(
        'from setuptools import setup\nsetup(install_requires=["jax==0.4.1"])\n'
    )
    (project / "requirements.txt").symlink_to(outside)
    done = jaxlint("upgrade", *TO, cwd=project)
    assert done.returncode == 2
    assert "a link that leads out of the project" in done.stderr
    assert outside.read_text() == "jax==0.3.25\n"
    # A setup.py is written as a source, and told as written.
    assert "setup.py:2: jax==0.4.1 -> jax==0.10.2" in done.stdout
    assert "jax==0.10.2" in (project / "setup.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "jaxx==0.10"], "error: --to: there is no history of 'jaxx'; did you mean jax?\n"),
        (["--to", "jax==0.99"], "error: --to: jax 0.99 is newer than "),
        (
            ["--to", "jax<0.5"],
            "error: --to: 'jax<0.5' is not a release; write it like jax==0.12 or jax>=0.10\n",
        ),
        (["-"], "error: upgrade needs the files of a project; name them instead of `-`\n"),
    ],
)
def test_mistakes_cost_one_line(project: Path, arguments: list[str], said: str) -> None:
    done = jaxlint("upgrade", *arguments, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
