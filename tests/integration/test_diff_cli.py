"""`jaxlint check --diff REV`: findings on changed lines, with a real git."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint
from tests.helpers.small_programs import branch_in


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/old.py").write_text(branch_in("old"))
    (tmp_path / "src/édité.py").write_text(branch_in("one") + "\n\n" + branch_in("two"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def found(project: Path, *arguments: str, cwd: str = ".") -> list[tuple[str, int]]:
    done = jaxlint("check", "--output-format", "json", *arguments, cwd=project / cwd)
    assert done.stderr == ""
    return [(one["path"], one["line"]) for one in json.loads(done.stdout)]


def test_changed_and_untracked_files(project: Path) -> None:
    done = jaxlint("check", "--diff", "HEAD", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "No findings in 2 files. 3 findings on unchanged lines are not shown.\n"
    edited = project / "src/édité.py"
    edited.write_text(
        "import os\n" + edited.read_text().replace("def two(x):\n    if x > 0", "def two(x):\n    if x >= 0")
    )
    (project / "src/untracked.py").write_text(branch_in("untracked"))
    expected = [("src/untracked.py", 6), ("src/édité.py", 17)]
    assert found(project, "--diff", "HEAD") == expected
    git(project, "add", "-A")
    assert found(project, "--diff", "HEAD") == expected
    assert [path for path, _ in found(project, "--diff", "HEAD", cwd="src")] == ["untracked.py", "édité.py"]
    git(project, "commit", "-qm", "second")
    assert found(project, "--diff", "HEAD") == []
    assert found(project, "--diff", "HEAD~1") == expected


def test_where_the_branch_left_main(project: Path) -> None:
    git(project, "checkout", "-qb", "feature")
    (project / "src/mine.py").write_text(branch_in("mine"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "mine")
    git(project, "checkout", "-q", "main")
    (project / "src/old.py").write_text(branch_in("renamed"))
    git(project, "commit", "-qam", "theirs")
    git(project, "checkout", "-q", "feature")
    assert found(project, "--diff", "main...") == [("src/mine.py", 6)]


def test_a_renamed_file_is_the_same_file(project: Path) -> None:
    text = (
        (project / "src/édité.py")
        .read_text()
        .replace("def one(x):\n    if x > 0", "def one(x):\n    if x < 0")
    )
    (project / "src/édité.py").unlink()
    (project / "src/new.py").write_text(text)
    assert found(project, "--diff", "HEAD") == [("src/new.py", 6)]


def test_cells_of_a_notebook(project: Path) -> None:
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": branch_in(name),
        }
        for name in ("f", "g")
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "a.ipynb").write_text(json.dumps(notebook))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "notebook")
    cells[1]["source"] = str(cells[1]["source"]).replace("x > 0", "x > 1")
    cells[0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "seen\n"}]
    (project / "a.ipynb").write_text(json.dumps(notebook, indent=1))
    assert found(project, "--diff", "HEAD") == [("a.ipynb", 6)]


def test_with_a_baseline(project: Path) -> None:
    jaxlint("baseline", cwd=project)
    (project / "src/untracked.py").write_text(branch_in("untracked"))
    assert found(project, "--diff", "HEAD", "--baseline", "jaxlint-baseline.jsonl") == [
        ("src/untracked.py", 6)
    ]


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        (
            "nope",
            "error: --diff: there is no revision 'nope'; fetch it, or name a branch, a tag or a commit\n",
        ),
        ("--output=x", "error: --diff: '--output=x' is not a revision; name a branch, a tag or a commit\n"),
        (
            "nope...",
            "error: --diff: there is no revision 'nope'; fetch it, or name a branch, a tag or a commit\n",
        ),
        ("", "error: --diff: '' is not a revision; name a branch, a tag or a commit\n"),
    ],
)
def test_no_such_revision(project: Path, revision: str, said: str) -> None:
    done = jaxlint("check", f"--diff={revision}", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_no_repository(tmp_path: Path) -> None:
    done = jaxlint("check", "--diff", "HEAD", cwd=tmp_path, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path}: not in a git repository; --diff needs one\n"


def test_no_git(project: Path) -> None:
    done = jaxlint("check", "--diff", "HEAD", cwd=project, PATH="/nowhere")
    assert (done.returncode, done.stderr) == (2, "error: --diff needs git, which is not installed\n")


def test_nothing_that_a_clone_names_is_run(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Filters, drivers, monitors and the addresses of a partial clone are commands of whoever wrote the clone."""
    trap = tmp_path_factory.mktemp("trap") / "sprung"
    command = f"touch {trap}"
    for key, value in {
        "core.fsmonitor": command,
        "core.sshCommand": command,
        "core.pager": command,
        "diff.external": command,
        "diff.trap.textconv": command,
        "diff.trap.command": command,
        "filter.trap.clean": command,
        "filter.trap.smudge": command,
        "filter.trap.process": command,
        "filter.trap.required": "true",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{command}",
        "protocol.ext.allow": "always",
    }.items():
        git(project, "config", key, value)
    (project / ".gitattributes").write_text("*.py filter=trap diff=trap\n")
    blob = git(project, "rev-parse", "HEAD:src/old.py").strip()
    (project / ".git/objects" / blob[:2] / blob[2:]).unlink()  # a partial clone would fetch it
    (project / "src/old.py").write_text(branch_in("changed"))
    done = jaxlint("check", "--diff", "HEAD", "--output-format", "concise", cwd=project)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("src/old.py:6:8: ")  # what it was cannot be known: all of it counts
    assert not trap.exists()


