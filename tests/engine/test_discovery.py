"""Which files a run is about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaxlint.config import DEFAULT_EXCLUDES
from jaxlint.source.discovery import Discovery, Search, discover
from jaxlint.source.patterns import PathPatterns


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def search(root: Path, *more: str, force: bool = False) -> Search:
    return Search((PathPatterns(str(root), (*DEFAULT_EXCLUDES, *more)),), force_exclude=force)


def shown(found: Discovery) -> list[str]:
    return [file.display for file in found.files]


def test_folders_are_searched_for_python(root: Path) -> None:
    touch(
        root,
        "b.py",
        "a/c.py",
        "a/d.txt",
        "a/stub.pyi",
        "a/script",
        "__pycache__/x.py",
        ".venv/lib/y.py",
        "build/z.py",
    )
    found = discover(["."], search(root))
    assert shown(found) == ["a/c.py", "b.py"]
    assert [file.path for file in found.files] == [root / "a/c.py", root / "b.py"]


@pytest.mark.parametrize(
    ("given", "display"),
    [
        pytest.param("src", "src/a.py", id="folder"),
        pytest.param("src/", "src/a.py", id="slash"),
        pytest.param("./src", "./src/a.py", id="dot"),
        pytest.param("src/../src/a.py", "src/../src/a.py", id="dots"),
    ],
)
def test_paths_stay_as_they_were_given(root: Path, given: str, display: str) -> None:
    touch(root, "src/a.py")
    found = discover([given], search(root))
    assert shown(found) == [display]
    assert found.files[0].path == root / "src/a.py"


def test_absolute_paths_stay_absolute(root: Path) -> None:
    touch(root, "src/a.py")
    assert shown(discover([root / "src"], search(root))) == [str(root / "src/a.py")]


def test_gitignore_holds_in_folders_and_nests(root: Path) -> None:
    touch(root, "a.py", "skip.py", "deep/skip.py", "deep/keep.py", "deep/own.py", "gen/x.py", "deep/gen/y.py")
    (root / ".gitignore").write_text("skip.py\n/gen\n*.tmp\n[\n")
    (root / "deep/.gitignore").write_text("!skip.py\nown.py\n")
    assert shown(discover(["."], search(root))) == ["a.py", "deep/gen/y.py", "deep/keep.py", "deep/skip.py"]
    # From a folder below, the files above it count as well.
    assert shown(discover(["deep"], search(root))) == ["deep/gen/y.py", "deep/keep.py", "deep/skip.py"]


def test_gitignore_can_be_left_aside(root: Path) -> None:
    touch(root, "skip.py")
    (root / ".gitignore").write_text("skip.py\n")
    assert shown(discover(["."], Search(respect_gitignore=False))) == ["skip.py"]


def test_paths_given_by_name_are_always_found(root: Path) -> None:
    touch(
        root,
        "build/a.py",
        "ignored.py",
        "tool",
        "stub.pyi",
        "site-packages/flax/x.py",
        "site-packages/flax/build/y.py",
    )
    (root / ".gitignore").write_text("ignored.py\nsite-packages\n")
    names = ["build/a.py", "ignored.py", "tool", "stub.pyi"]
    assert shown(discover(names, search(root))) == names
    assert shown(discover(["build"], search(root))) == ["build/a.py"]
    # Inside a folder that was named, the usual exclusions still hold.
    assert shown(discover(["site-packages/flax"], search(root))) == ["site-packages/flax/x.py"]


def test_force_exclude_holds_for_names_too(root: Path) -> None:
    touch(root, "build/a.py", "ignored.py", "a.py")
    (root / ".gitignore").write_text("ignored.py\n")
    found = discover(["build/a.py", "build", "ignored.py", "a.py"], search(root, force=True))
    assert shown(found) == ["a.py"]
    assert not found.warnings
    assert not found.errors


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        pytest.param("*_pb2.py", ["a.py", "sub/a.py"], id="name"),
        pytest.param("sub", ["a.py", "b_pb2.py"], id="folder"),
        pytest.param("/a.py", ["b_pb2.py", "sub/a.py"], id="anchored"),
        pytest.param("sub/*.py", ["a.py", "b_pb2.py"], id="path"),
    ],
)
def test_patterns(root: Path, pattern: str, left: list[str]) -> None:
    touch(root, "a.py", "b_pb2.py", "sub/a.py")
    assert shown(discover(["."], search(root, pattern))) == left


def test_missing_path_is_an_error_and_the_rest_is_found(root: Path) -> None:
    touch(root, "a.py")
    found = discover(["none.py", "a.py", "gone"], search(root))
    assert shown(found) == ["a.py"]
    assert [str(error).split(":")[0] for error in found.errors] == ["none.py", "gone"]


def test_folder_without_python_is_a_warning(root: Path) -> None:
    touch(root, "docs/readme.md")
    found = discover(["docs"], search(root))
    assert found.warnings == ["no Python files in docs"]
    assert not found.errors


def test_loop_of_links_ends_and_each_file_counts_once(root: Path) -> None:
    touch(root, "a.py", "sub/b.py")
    (root / "sub/up").symlink_to("..")
    (root / "link.py").symlink_to("a.py")
    (root / "dangling.py").symlink_to("nowhere.py")
    assert shown(discover([".", "a.py", "sub"], search(root))) == ["a.py", "sub/b.py"]


def test_link_to_a_folder_is_followed_when_named(root: Path) -> None:
    touch(root, "real/a.py")
    (root / "link").symlink_to("real")
    assert shown(discover(["link"], search(root))) == ["link/a.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser lists everything")
def test_folder_that_cannot_be_listed_is_an_error(root: Path) -> None:
    touch(root, "a.py", "shut/b.py")
    (root / "shut").chmod(0)
    found = discover(["."], search(root))
    (root / "shut").chmod(0o755)
    assert shown(found) == ["a.py"]
    assert "cannot be listed" in str(found.errors[0])
