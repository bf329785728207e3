"""The cache: when it is used, when not, and that it cannot do harm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jaxlint import cache
from jaxlint.cache import dependency_digest
from jaxlint.config import load_config
from jaxlint.engine import CheckResult, check

if TYPE_CHECKING:
    from tests.engine.conftest import StandInAnalysis


def run(**settings: object) -> CheckResult:
    return check(["."], load_config(["."]).with_options(**settings))


@pytest.fixture
def warm(project: Path, stand_in: StandInAnalysis) -> Path:
    (project / "a.py").write_text("bad; costly\n")
    (project / "b.py").write_text("f(\n")
    assert not run().cached
    return project


def test_second_run_is_the_same_and_does_not_analyse(warm: Path, stand_in: StandInAnalysis) -> None:
    fresh = check(["."], load_config(["."]), use_cache=False)
    again = run()
    assert again.cached
    assert again.findings == fresh.findings
    assert list(map(str, again.errors)) == list(map(str, fresh.errors))
    assert len(stand_in.calls) == 2  # the first run and the one without the cache


def test_change_of_a_file_or_of_the_settings_is_noticed(warm: Path) -> None:
    assert not run(target_jax="0.6.0").cached
    assert not run(select=("JAX901",)).cached
    (warm / "a.py").write_text("bad\n")
    changed = run()
    assert not changed.cached
    assert len(changed.findings) == 1
    (warm / "c.py").write_text("bad\n")
    assert not run().cached


def test_change_of_the_tools_is_noticed(warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "tools_digest", lambda: "another version")
    assert not run().cached


def test_change_of_a_dependency_is_noticed(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "a.py").write_text("bad\n")
    outside = project.parent / "library"
    outside.mkdir()
    (outside / "one.py").write_text("1")
    watched = [outside, outside / "one.py", outside / "absent.py"]
    stand_in.dependencies = {path: dependency_digest(path) for path in watched}
    assert not run().cached
    assert run().cached
    (outside / "one.py").write_text("2")
    assert not run().cached
    stand_in.dependencies = {path: dependency_digest(path) for path in watched}
    assert not run().cached  # stored anew by the last run with stale digests
    assert run().cached
    (outside / "absent.py").write_text("")
    assert not run().cached


def test_new_module_beside_a_file_is_noticed(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "pkg").mkdir()
    (project / "pkg/a.py").write_text("from . import helper\n")
    check(["pkg/a.py"], load_config(["pkg/a.py"]))
    (project / "pkg/notes.txt").write_text("")
    assert check(["pkg/a.py"], load_config(["pkg/a.py"])).cached
    (project / "pkg/helper.py").write_text("")
    assert not check(["pkg/a.py"], load_config(["pkg/a.py"])).cached


def test_data_comes_back_as_it_was(warm: Path) -> None:
    finding = run().findings[0]
    assert finding.data == {"argnums": (0, 2)}
    assert finding.fix is not None
    assert finding.fix.steps[0].parameters == {"names": ("bad",)}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x80\x04\x95", id="pickle"),
        pytest.param(b"[1, 2]", id="other-json"),
        pytest.param(b'{"key": null, "dependencies": {}}', id="other-key"),
        pytest.param(b"[" * 100_000, id="nested"),
    ],
)
def test_damaged_entry_is_no_entry(warm: Path, damage: bytes) -> None:
    (entry,) = (warm / ".jaxlint_cache").glob("*.json")
    entry.write_bytes(damage)
    again = run()
    assert not again.cached
    assert len(again.findings) == 2
    assert run().cached


def test_entry_with_wrong_fields_is_no_entry(warm: Path) -> None:
    (entry,) = (warm / ".jaxlint_cache").glob("*.json")
    document = json.loads(entry.read_bytes())
    for finding in ({}, {"span": 3}, [], {**document["findings"][0], "severity": "fatal"}):
        entry.write_text(json.dumps({**document, "findings": [finding]}))
        assert not run().cached


def test_folder_ignores_itself_and_is_not_searched(warm: Path) -> None:
    folder = warm / ".jaxlint_cache"
    assert (folder / ".gitignore").read_text().splitlines()[-1] == "*"
    assert [source for source in run().sources if "cache" in source] == []


def test_size_is_bounded(project: Path, stand_in: StandInAnalysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_ENTRIES", 3)
    for number in range(6):
        (project / "a.py").write_text(f"x = {number}\n")
        run()
        for age, path in enumerate(sorted((project / ".jaxlint_cache").glob("*.json"), key=os.path.getmtime)):
            os.utime(path, (age, age))
    assert len(list((project / ".jaxlint_cache").glob("*.json"))) == 3
    assert run().cached  # the newest stayed


def test_folder_that_cannot_be_made_costs_nothing(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "a.py").write_text("bad\n")
    (project / ".jaxlint_cache").write_text("a file in its place")
    assert len(run().findings) == 1
    assert not run().cached


def test_link_in_its_place_is_not_written_through(project: Path, stand_in: StandInAnalysis) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (project / ".jaxlint_cache").symlink_to(elsewhere)
    (project / "a.py").write_text("bad\n")
    run()
    assert list(elsewhere.iterdir()) == []


def test_other_folder(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "jaxlint.toml").write_text("cache-dir = 'deep/cache'\n")
    (project / "a.py").write_text("bad\n")
    run()
    assert run().cached
    assert not (project / ".jaxlint_cache").exists()
