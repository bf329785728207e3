"""What CI servers read: the action of this repository, GitLab's report, SARIF, and JSON by its schema."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from jaxlint.registry import all_rules
from tests.helpers.command_line import jaxlint
from tests.helpers.small_programs import BRANCH, OLD

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text(BRANCH + "\n\n" + BRANCH.replace("step", "other"))
    (tmp_path / "b c.py").write_text(OLD)
    (tmp_path / "broken.py").write_text("x = (\n")
    return tmp_path


def report(project: Path, form: str, *arguments: str) -> Any:
    return json.loads(jaxlint("check", "--output-format", form, *arguments, cwd=project).stdout)


def test_the_schemas_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "tools/schemas.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_json_is_what_its_schema_says(project: Path) -> None:
    schema = json.loads((ROOT / "docs/schemas/output.json").read_text(encoding="utf-8"))
    found = report(project, "json-document")
    assert problems(found, schema) == []
    assert found["version"] == 1
    assert found["summary"] == {
        "files": 3,
        "errors": 3,
        "warnings": 0,
        "infos": 0,
        "known": 0,
        "unchanged": 0,
    }
    assert [one["path"] for one in found["errors"]] == ["broken.py"]
    assert found["findings"] == report(project, "json")
    assert any(one["fix"] for one in found["findings"])
    del found["findings"][0]["reason"]
    found["summary"]["files"] = "many"
    assert problems(found, schema) == ["$.findings[0]: no reason", "$.summary.files: no integer"]


def problems(value: Any, schema: dict[str, Any], at: str = "$") -> list[str]:
    """Where a value is not what a schema says, as far as our schemas use theirs."""
    if "anyOf" in schema:
        each = [problems(value, one, at) for one in schema["anyOf"]]
        return [] if [] in each else each[0]
    if "const" in schema:
        return [] if value == schema["const"] else [f"{at}: not {schema['const']}"]
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{at}: none of them"]
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
    if not isinstance(value, kinds[schema["type"]]):
        return [f"{at}: no {schema['type']}"]
    if isinstance(value, list):
        return [p for i, one in enumerate(value) for p in problems(one, schema["items"], f"{at}[{i}]")]
    if not isinstance(value, dict):
        return []
    lost = [f"{at}: no {key}" for key in schema["required"] if key not in value]
    strange = [f"{at}: {key} is not described" for key in value if key not in schema["properties"]]
    inner = [
        problem
        for key, one in value.items()
        if key in schema["properties"]
        for problem in problems(one, schema["properties"][key], f"{at}.{key}")
    ]
    return lost + strange + inner


def test_gitlab(project: Path) -> None:
    found = report(project, "gitlab")
    assert [one["location"]["path"] for one in found] == ["a.py", "a.py", "b c.py", "broken.py"]
    assert [one["severity"] for one in found] == ["major", "major", "major", "blocker"]
    assert found[0]["location"]["lines"] == {"begin": 6, "end": 6}
    assert found[0]["check_name"] == "tracer-branch"
    prints = [one["fingerprint"] for one in found]
    assert len(set(prints)) == 4
    (project / "a.py").write_text("import os\n" + (project / "a.py").read_text())
    assert [one["fingerprint"] for one in report(project, "gitlab")] == prints


def test_sarif_has_a_page_and_an_address_for_each_rule(project: Path) -> None:
    rules = report(project, "sarif")["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["JAX101", "JAX901"]
    for rule in rules:
        assert rule["helpUri"].startswith("https://")
        assert "## What it does" in rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] == "error"
    assert [rule.name for rule in all_rules() if rule.help_address() is None] == []


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


def test_the_action_runs_what_it_is_given(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    steps = {step.get("name"): step for step in action()["runs"]["steps"]}
    inputs = {name: one["default"] for name, one in action()["inputs"].items()}
    programs = tmp_path_factory.mktemp("bin")
    (programs / "jaxlint").write_text(f'#!/bin/sh\nexec {sys.executable} -m jaxlint "$@"\n')
    (programs / "jaxlint").chmod(0o755)

    def run(**given: str) -> subprocess.CompletedProcess[str]:
        values = {**inputs, **{key.replace("_", "-"): value for key, value in given.items()}}
        environment = {
            name: values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, text in steps["check"]["env"].items()
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps["check"]["run"]],
            cwd=project,
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    done = run(paths="a.py")
    assert done.returncode == 1
    assert done.stdout.startswith("::error title=JAX101")
    done = run(paths="a.py broken.py", args="--ignore tracing")
    assert done.returncode == 2
    done = run(paths="a.py", output_format="sarif", output="out.sarif", args="--exit-zero")
    assert done.returncode == 0
    assert json.loads((project / "out.sarif").read_text())["version"] == "2.1.0"
    done = run(paths="$(touch x);`touch y`")
    assert done.returncode == 2
    assert not {"x", "y"} & {path.name for path in project.iterdir()}
    assert set(steps["check"]["env"].values()) | {"${{ inputs.python-version }}"} == {
        f"${{{{ inputs.{name} }}}}" for name in inputs
    }


def test_the_action_installs_with_no_module_of_the_repository(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It stands in the checked-out repository, where a pull request may have put a `pip.py`."""
    (step,) = [one for one in action()["runs"]["steps"] if one.get("name") == "install"]
    programs = tmp_path_factory.mktemp("bin")
    (programs / "python").symlink_to(sys.executable)
    for name in ("pip", "runpy"):
        (project / f"{name}.py").write_text("open('ran', 'w').close()\n")
    # An address that is no package: what pip says of it shows that pip itself was run.
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "ACTION_PATH": "./no-package"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert not (project / "ran").exists()
