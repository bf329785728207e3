"""Writing several files at once: a run that is killed half-way is put back, by its own user's journal alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from jaxlint.cli import main
from jaxlint.source import SourceError, journal, read_source, write
from jaxlint.source.write import Change
from jaxlint.state import StateError, state_folder

# A run that is killed when it is about to replace its second file.
KILLED = """\
import os, sys
from pathlib import Path
from jaxlint.source import read_source, write
from jaxlint.source.journal import write_together
from jaxlint.source.write import Change

replace, written = write._Temporary.put_at, []

def dying(*arguments):
    if len(written) == 1:
        os._exit(9)
    written.append(arguments)
    replace(*arguments)

write._Temporary.put_at = dying
files = [read_source(Path(name)) for name in sys.argv[1:]]
write_together([Change(file, "new = 1\\n") for file in files], Path.cwd(), must_keep=True)
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "jaxlint"


@pytest.fixture
def project(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    for name in ("one.py", "two.py"):
        (folder / name).write_text("old = 1\n")
    monkeypatch.chdir(folder)
    return folder


def kill_half_way(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, "one.py", "two.py"], cwd=project, timeout=60, check=False
    )
    assert done.returncode == 9
    assert texts(project) == ["new = 1\n", "old = 1\n"]


def texts(project: Path) -> list[str]:
    return [(project / name).read_text() for name in ("one.py", "two.py")]


def only_journal(state: Path) -> Path:
    (path,) = (state / "journals").glob("*.json")
    return path


def test_a_killed_run_is_put_back_by_the_next_that_writes(project: Path, state: Path) -> None:
    kill_half_way(project)
    assert state.stat().st_mode & 0o777 == 0o700
    assert only_journal(state).stat().st_mode & 0o777 == 0o600
    (project / "inner").mkdir()
    done = CliRunner().invoke(main, ["fix", "--no-cache", "inner"])
    assert "put back the original of" in done.stderr
    assert texts(project) == ["old = 1\n"] * 2
    assert list((state / "journals").iterdir()) == []
    assert journal.put_back([project]) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "--no-cache"],
        ["inspect"],
        ["fix", "--diff"],
        ["fix", "-", "--stdin-filename", "one.py"],
    ],
    ids=" ".join,
)
def test_what_only_looks_says_so_and_writes_nothing(project: Path, state: Path, arguments: list[str]) -> None:
    kill_half_way(project)
    done = CliRunner().invoke(main, [*arguments, *([] if "-" in arguments else ["."])], input="x = 1\n")
    assert done.exit_code == 0, done.output
    assert texts(project) == ["new = 1\n", "old = 1\n"]
    assert only_journal(state)
    if arguments != ["inspect"]:
        (line,) = done.stderr.splitlines() if arguments[0] == "check" else [done.stderr]
        assert "an interrupted command left files half-written (one.py); `jaxlint fix`" in line


@pytest.mark.parametrize("where", [".", "..", "two.py"])
def test_it_is_found_from_within_and_from_above(project: Path, where: str) -> None:
    kill_half_way(project)
    assert journal.put_back([Path(where)]) == [str(project / "one.py")]


def test_other_projects_are_left_alone(project: Path, tmp_path: Path) -> None:
    kill_half_way(project)
    (tmp_path / "other").mkdir()
    assert journal.put_back([tmp_path / "other"]) == []
    assert texts(project)[0] == "new = 1\n"


def test_a_run_at_work_is_left_alone_and_two_do_not_meet(project: Path, state: Path) -> None:
    one, two = project / "one.py", project / "two.py"
    with journal.keeping(project, [(one, b"new = 1\n")]):
        with journal.keeping(project, [(two, b"new = 2\n")]):
            assert len(list((state / "journals").glob("*.json"))) == 2
            one.write_text("new = 1\n")
            two.write_text("new = 2\n")
            assert journal.put_back([project]) == []
        assert only_journal(state)
    assert texts(project) == ["new = 1\n", "new = 2\n"]
    assert not list((state / "journals").iterdir())


def test_an_error_while_writing_puts_the_originals_back(project: Path) -> None:
    one = project / "one.py"

    def fail() -> None:
        one.write_text("new\n")
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"), journal.keeping(project, [(one, b"new\n")]):
        fail()
    assert one.read_text() == "old = 1\n"


def test_what_somebody_edited_since_is_left_alone(project: Path) -> None:
    kill_half_way(project)
    (project / "one.py").write_text("by hand\n")
    assert journal.put_back([project]) == []
    assert (project / "one.py").read_text() == "by hand\n"


