"""`jaxlint baseline` and `check --baseline`, as a team uses them that starts with old findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint
from tests.helpers.small_programs import branch_in

NAME = "jaxlint-baseline.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(f'[tool.jaxlint]\nbaseline = "{NAME}"\n')
    (tmp_path / "src").mkdir()
    for name in ("one", "two"):
        (tmp_path / f"src/{name}.py").write_text(branch_in(name))
    return tmp_path


def test_what_is_known_is_not_shown_and_what_is_new_is(project: Path) -> None:
    done = jaxlint("baseline", cwd=project)
    assert (done.returncode, done.stdout) == (0, f"Wrote 2 findings of 2 files to {NAME}.\n")
    done = jaxlint("check", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "No findings in 2 files. 2 known findings are not shown.\n"
    (project / "src/one.py").write_text("import os\n\n" + branch_in("one"))  # lines move
    (project / "src/two.py").rename(project / "src/renamed.py")
    (project / "src/three.py").write_text(branch_in("three"))
    done = jaxlint("check", "--output-format", "json", cwd=project)
    assert done.returncode == 1
    assert [one["path"] for one in json.loads(done.stdout)] == ["src/three.py"]
    assert done.stderr == ""
    assert (
        len(json.loads(jaxlint("check", "--no-baseline", "--output-format", "json", cwd=project).stdout)) == 3
    )


def test_it_only_shrinks(project: Path) -> None:
    jaxlint("baseline", cwd=project)
    (project / "src/one.py").write_text("")
    (project / "src/three.py").write_text(branch_in("three"))
    done = jaxlint("check", cwd=project)
    assert done.stderr == (
        f"warning: {NAME}: 1 entry matches no finding; `jaxlint baseline --update` removes it\n"
    )
    done = jaxlint("baseline", "--check", cwd=project)
    assert (done.returncode, done.stdout) == (
        1,
        f"Would remove 1 entry from {NAME}; 1 left. 1 finding is not in it.\n",
    )
    done = jaxlint("baseline", "--update", cwd=project)
    assert (done.returncode, done.stdout) == (
        0,
        f"Removed 1 entry from {NAME}; 1 left. 1 finding is not in it.\n",
    )
    first = (project / NAME).read_bytes()
    assert jaxlint("baseline", "--update", cwd=project).returncode == 0
    assert (project / NAME).read_bytes() == first
    assert jaxlint("check", cwd=project).returncode == 1  # the new one is not in it
    done = jaxlint("baseline", cwd=project)
    assert done.returncode == 2
    assert (
        done.stderr == f"error: {NAME}: already exists; update it with --update, or delete it to start over\n"
    )


def test_a_finding_that_check_does_not_show_is_not_said_to_be_missing(project: Path) -> None:
    (project / "src/two.py").write_text(
        "import jax\n\ndef draw(key):\n    return jax.random.normal(key), jax.random.normal(key)\n"
    )
    assert "JAX301" in jaxlint("check", "--no-baseline", cwd=project).stdout  # a warning
    jaxlint("baseline", "--severity", "error", cwd=project)
    done = jaxlint("baseline", "--update", "--severity", "error", cwd=project)
    assert done.stdout == f"Removed 0 entries from {NAME}; 1 left.\n"


def test_a_part_of_the_project_says_nothing_of_the_rest(project: Path) -> None:
    jaxlint("baseline", cwd=project)
    (project / "src/one.py").write_text("")
    done = jaxlint("baseline", "--update", "src/two.py", cwd=project)
    assert done.stdout == f"Removed 0 entries from {NAME}; 2 left.\n"
    done = jaxlint("check", "--severity", "error", "--select", "memory", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_counts_from_any_folder_and_in_fix(project: Path) -> None:
    jaxlint("baseline", cwd=project)
    assert jaxlint("check", cwd=project / "src").returncode == 0
    done = jaxlint("check", "-", "--stdin-filename", "one.py", cwd=project / "src", stdin=branch_in("one"))
    assert done.returncode == 0
    done = jaxlint("fix", cwd=project)  # rewrites what it can, known or not, and lists nothing that is known
    assert (done.returncode, done.stderr, "left" in done.stdout) == (0, "", False)


def test_a_notebook(project: Path) -> None:
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": branch_in("f"),
        }
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "a.ipynb").write_text(json.dumps(notebook))
    jaxlint("baseline", cwd=project)
    cells.insert(0, {**cells[0], "source": "print(1)\n"})
    (project / "a.ipynb").write_text(json.dumps(notebook))
    assert jaxlint("check", cwd=project).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check"], f"error: {NAME}: there is no such baseline; `jaxlint baseline` writes one\n"),
        (["check", "--baseline", "pyproject.toml"], "error: pyproject.toml: not a baseline of jaxlint"),
        (["baseline", "--update"], f"error: {NAME}: there is no such baseline"),
        (["baseline", "-"], "error: a baseline needs files; name them instead of `-`\n"),
        (["baseline", "--baseline", "no/such/folder"], "error: "),
        (
            ["baseline", "known.jsonl"],
            "error: known.jsonl: no such file or folder; name the file of the baseline",
        ),
    ],
)
def test_mistakes_cost_one_line(project: Path, arguments: list[str], said: str) -> None:
    done = jaxlint(*arguments, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_a_clone_makes_it_write_nowhere_else(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "file"
    (project / "link.jsonl").symlink_to(elsewhere)
    for name in ("link.jsonl", "../file.jsonl", ".git/config"):
        (project / "pyproject.toml").write_text(f'[tool.jaxlint]\nbaseline = "{name}"\n')
        done = jaxlint("baseline", cwd=project)
        assert (done.returncode, done.stdout) == (2, "")
        assert "baseline must name a file inside the project" in done.stderr
    assert not elsewhere.exists()
