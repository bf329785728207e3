"""The cache: when it is used, when not, and that it cannot do harm."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jaxlint import cache
from jaxlint.cache import dependency_digest
from jaxlint.config import ConfigError, load_config
from jaxlint.engine import CheckResult, check
from jaxlint.examine import Examination, Outcome
from jaxlint.finding import Severity
from jaxlint.part_cache import can_be_cached_in_parts
from jaxlint.registry import all_rules
from jaxlint.rule import Rule
from jaxlint.signed_entries import signed
from jaxlint.source import SourceFile
from jaxlint.staging import import_components
from jaxlint.state import cache_key

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


def test_a_copy_of_the_project_elsewhere_has_its_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tmp_path / "one", tmp_path / "deep" / "other"
    (one / "pkg").mkdir(parents=True)
    (one / "jaxlint.toml").write_text('[per-file-ignores]\n"pkg/*" = ["key-reuse"]\n')
    (one / "pkg/a.py").write_text("import jax\nfrom pkg import b\n\n@jax.jit\ndef f(x):\n    return b.g(x)\n")
    (one / "pkg/b.py").write_text("def g(x):\n    return 1 if x > 0 else 2\n")
    monkeypatch.chdir(one)
    fresh = check(["pkg/a.py"], load_config(["pkg/a.py"]))
    assert [found.path for found in fresh.findings] == []
    whole = run()
    assert [found.path for found in whole.findings] == ["pkg/b.py"]
    shutil.copytree(one, other)
    monkeypatch.chdir(other)
    for entry in Path(".jaxlint_cache").glob("*.json"):
        assert str(tmp_path) not in entry.read_text()
    again = run()
    assert again.cached
    assert again.findings == whole.findings
    assert check(["pkg/a.py"], load_config(["pkg/a.py"])).cached
    (other / "pkg/b.py").write_text("def g(x):\n    return 2\n")  # a dependency of a.py
    assert not check(["pkg/a.py"], load_config(["pkg/a.py"])).cached


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


@pytest.mark.parametrize("name", ["run.sh", "tox.ini", "settings.mk", ".env", "setup.cfg", "Makefile"])
def test_new_file_that_may_set_options_of_jax_is_noticed(
    project: Path, stand_in: StandInAnalysis, name: str
) -> None:
    """`JAX_ENABLE_X64=1` in it changes findings."""
    (project / "a.py").write_text("x = 1\n")
    assert not run().cached
    assert run().cached
    (project / name).write_text("")
    assert not run().cached
    assert run().cached


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
    document.pop("jaxlint-cache")
    secret = cache_key(create=False)
    assert secret is not None
    for finding, cached in (
        (document["findings"][0], True),
        *((one, False) for one in ({}, {"span": 3}, [], {**document["findings"][0], "severity": "fatal"})),
    ):
        rest = json.dumps({**document, "findings": [finding]}).encode()[1:]
        entry.write_bytes(signed(secret, document["key"], rest))
        assert run().cached == cached


def test_an_entry_that_this_user_did_not_write_hides_nothing(
    warm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry,) = (warm / ".jaxlint_cache").glob("*.json")
    forged = json.loads(entry.read_bytes()) | {"findings": []}
    entry.write_text(json.dumps(forged))
    assert len(run().findings) == 2
    # nor one that another user signed, for the same files at the same place
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    again = run()
    assert not again.cached
    assert run().cached
    (tmp_path / "another/jaxlint/cache-key").chmod(0o644)
    assert not run().cached


def test_without_a_folder_of_state_nothing_is_remembered(
    project: Path, stand_in: StandInAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
    (project / "a.py").write_text("bad\n")
    assert len(run().findings) == 1
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


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "where", ["../userdata", "userdata", "{outside}", "~/userdata", "linked", ".", ".git/cache", "a.py"]
)
def test_the_settings_of_a_project_name_no_folder_of_other_files(
    project: Path, stand_in: StandInAnalysis, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("HOME", str(project.parent))
    monkeypatch.setattr(cache, "MAX_ENTRIES", 3)
    (project / "a.py").write_text("bad\n")
    (project / ".git").mkdir()
    for folder in (project / "userdata", project.parent / "userdata"):
        folder.mkdir()
        for number in range(20):
            (folder / f"{number:032x}.json").write_text("{}")
    (project / "linked").symlink_to(project.parent)
    where = where.format(outside=project.parent / "userdata")
    (project / "jaxlint.toml").write_text(f"cache-dir = '{where}'\n")
    before = snapshot(project.parent)
    with pytest.raises(
        ConfigError, match=r"^jaxlint.toml: cache-dir .*(--cache-dir|not changed|version control)"
    ):
        run()
    assert snapshot(project.parent) == before
    assert len(check(["."], load_config(["."]), use_cache=False).findings) == 1


def test_whoever_runs_it_may_name_any_folder(
    project: Path, stand_in: StandInAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.py").write_text("bad\n")
    (project / "jaxlint.toml").write_text("cache-dir = '../userdata'\n")
    monkeypatch.setenv("JAXLINT_CACHE_DIR", "../elsewhere")
    assert not run().cached
    assert run().cached
    tag = project.parent / "elsewhere" / "CACHEDIR.TAG"
    assert tag.read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    tag.write_text("Signature: 8a477f597d28d172789f06886806bc55\n# of another program\n")
    (project.parent / "elsewhere" / ".gitignore").unlink()
    with pytest.raises(ConfigError, match=r"elsewhere: not a cache of jaxlint"):
        run()


def test_a_folder_by_our_name_that_is_none_of_ours_is_left_alone(
    project: Path, stand_in: StandInAnalysis
) -> None:
    folder = project / ".jaxlint_cache"
    folder.mkdir()
    (folder / f"{7:032x}.json").write_text("{}")
    (project / "a.py").write_text("bad\n")
    before = snapshot(folder)
    result = run()
    assert len(result.findings) == 1
    (warning,) = result.warnings
    assert "not a cache of jaxlint" in warning
    assert snapshot(folder) == before


def test_only_what_the_cache_wrote_is_removed(
    project: Path, stand_in: StandInAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_ENTRIES", 2)
    folder = project / ".jaxlint_cache"
    run()
    (project / "a.py").write_text("x = 0\n")
    run()
    others = [folder / f"{7:032x}.json", folder / "notes.json", folder / "sub" / f"{8:032x}.json"]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text('{"of": "somebody"}')
    for number in range(5):
        (project / "a.py").write_text(f"x = {number}\n")
        run()
    assert all(other.exists() for other in others)
    assert len(list(folder.glob("*.json"))) == 2 + 2


def test_links_in_a_cache_that_was_shipped_are_not_written_through(
    project: Path, stand_in: StandInAnalysis
) -> None:
    (project / "a.py").write_text("bad\n")
    run()
    folder = project / ".jaxlint_cache"
    (entry,) = folder.glob("*.json")
    victim, absent = project.parent / "victim", project.parent / "absent"
    victim.write_text("precious")
    for path, target in ((entry, victim), (folder / ".gitignore", absent)):
        path.unlink()
        path.symlink_to(target)
    assert not run().cached
    assert run().cached
    assert victim.read_text() == "precious"
    assert not absent.exists()
    assert not entry.is_symlink()


def test_a_pipe_among_the_dependencies_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "module.py")
    assert dependency_digest(tmp_path / "module.py") == ""


TRACED = "import jax\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"
MESH = """\
import jax
from jax.sharding import Mesh

