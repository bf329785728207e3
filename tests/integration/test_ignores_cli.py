"""`jaxlint check --add-ignores`, names in comments that are no rule, and what is said of options of other commands."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint
from tests.helpers.small_programs import BRANCH


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_bytes(BRANCH.replace("\n", "\r\n").encode())
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": BRANCH}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "b.ipynb").write_text(json.dumps(notebook))
    return tmp_path


def test_findings_are_silenced_once_and_for_all(project: Path) -> None:
    before = (project / "b.ipynb").read_text()
    done = jaxlint("check", "--add-ignores", cwd=project)
    assert (done.returncode, done.stdout) == (0, "No findings in 2 files.\n")
    assert done.stderr == "Silenced 2 findings in 2 files.\n"
    comment = "  # jaxlint: ignore[JAX101]"
    assert (project / "a.py").read_bytes() == BRANCH.replace("x > 0:", "x > 0:" + comment).replace(
        "\n", "\r\n"
    ).encode()
    assert (project / "b.ipynb").read_text() == before.replace("x > 0:", "x > 0:" + comment)
    written = [(project / name).read_bytes() for name in ("a.py", "b.ipynb")]
    done = jaxlint("check", "--add-ignores", cwd=project)
    assert (done.returncode, done.stderr) == (0, "Nothing to silence.\n")
    assert written == [(project / name).read_bytes() for name in ("a.py", "b.ipynb")]
    assert jaxlint("check", cwd=project).returncode == 0


def test_only_what_would_be_shown(project: Path) -> None:
    jaxlint("baseline", cwd=project)
    (project / "c.py").write_text(BRANCH)
    done = jaxlint("check", "--add-ignores", "--baseline", "jaxlint-baseline.jsonl", cwd=project)
    assert done.stderr == "Silenced 1 finding in 1 file.\n"
    assert b"ignore" not in (project / "a.py").read_bytes()


def test_a_file_that_cannot_be_written_keeps_its_finding(project: Path) -> None:
    outside = project.parent / "outside.py"
    outside.write_text(BRANCH)
    (project / "link.py").symlink_to(outside)
    done = jaxlint("check", "--add-ignores", "--output-format", "concise", cwd=project)
    assert done.returncode == 2
    assert done.stdout.startswith("link.py:6:8: ")
    assert "link.py: a link that leads out of the project" in done.stderr
    assert outside.read_text() == BRANCH
    mode = stat.S_IMODE((project / "a.py").stat().st_mode)
    assert mode == stat.S_IMODE(outside.stat().st_mode)


def test_not_for_standard_input(project: Path) -> None:
    done = jaxlint("check", "--add-ignores", "-", cwd=project, stdin=BRANCH)
    assert (done.returncode, done.stderr) == (
        2,
        "error: --add-ignores writes to files; name them instead of `-`\n",
    )


def test_a_name_that_is_no_rule(project: Path) -> None:
    (project / "a.py").write_text("x = 1  # jaxlint: ignore[tracer-brunch]\n")
    done = jaxlint("check", "a.py", "--output-format", "concise", cwd=project)
    assert done.returncode == 1
    assert "there is no rule 'tracer-brunch'; did you mean tracer-branch?" in done.stdout


def test_a_comment_that_is_wrong_itself_is_not_silenced(project: Path) -> None:
    (project / "a.py").write_text(BRANCH.replace("x > 0:", "x > 0:  # jaxlint: ignore[tracer-brnch]"))
    done = jaxlint("check", "--add-ignores", "a.py", cwd=project)
    assert "ignore[tracer-brnch, JAX101]" in (project / "a.py").read_text()
    assert "did you mean tracer-branch?" in done.stdout
    assert done.returncode == 1
    assert done.stderr.startswith("Silenced 1 finding in 1 file.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["check", "--fix"],
            "jaxlint check has no option --fix: `jaxlint check` only reports; `jaxlint fix` rewrites",
        ),
        (
            ["check", "--add-noqa"],
            "jaxlint check has no option --add-noqa: `jaxlint check --add-ignores` writes",
        ),
        (["fix", "--check"], "jaxlint fix has no option --check: `jaxlint fix --diff` writes nothing"),
        (["check", "--fxi"], "No such option '--fxi'"),
    ],
)
def test_options_of_other_commands(project: Path, arguments: list[str], said: str) -> None:
    done = jaxlint(*arguments, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}")
    assert done.stderr.count("\n") == 1


def test_a_notebook_through_a_pipe(project: Path) -> None:
    notebook = (project / "b.ipynb").read_text()
    done = jaxlint("check", "-", "--output-format", "concise", cwd=project, stdin=notebook)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("<stdin>:cell 1:6:8: ")
    done = jaxlint("fix", "--unsafe-fixes", "-", cwd=project, stdin=notebook)
    assert json.loads(done.stdout)["nbformat"] == 4
    done = jaxlint("check", "-", cwd=project, stdin=notebook[:-9])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "<stdin>" in done.stderr
    assert "not valid JSON" in done.stderr


def test_a_dict_through_a_pipe_is_python(project: Path) -> None:
    done = jaxlint("check", "-", cwd=project, stdin='{"cells": print(1)}\n')
    assert (done.returncode, done.stderr) == (0, "")
