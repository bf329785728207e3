"""Scratch copies: what is copied, what is linked, what is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from jaxlint_runtime import request
from jaxlint_runtime.capture.session import relocate_path
from jaxlint_runtime.protocol.jobs import Capture, Job, Launch
from jaxlint_runtime.request import Request
from jaxlint_runtime.workers import scratch_copy, starting
from jaxlint_runtime.workers.scratch_copy import Scratch
from jaxlint_runtime.workers.starting import to_originals


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = (tmp_path / "project").resolve()
    for name in (
        "pack/mod.py",
        ".git/config",
        "env/pyvenv.cfg",
        "env/lib/x.py",
        "__pycache__/y.pyc",
        "data/big.bin",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (root / "dangling").symlink_to("nowhere")
    (root / "pyproject.toml").touch()
    return root


def test_code_is_copied_the_largest_data_linked_the_rest_left(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_copy, "_LARGE", 12)
    monkeypatch.setattr(scratch_copy, "_MOST_LARGE", 150)
    (project / "data/big.bin").write_bytes(b"x" * 200)
    (project / "data/state.bin").write_bytes(b"x" * 100)
    with scratch_copy.scratch_copy(project) as copy:
        found = sorted(str(p.relative_to(copy.folder)) for p in copy.folder.rglob("*") if p.is_file())
        assert found == ["data/big.bin", "data/state.bin", "pack/mod.py", "pyproject.toml"]
        assert (copy.folder / "data/big.bin").is_symlink()
        assert not (copy.folder / "data/state.bin").is_symlink()  # a program may write to it in place
        assert not (copy.folder / "pack/mod.py").is_symlink()
        (copy.folder / "pack/mod.py").write_text("changed")
        place = copy.folder
    assert (project / "pack/mod.py").read_text() == "pack/mod.py"
    assert not place.exists()


@pytest.mark.parametrize(
    ("name", "copied"),
    [("pack/mod.py", True), ("pyproject.toml", True), ("env/lib/x.py", False), ("../other.py", False)],
)
def test_whether_a_file_is_among_those_that_are_copied(project: Path, name: str, copied: bool) -> None:
    assert scratch_copy.is_copied(project, os.path.realpath(project / name)) is copied


@pytest.mark.parametrize(("name", "value"), [("_MOST_FILES", 1), ("_MOST_BYTES", 10)])
def test_too_large_a_project_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(scratch_copy, name, value)
    with pytest.raises(scratch_copy.TooLarge, match="holds more than"), scratch_copy.scratch_copy(project):
        pass


def started(monkeypatch: pytest.MonkeyPatch, job: Job, scratch: Scratch | None) -> tuple[Job, str]:
    """The job and the folder that a worker is given."""
    given: list[tuple[Job, str]] = []
    monkeypatch.setattr(
        starting, "WorkerProcess", lambda job, *, folder, **options: given.append((job, folder))
    )
    starting.start_worker(Request("script", "run.py"), job, scratch, lambda stream, data: None)
    return given[0]


def test_a_job_moves_into_the_copy_and_its_events_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "pack")
    (project / "run.py").touch()
    job = Request("script", "../run.py").capture()
    with scratch_copy.scratch_copy(project) as copy:
        moved, folder = started(monkeypatch, job, copy)
        assert isinstance(moved, Capture)
        moved = moved.launch
        assert moved.target == str(copy.folder / "run.py")
        assert set(moved.roots) == {str(copy.folder), str(copy.folder / "pack")}
        assert folder == str(copy.folder / "pack")
        event = {"path": moved.target, "message": f"in {moved.target}:3", "n": [1, moved.target]}
        original = str(project / "run.py")
        assert to_originals(event, copy) == {
            "path": original,
            "message": f"in {original}:3",
            "n": [1, original],
        }


def test_the_project_is_found_by_its_marker(project: Path, tmp_path: Path) -> None:
    assert request.project_root(project / "pack") == project
    lonely = (tmp_path / "lonely").resolve()
    lonely.mkdir()
    assert request.project_root(lonely) == lonely


def test_without_a_copy_nothing_moves(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Capture(Launch("script", "a.py", roots=(str(project),)))
    assert started(monkeypatch, job, None) == (job, os.getcwd())


def test_packages_come_from_the_copy_and_the_environment_inside_the_project_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys, "path", [str(project), str(project / "pack"), str(project / "env/lib"), "/elsewhere"]
    )
    with scratch_copy.scratch_copy(project) as copy:
        relocate_path((str(project), str(copy.folder)))
        assert sys.path[:4] == [
            str(copy.folder),
            str(copy.folder / "pack"),
            str(project / "env/lib"),
            "/elsewhere",
        ]