def test_a_journal_in_the_project_is_not_read(project: Path, state: Path) -> None:
    kill_half_way(project)
    text = only_journal(state).read_text()
    only_journal(state).unlink()
    folder = project / ".jaxlint_cache"
    folder.mkdir()
    for name in ("apply-journal.json", "journal.json", "0.json"):
        (folder / name).write_text(text)
    for command in ("check", "fix"):
        done = CliRunner().invoke(main, [command, "."])
        assert "interrupted" not in done.output
    assert texts(project)[0] == "new = 1\n"


def opened(path: Path) -> None:
    path.chmod(0o644)


def linked(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def linked_hard(path: Path) -> None:
    os.link(path, path.parent.parent / "elsewhere")


def of_another_project(path: Path) -> None:
    path.rename(path.with_name("0" * 32 + path.name[32:]))


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


@pytest.mark.parametrize("damage", [opened, linked, linked_hard, of_another_project, torn])
def test_a_journal_that_others_may_have_made_is_not_read(project: Path, state: Path, damage: object) -> None:
    kill_half_way(project)
    damage(only_journal(state))  # type: ignore[operator]
    assert journal.put_back([project]) == []
    assert texts(project)[0] == "new = 1\n"


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o777])
def test_a_folder_that_others_may_open_is_not_read(project: Path, state: Path, mode: int) -> None:
    kill_half_way(project)
    state.chmod(mode)
    done = CliRunner().invoke(main, ["fix", "."])
    assert f"warning: {state}: open to other users" in done.stderr
    assert texts(project)[0] == "new = 1\n"


def test_a_journal_writes_sources_of_its_project_alone(project: Path, state: Path, tmp_path: Path) -> None:
    kill_half_way(project)
    path = only_journal(state)
    stored = json.loads(path.read_text())
    (entry,) = (entry for name, entry in stored["files"].items() if name.endswith("one.py"))
    victims = [project / ".git" / "hooks" / "hook.py", project / "notes.txt", tmp_path / "outside.py"]
    for victim in victims:
        victim.parent.mkdir(parents=True, exist_ok=True)
        victim.write_text("new = 1\n")
    (project / "out.py").symlink_to(tmp_path / "outside.py")
    names = [*map(str, victims), str(project / "out.py"), str(project / "inner/../../outside.py")]
    path.write_text(json.dumps({**stored, "files": dict.fromkeys(names, entry)}))
    assert journal.put_back([project]) == []
    assert {victim.read_text() for victim in victims} == {"new = 1\n"}


@pytest.fixture
def without_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")


def changes(project: Path) -> list[Change]:
    return [Change(read_source(project / name), "new = 1\n") for name in ("one.py", "two.py")]


def test_without_a_folder_of_state_fix_writes_and_apply_says_why_not(
    project: Path, without_state: None
) -> None:
    with pytest.raises(SourceError, match=r"nothing was changed.*/dev/null/state/jaxlint.*XDG_STATE_HOME"):
        journal.write_together(changes(project), project, must_keep=True)
    assert texts(project) == ["old = 1\n"] * 2
    with pytest.raises(StateError):
        state_folder(create=True)
    journal.write_together(changes(project), project, must_keep=False)
    assert texts(project) == ["new = 1\n"] * 2
    for command in ("check", "fix"):
        done = CliRunner().invoke(main, [command, "."])
        assert done.exit_code == 0, done.output


def test_a_change_that_fails_half_way_leaves_no_journal(
    project: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def failing(source: str, target: str, **folders: int | None) -> None:
        if Path(target).name == "two.py":
            raise OSError(28, "No space left on device")
        replace(source, target, **folders)

    monkeypatch.setattr(write.os, "replace", failing)
    with pytest.raises(SourceError, match="No space left"):
        journal.write_together(changes(project), project, must_keep=True)
    assert texts(project) == ["old = 1\n"] * 2
    assert not list((state / "journals").iterdir())


def test_temporary_files_of_a_killed_run_go_with_it_and_no_others(project: Path) -> None:
    kill_half_way(project)
    (left,) = project.glob(".two.py.*.tmp")
    others = [
        left.with_name(name) for name in (".two.py.notours.tmp", ".two.py.mine.tmp", ".three.py.abcdefgh.tmp")
    ]
    for path in others:
        path.write_text("somebody's\n")
    (project / ".two.py.12345678.tmp").write_text("")  # killed before it wrote
    assert [Path(path).name for path in journal.put_back([project])] == ["one.py"]
    assert sorted(path.name for path in project.glob(".*.tmp")) == sorted(path.name for path in others)