with Mesh(jax.devices(), ("x",)):
    print(jax.jit(abs)(1))
"""


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The files of each part that was examined. Each group of connected files is a part."""
    examined: list[list[str]] = []

    def analyzed(self: Examination, sources: list[SourceFile], *rest: Any) -> Outcome:
        examined.append([source.display for source in sources])
        return original(self, sources, *rest)

    original = Examination._analyzed
    monkeypatch.setattr(Examination, "_analyzed", analyzed)
    monkeypatch.setattr(import_components, "SHARD_LINES", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text(TRACED)
    (tmp_path / "b.py").write_text("import c\n" + TRACED)
    (tmp_path / "c.py").write_text(TRACED)
    return examined


def test_a_change_costs_the_part_that_it_lies_in(tmp_path: Path, parts: list[list[str]]) -> None:
    assert [finding.path for finding in run().findings] == ["a.py", "b.py", "c.py"]
    assert parts == [["a.py"], ["b.py", "c.py"]]
    parts.clear()
    (tmp_path / "c.py").write_text(TRACED.replace("x > 0", "x is None"))
    assert [finding.path for finding in run().findings] == ["a.py", "b.py"]
    assert parts == [["b.py", "c.py"]]
    parts.clear()
    (tmp_path / "d.py").write_text("import a\n")
    assert [finding.path for finding in run().findings] == ["a.py", "b.py"]
    assert len(parts) == 2  # a new file may be what an import means


def test_a_search_through_all_files_is_part_of_an_entry(tmp_path: Path, parts: list[list[str]]) -> None:
    (tmp_path / "a.py").write_text(MESH)
    (tmp_path / "c.py").write_text("x = 1\n")
    assert [finding.fix is None for finding in run().findings if finding.path == "a.py"] == [False]
    parts.clear()
    (tmp_path / "c.py").write_text("x = 2\n")
    run()
    assert parts == [["b.py", "c.py"]]
    parts.clear()
    (tmp_path / "c.py").write_text("from jax.interpreters.pxla import thread_resources\n")
    warm = run()
    assert ["a.py"] in parts
    assert [finding.fix is None for finding in warm.findings if finding.path == "a.py"] == [True]
    assert warm.findings == check(["."], load_config(["."]), use_cache=False).findings


def test_rules_of_others_may_read_any_file(tmp_path: Path, parts: list[list[str]]) -> None:
    class Foreign(Rule):
        code, name, category, severity = "XYZ001", "foreign", "style", Severity.INFO

    assert can_be_cached_in_parts(all_rules())
    assert not can_be_cached_in_parts([*all_rules(), Foreign])
