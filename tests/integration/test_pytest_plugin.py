"""`pytest --jaxlint`, with the plugin as pytest loads it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.helpers.small_programs import BRANCH


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "helper.py").write_text(BRANCH.replace("@jax.jit\n", ""))
    (tmp_path / "test_use.py").write_text(
        "import jax\nfrom helper import step\n\njitted = jax.jit(step)\n\n\ndef test_it():\n    pass\n"
    )
    (tmp_path / "fine.py").write_text("x = 1\n")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    loaded = (
        []
        if any(one.value == "jaxlint.pytest_plugin" for one in entry_points(group="pytest11"))
        else ["-p", "jaxlint.pytest_plugin"]
    )
    (folder / "jax.py").write_text("jit = lambda f: f\n")  # stands for JAX, which takes seconds to load
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *loaded, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_file_is_an_item(project: Path) -> None:
    done = run(project, "--jaxlint", "-q", "-rA", "--strict-markers")
    assert done.returncode == 1
    assert "FAILED helper.py::jaxlint" in done.stdout
    assert "line 5: warning JAX101" in done.stdout
    assert "PASSED fine.py::jaxlint" in done.stdout
    assert "PASSED test_use.py::jaxlint" in done.stdout
    assert "PASSED test_use.py::test_it" in done.stdout
    assert "Traceback" not in done.stdout


def test_only_these_items(project: Path) -> None:
    done = run(project, "--jaxlint", "-m", "jaxlint", "fine.py", "-q")
    assert done.returncode == 0
    assert "1 passed" in done.stdout


def test_without_the_option_nothing_changes(project: Path) -> None:
    done = run(project, "-q")
    assert done.returncode == 0
    assert "1 passed" in done.stdout


def test_packages_around_the_files_are_not_imported(project: Path) -> None:
    acts = "open('ran', 'a').write(__name__)\n"
    (project / "package").mkdir()
    (project / "package" / "__init__.py").write_text(acts)
    (project / "package" / "inner.py").write_text(BRANCH)
    done = run(project, "--jaxlint", "-v", "package", "package/inner.py::jaxlint")
    assert "package/inner.py::jaxlint FAILED" in done.stdout
    assert "package/__init__.py::jaxlint PASSED" in done.stdout
    assert not (project / "ran").exists()
    done = run(project, "--jaxlint", "-v", "package/inner.py::jaxlint")
    assert "1 failed" in done.stdout


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are text there")
def test_names_that_steer_a_terminal_or_break_a_report(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    for name in (b"\x1b[31mred.py", b"\xff.py"):
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
            file.write(BRANCH)
    done = run(tmp_path, "--jaxlint", "--junitxml", "report.xml")
    assert "2 failed, 1 passed" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[31mred.py::jaxlint" in done.stdout
    assert "\\xff" in (tmp_path / "report.xml").read_text()


def test_a_baseline(project: Path) -> None:
    from tests.helpers.command_line import jaxlint

    jaxlint("baseline", cwd=project)
    assert run(project, "--jaxlint", "--jaxlint-baseline", "jaxlint-baseline.jsonl", "-q").returncode == 0
    done = run(project, "--jaxlint", "--jaxlint-baseline", "nope", "-q")
    assert done.returncode != 0
    assert "there is no such baseline" in done.stdout + done.stderr


def test_the_entry_point_is_declared() -> None:
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\njaxlint = "jaxlint.pytest_plugin"\n' in text
