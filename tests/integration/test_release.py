"""A release is one commit with one version, and leaves nothing behind but what was asked for."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from jaxlint import __version__

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("release")


@pytest.fixture
def small(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of the files that hold the version, in one commit; the tool works on it."""
    names = [*(name for name, _ in tool.PLACES), "jaxlint/__init__.py", "CHANGELOG.md"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    git = ["git", "-c", "user.name=A Tester", "-c", "user.email=tester@example.org"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "All"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "HOME", tmp_path / "jaxlint" / "__init__.py")
    return tmp_path


def test_every_copy_of_the_version_is_that_version(tool: ModuleType) -> None:
    assert tool.version() == __version__
    assert {one for _, one in tool.copies()} == {__version__}


def test_a_clean_tree_passes_and_a_changed_one_is_refused(tool: ModuleType, small: Path) -> None:
    tool.check_tree()
    (small / "new.py").write_text("x = 1\n")
    with pytest.raises(tool.ReleaseError, match="not committed"):
        tool.check_tree()


def test_a_new_version_is_written_everywhere(tool: ModuleType, small: Path) -> None:
    tool.write_version("7.8.9")
    assert tool.version() == "7.8.9"
    assert {one for _, one in tool.copies()} == {"7.8.9"}
    with pytest.raises(tool.ReleaseError, match="is no version"):
        tool.write_version("v7.8.9")


def test_a_tag_needs_a_date_and_is_not_moved(tool: ModuleType, small: Path) -> None:
    changelog = small / "CHANGELOG.md"
    text = changelog.read_text()
    changelog.write_text(
        re.sub(rf"^## {re.escape(__version__)}.*$", f"## {__version__} (unreleased)", text, flags=re.M)
    )
    with pytest.raises(tool.ReleaseError, match="unreleased"):
        tool.check_date()
    changelog.write_text(
        re.sub(rf"^## {re.escape(__version__)}.*$", f"## {__version__} (2026-12-01)", text, flags=re.M)
    )
    tool.check_date()
    git = ["git", "-c", "user.name=A Tester", "-c", "user.email=tester@example.org"]
    subprocess.run([*git, "tag", f"v{__version__}"], cwd=small, check=True)
    tool.check_date()
    subprocess.run(
        [*git, "commit", "--quiet", "--all", "--allow-empty", "--message", "Next"], cwd=small, check=True
    )
    with pytest.raises(tool.ReleaseError, match="another commit"):
        tool.check_date()


def test_conda_asks_for_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    wanted = [f"python {project['requires-python']}"]
    wanted += [re.sub(r"(?<=[\w])(?=>=)", " ", one) for one in project["dependencies"]]
    assert recipe["requirements"]["run"] == wanted
    assert recipe["package"]["name"] == project["name"]
    assert recipe["about"]["license"] == project["license"]
    script, target = next(iter(project["scripts"].items()))
    assert recipe["build"]["python"]["entry_points"] == [f"{script} = {target}"]


def test_the_citation_names_nobody_who_is_made_up() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["authors"] == [{"name": "The jaxlint developers"}]
    assert str(citation["version"]) == __version__


FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_the_forms_ask_for_what_a_report_needs() -> None:
    forms = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in FORMS}
    assert set(forms) == {"false-alarm", "missed-defect", "wrong-fix"}
    for name, form in forms.items():
        assert form["name"]
        assert form["description"]
        fields = {part["id"]: part for part in form["body"] if "id" in part}
        assert {"program", "output", "versions"} <= fields.keys(), name
        assert all(fields[one]["validations"]["required"] for one in ("program", "output")), name
