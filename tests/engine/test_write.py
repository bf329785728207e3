"""Writing changed files: what is kept, and what is refused."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from jaxlint.source import SourceError, folder, read_source, write
from jaxlint.source.diff import unified_diff
from jaxlint.source.write import Change, write_atomic, write_changes


def make(path: Path, data: bytes = b"x = 1\n") -> Path:
    path.write_bytes(data)
    return path


def leftovers(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.endswith(".tmp")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"x = 1\r\ny = 2\r\n", b"x = 3\r\ny = 2\r\n", id="crlf"),
        pytest.param(b"\xef\xbb\xbfx = 1\n", b"\xef\xbb\xbfx = 3\n", id="bom"),
        pytest.param(
            b"# coding: latin-1\ns = '\xe9'; x = 1", b"# coding: latin-1\ns = '\xe9'; x = 3", id="latin-1"
        ),
    ],
)
def test_bytes_around_the_change_stay(tmp_path: Path, before: bytes, after: bytes) -> None:
    source = read_source(make(tmp_path / "a.py", before))
    write_changes([Change(source, source.text.replace("x = 1", "x = 3"))])
    assert (tmp_path / "a.py").read_bytes() == after
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("letter", ["n", "\u00e9", "\u20ac", "\U0001f4a9"])
def test_the_longest_names_can_be_written(tmp_path: Path, letter: str) -> None:
    """255 bytes, of one or several to a letter; the temporary file beside has a longer one at its end."""
    path = make(tmp_path / f"{letter * (252 // len(letter.encode()))}.py")
    write_changes([Change(read_source(path), "x = 2\n")])
    assert path.read_text() == "x = 2\n"
    assert not leftovers(tmp_path)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes")
def test_extended_attributes_stay(tmp_path: Path) -> None:
    path = make(tmp_path / "a.py")
    try:
        os.setxattr(path, "user.origin", b"mine")
    except OSError:
        pytest.skip("a file system without extended attributes")
    write_changes([Change(read_source(path), "x = 2\n")])
    assert os.getxattr(path, "user.origin") == b"mine"


def test_mode_and_symbolic_link_stay(tmp_path: Path) -> None:
    real = make(tmp_path / "real.py")
    real.chmod(0o751)
    link = tmp_path / "link.py"
    link.symlink_to("real.py")
    write_changes([Change(read_source(link), "x = 2\n")])
    assert link.is_symlink()
    assert real.read_text() == "x = 2\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o751


def test_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    first, second = (read_source(make(tmp_path / name)) for name in ("a.py", "b.py"))
    make(tmp_path / "b.py", b"x = 7\n")
    with pytest.raises(SourceError, match="changed on disk since it was read"):
        write_changes([Change(first, "x = 2\n"), Change(second, "x = 2\n")])
    assert (tmp_path / "a.py").read_text() == "x = 1\n"
    assert (tmp_path / "b.py").read_text() == "x = 7\n"
    assert not leftovers(tmp_path)


def test_failure_half_way_restores_the_first_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (read_source(make(tmp_path / name)) for name in ("a.py", "b.py"))
    replace = os.replace

    def failing(source: str, target: str, **folders: int | None) -> None:
        if Path(target).name == "b.py":
            raise OSError(5, "Input/output error")
        replace(source, target, **folders)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(SourceError, match=r"cannot be replaced \(Input/output error\)"):
        write_changes([Change(first, "x = 2\n"), Change(second, "x = 2\n")])
    assert (tmp_path / "a.py").read_text() == "x = 1\n"
    assert not leftovers(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows makes no links for everybody")
@pytest.mark.parametrize("moment", ["target_of", "_created", "_locked", "opened", "create"])
@pytest.mark.parametrize("part", ["in", "in/deep"])
@pytest.mark.parametrize("opens_folders", [True, False])  # Windows does not
def test_a_folder_that_becomes_a_link_meanwhile(
    moment: str, part: str, opens_folders: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`moment`: the call after which another process puts a link in the place of a folder; `create`: within it."""
    monkeypatch.setattr(folder, "_BY_DESCRIPTOR", opens_folders)
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "in/deep").mkdir(parents=True)
    (outside / "deep").mkdir(parents=True)
    source = read_source(make(project / "in/deep/a.py"))
    make(outside / "deep/a.py")
    make(outside / "a.py")
    holder: Any = os if moment == "create" else write
    real = getattr(holder, "open" if moment == "create" else moment)

    def swap() -> None:
        if not (project / "old").exists():
            (project / part).rename(project / "old")
            (project / part).symlink_to(outside)

    def followed(*arguments: Any, **named: Any) -> Any:
        if moment != "create":
            found = real(*arguments, **named)
            swap()
            return found
        if arguments[1] & os.O_CREAT:
            swap()
        return real(*arguments, **named)

    monkeypatch.setattr(holder, "open" if moment == "create" else moment, followed)
    with pytest.raises(SourceError, match=r"a\.py: "):
        write_changes([Change(source, "x = 2\n")], project)
    assert (project / "old").exists()
    assert sorted(path.name for path in outside.rglob("*")) == ["a.py", "a.py", "deep"]
    assert {path.read_text() for path in outside.rglob("*.py")} == {"x = 1\n"}


