"""`jaxlint config` and `jaxlint completion` as a user runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint.schemas import settings_schema
from jaxlint.settings import SETTINGS
from tests.helpers.command_line import jaxlint

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "a"\nversion = "1"\ndependencies = ["jax>=0.4.30"]\n'
        '[tool.jaxlint]\nignore = ["missing-donation"]\n[tool.jaxlint.per-file-ignores]\n"a.py" = ["key-reuse"]\n'
    )
    (tmp_path / "a.py").write_text("")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/jaxlint.toml").write_text('severity = "error"\nextend-exclude = ["b.py"]\n')
    (tmp_path / "sub/b.py").write_text("")
    return tmp_path


def held(folder: Path, *arguments: str) -> dict[str, object]:
    done = jaxlint("config", "--output-format", "json", *arguments, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_what_holds_for_a_file_and_from_where(project: Path) -> None:
    found = held(project, "a.py", "--extend-select", "memory", "--no-cache")
    values = found["values"]
    assert isinstance(values, dict)
    assert list(values) == [setting.key for setting in SETTINGS]
    assert found["settings"] == "pyproject.toml"
    assert found["checked"] is True
    assert found["silent"] == ["key-reuse"]
    assert "key-reuse" not in found["rules"]  # type: ignore[operator]
    assert values["ignore"] == {"value": ["missing-donation"], "from": "pyproject.toml"}
    assert values["select"] == {"value": ["ALL"], "from": "default"}
    assert values["extend-select"] == {"value": ["memory"], "from": "command line"}
    assert values["target-jax"] == {"value": ">=0.4.30", "from": "what the project requires"}


def test_the_nearest_settings(project: Path) -> None:
    found = held(project, "sub/b.py")
    assert (found["settings"], found["checked"]) == ("sub/jaxlint.toml", False)
    assert found["values"]["severity"] == {"value": "error", "from": "sub/jaxlint.toml"}  # type: ignore[index]
    assert found["values"]["ignore"] == {"value": [], "from": "default"}  # type: ignore[index]
    assert held(project, "sub")["settings"] == "sub/jaxlint.toml"


def test_for_people(project: Path) -> None:
    done = jaxlint("config", "a.py", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert "settings  pyproject.toml\n" in done.stdout
    assert 'ignore                      ["missing-donation"]  (pyproject.toml)\n' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope.py"], "error: nope.py: no such file or folder; check the path\n"),
        (["a.py", "sub"], "error: name one file or folder\n"),
        (["a.py", "--select", "nope"], "error: there is no rule 'nope'"),
    ],
)
def test_mistakes_cost_one_line(project: Path, arguments: list[str], said: str) -> None:
    done = jaxlint("config", *arguments, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_the_schema_is_the_one_in_the_documentation(project: Path) -> None:
    stored = json.loads((ROOT / "docs/schemas/settings.json").read_text(encoding="utf-8"))
    assert stored == settings_schema(), "run `make rules`"
    done = jaxlint("config", "--schema", cwd=project)
    assert json.loads(done.stdout) == stored
    assert set(stored["properties"]) == {setting.key for setting in SETTINGS}
    assert "tracer-branch" in stored["$defs"]["rule"]["anyOf"][0]["enum"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(project: Path, shell: str) -> None:
    done = jaxlint("completion", shell, cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_JAXLINT_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("jaxlint check --select tracer-b", {"tracer-branch"}),
        ("jaxlint check --ignore key-reuse,tracer-b", {"key-reuse,tracer-branch"}),
        ("jaxlint check --select = tracer-b", {"tracer-branch"}),
        ("jaxlint explain JAX101", {"JAX101"}),
        ("jaxlint upg", {"upgrade"}),
        ("jaxlint check --add", {"--add-ignores"}),
    ],
)
def test_what_is_completed(project: Path, words: str, proposed: set[str]) -> None:
    done = jaxlint(
        cwd=project, COMP_WORDS=words, COMP_CWORD=str(words.count(" ")), _JAXLINT_COMPLETE="bash_complete"
    )
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == proposed


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("jaxlint check --select tracer-b", "tracer-branch\tPython control flow depends on a tracer."),
        ("jaxlint check --ignore key-reuse,tracer-b", "key-reuse,tracer-branch\tPython"),
        ("jaxlint check --select=key-reuse,tracer-b", "--select=key-reuse,tracer-branch\tPython"),
        ("jaxlint ch", "check\tReport what makes JAX programs slow, big"),
    ],
)
def test_in_a_real_fish(project: Path, words: str, proposed: str) -> None:
    (project / "jaxlint").write_text(f'#!/bin/sh\nexec {sys.executable} -m jaxlint "$@"\n')
    (project / "jaxlint").chmod(0o755)
    asked = f'jaxlint completion fish | source; complete -C "{words}"'
    environment = {**os.environ, "PATH": f"{project}:{os.environ['PATH']}", "HOME": str(project)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(proposed), done.stderr


def test_what_fish_gets_is_not_cut_at_commas(project: Path) -> None:
    """Without a fish: its script keeps all behind the first comma."""
    assert 'string split -m 1 ","' in jaxlint("completion", "fish", cwd=project).stdout
    asked = {
        "COMP_WORDS": "jaxlint check --select=key-reuse,tracer-b",
        "COMP_CWORD": "--select=key-reuse,tracer-b",
    }
    done = jaxlint(cwd=project, _JAXLINT_COMPLETE="fish_complete", **asked)
    assert done.stdout.startswith("plain,--select=key-reuse,tracer-branch\tPython control flow")


def test_in_a_real_bash(project: Path) -> None:
    script = jaxlint("completion", "bash", cwd=project).stdout
    (project / "jaxlint").write_text(f'#!/bin/sh\nexec {sys.executable} -m jaxlint "$@"\n')
    (project / "jaxlint").chmod(0o755)
    asked = "COMP_WORDS=(jaxlint explain tracer-bran); COMP_CWORD=2; _jaxlint_completion ./jaxlint; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    done = subprocess.run(
        ["bash", "--norc", "-c", script + "\n" + asked],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "tracer-branch\n"
