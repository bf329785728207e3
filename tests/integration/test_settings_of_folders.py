"""The settings of a folder hold for its files wherever a run starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint
from tests.helpers.small_programs import BRANCH, OLD


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "a"\nversion = "1"\ndependencies = ["jax>=0.10"]\n[tool.jaxlint]\n'
    )
    for folder in ("src", "examples", "examples/deep"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "branch.py").write_text(BRANCH)
    (tmp_path / "examples/jaxlint.toml").write_text(
        'ignore = ["tracer-branch"]\nextend-exclude = ["skipped.py"]\n'
    )
    (tmp_path / "examples/skipped.py").write_text("x = (\n")
    return tmp_path


def found(folder: Path, *arguments: str) -> list[str]:
    done = jaxlint("check", "--output-format", "json", *arguments, cwd=folder)
    assert done.stderr == ""
    return [one["path"] for one in json.loads(done.stdout)]


def codes(folder: Path) -> set[str]:
    done = jaxlint("check", "--output-format", "json", "--select", "migration", cwd=folder)
    return {one["code"] for one in json.loads(done.stdout)}


def test_from_the_parent_and_from_within(project: Path) -> None:
    assert found(project) == ["src/branch.py"]
    assert found(project, "src", "examples") == ["src/branch.py"]
    assert found(project, "examples/deep/branch.py", "src/branch.py") == ["src/branch.py"]
    assert found(project / "examples") == []
    assert found(project, "examples") == []
    assert found(project) == ["src/branch.py"]  # from the cache


def test_the_command_line_and_a_named_file_hold_for_all(project: Path) -> None:
    assert found(project, "--extend-select", "JAX101", "--ignore", "purity") == ["src/branch.py"]
    assert found(project, "--ignore", "JAX101") == []
    done = jaxlint("check", "--config", "pyproject.toml", "--output-format", "json", cwd=project)
    assert "examples/branch.py" in {one["path"] for one in json.loads(done.stdout)}
    assert "examples/skipped.py" in done.stderr


def test_a_folder_of_its_own_includes_and_severity(project: Path) -> None:
    (project / "examples/jaxlint.toml").write_text('severity = "error"\nextend-include = ["*.md"]\n')
    (project / "examples/skipped.py").unlink()
    (project / "examples/page.md").write_text(f"```python\n{BRANCH}```\n")
    assert "examples/page.md" in found(project)


def test_what_a_folder_calls_in_the_rest_is_known(project: Path) -> None:
    (project / "src/steps.py").write_text("def helper(x):\n    if x > 0:\n        return x\n    return -x\n")
    (project / "examples/use.py").write_text(
        "import jax\nfrom src.steps import helper\n\nstep = jax.jit(helper)\n"
    )
    assert "src/steps.py" in found(project)


def test_what_the_project_asks_for_holds_below(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[project]\nname = "a"\nversion = "1"\ndependencies = ["jax==0.4.20"]\n[tool.jaxlint]\n'
    )
    (project / "examples/old.py").write_text(OLD)
    assert codes(project) == {"JAX902"}  # deprecated
    (project / "pyproject.toml").write_text(
        '[project]\nname = "a"\nversion = "1"\ndependencies = ["jax>=0.10"]\n[tool.jaxlint]\n'
    )
    assert codes(project) == {"JAX901"}  # removed


def test_fix_keeps_to_them(project: Path) -> None:
    (project / "examples/jaxlint.toml").write_text('ignore = ["removed-api"]\n')
    for folder in ("src", "examples"):
        (project / folder / "old.py").write_text(OLD)
    (project / "examples/skipped.py").unlink()
    jaxlint("fix", cwd=project)
    assert (project / "examples/old.py").read_text() == OLD
    assert (project / "src/old.py").read_text() != OLD


def test_a_mistake_in_them_costs_one_line(project: Path) -> None:
    (project / "examples/jaxlint.toml").write_text("ignored = []\n")
    done = jaxlint("check", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: examples/jaxlint.toml: unknown key 'ignored'; did you mean 'ignore'?\n"
    (project / "examples/jaxlint.toml").write_text('ignore = ["tracer-brunch"]\n')
    done = jaxlint("check", cwd=project)
    assert done.returncode == 2
    assert "examples/jaxlint.toml: there is no rule 'tracer-brunch'" in done.stderr