def test_text_outside_the_encoding_is_refused(tmp_path: Path) -> None:
    source = read_source(make(tmp_path / "a.py", b"# coding: latin-1\nx = 1\n"))
    with pytest.raises(SourceError, match="cannot be written in iso-8859-1"):
        write_changes([Change(source, source.text + "# \N{SNOWMAN}\n")])
    assert not leftovers(tmp_path)


def test_encoding_that_does_not_round_trip_is_refused(tmp_path: Path) -> None:
    source = read_source(make(tmp_path / "a.py", b"# coding: utf-7\ns = '+AGE-'\n"))
    with pytest.raises(SourceError, match="cannot be written back as it was"):
        write_changes([Change(source, source.text + "x = 2\n")])


def test_two_names_of_one_file_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "real.py")
    (tmp_path / "link.py").symlink_to("real.py")
    changes = [Change(read_source(tmp_path / name), "x = 2\n") for name in ("real.py", "link.py")]
    with pytest.raises(SourceError, match="two changes to one file"):
        write_changes(changes)
    assert (tmp_path / "real.py").read_text() == "x = 1\n"


def test_write_atomic_makes_a_file_with_the_usual_mode(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write_atomic(tmp_path / "new.json", b"{}")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640


def test_diff_marks_a_missing_last_newline() -> None:
    assert unified_diff("a\nb", "a\nc", "f.py") == (
        "--- f.py\n+++ f.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )


def test_diff_of_equal_texts_is_empty() -> None:
    assert unified_diff("a\r\n", "a\r\n", "f.py") == ""


def test_two_runs_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have read the file; the second sees, when its turn comes, that it has changed."""
    path = make(tmp_path / "a.py", b"x = 1\ny = 1\n")
    replace, together = write._Temporary.put_at, threading.Barrier(2)

    def slow(temporary: Path, target: Path, display: str) -> None:
        time.sleep(0.2)
        replace(temporary, target, display)

    monkeypatch.setattr(write._Temporary, "put_at", slow)
    outcomes: list[str] = []

    def run(old: str, new: str) -> None:
        source = read_source(path)
        together.wait()
        try:
            write_changes([Change(source, source.text.replace(old, new))])
            outcomes.append(new)
        except SourceError as error:
            outcomes.append(error.message)

    threads = [threading.Thread(target=run, args=args) for args in (("x = 1", "x = 2"), ("y = 1", "y = 2"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [made] = [one for one in outcomes if one.endswith("= 2")]
    assert "changed on disk since it was read; not rewritten, run again" in outcomes
    assert path.read_text() == "x = 1\ny = 1\n".replace(made[0] + " = 1", made)
    assert not leftovers(tmp_path)


@pytest.mark.skipif(write.fcntl is None, reason="no locks")
def test_a_file_that_another_program_keeps_locked_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "_LOCK_SECONDS", 0.01)
    source = read_source(make(tmp_path / "a.py"))
    with open(tmp_path / "a.py", "rb") as file:
        write.fcntl.flock(file, write.fcntl.LOCK_EX)
        with pytest.raises(SourceError, match="has locked it"):
            write_changes([Change(source, "x = 2\n")])
    assert (tmp_path / "a.py").read_bytes() == b"x = 1\n"
    assert not leftovers(tmp_path)