@pytest.mark.skipif(os.name == "nt", reason="the decoy is a script")
@pytest.mark.parametrize("search", [":{}", ".:{}", "bin:{}", "{}:"])
def test_git_does_not_come_from_the_clone(project: Path, search: str) -> None:
    """An empty part of PATH, and one without a root, is the current folder."""
    for folder in (".", "bin"):
        (project / folder).mkdir(exist_ok=True)
        decoy = project / folder / "git"
        decoy.write_text("#!/bin/sh\ntouch sprung\n")
        decoy.chmod(0o755)
    (project / "src/new.py").write_text(branch_in("new"))
    done = jaxlint("check", "--diff", "HEAD", cwd=project, PATH=search.format(os.environ["PATH"]))
    assert (done.returncode, done.stderr) == (1, "")
    assert not list(project.rglob("sprung"))


def test_what_git_can_unpack_without_end_is_not_read(project: Path) -> None:
    """Some kilobytes of a clone may be trees of a billion files, or a file of gigabytes."""

    def made(*arguments: str, given: bytes) -> str:
        done = subprocess.run(["git", *arguments], cwd=project, input=given, capture_output=True, check=True)
        return done.stdout.decode().strip()

    text = (project / "src/old.py").read_bytes()
    blob = made("hash-object", "-w", "--stdin", given=text + b"# more\n" * (10 << 20))
    tree = made("mktree", given=f"100644 blob {blob}\told.py\n".encode())
    large = git(
        project, "commit-tree", made("mktree", given=f"040000 tree {tree}\tsrc\n".encode()), "-m", "a"
    )
    for _ in range(9):
        tree = made("mktree", given="".join(f"040000 tree {tree}\td{n}\n" for n in range(10)).encode())
    many = git(project, "commit-tree", tree, "-m", "b")
    assert found(project, "--diff", large.strip(), "src/old.py") == [("src/old.py", 6)]
    done = jaxlint("check", "--diff", many.strip(), cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --diff: git gives more than 128 MB; name a revision with fewer files\n"


@pytest.mark.parametrize(
    "name",
    ["config", "HEAD", "index", "packed-refs", "objects/info/packs", "included", "linked", "commondir"],
)
def test_a_pipe_in_the_place_of_a_file_of_git(name: str, project: Path) -> None:
    git = project / ".git"
    if name == "included":
        os.mkfifo(project / "more")
        with open(git / "config", "a") as file:
            file.write("[include]\n\tpath = ../more\n")
    elif name == "linked":
        os.mkfifo(project / "more")
        (git / "refs/tags/v1").symlink_to(project / "more")
    elif name == "commondir":
        (project / "other").mkdir()
        os.mkfifo(project / "other/config")
        (git / "commondir").write_text("../other\n")
    else:
        (git / name).parent.mkdir(exist_ok=True)
        (git / name).unlink(missing_ok=True)
        os.mkfifo(git / name)
    began = time.monotonic()
    done = jaxlint("check", "--diff", "HEAD", ".", cwd=project)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --diff: ")
    assert done.stderr.endswith(" is not a regular file, so git would wait for it\n")
    assert time.monotonic() - began < 30


def test_sockets_of_git_itself_are_fine(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / ".git")  # since the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind("fsmonitor--daemon.ipc")
        assert found(project, "--diff", "HEAD") == []
