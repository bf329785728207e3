"""`jaxlint verify` when programs and surroundings go wrong: exit code, one line, no process and no file left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from benchmarks.robustness import faults, faulty

pytestmark = pytest.mark.slow
MOUNTS = pytest.mark.skipif(not faults.can_mount(), reason="nothing can be mounted here")


@pytest.mark.parametrize(
    "program", [pytest.param(one, id=one.name) for one in faulty.PROGRAMS if not one.spare]
)
def test_a_program_that_goes_wrong(program: faulty.Program, tmp_path: Path) -> None:
    assert faulty.run(program, tmp_path).problems == []


@pytest.mark.parametrize(
    "surrounding",
    [
        pytest.param(faulty.without_home, id="no HOME"),
        pytest.param(faulty.read_only, id="read-only folder", marks=MOUNTS),
        pytest.param(lambda folder: faulty.little_room(folder, 16), id="full temporary folder", marks=MOUNTS),
        pytest.param(faulty.no_room, id="no room anywhere"),
    ],
)
def test_a_surrounding_that_goes_wrong(surrounding: Callable[[Path], faulty.Found], tmp_path: Path) -> None:
    assert surrounding(tmp_path).problems == []


@pytest.mark.parametrize("seed", range(2))
def test_an_interrupt_at_some_moment(seed: int, tmp_path: Path) -> None:
    assert faulty.interrupted(tmp_path, Random(seed), 6.0).problems == []


def test_a_killed_command_line(tmp_path: Path) -> None:
    found = faulty.killed(tmp_path, Random(1), 6.0)
    assert found.problems == []


# Between the replacement of the two files.
@pytest.mark.flaky(reruns=2)  # what is applied was measured to gain, which other processes disturb
@pytest.mark.parametrize("event", [6])
def test_a_command_that_is_killed_while_it_applies_edits_over_two_files(event: int, tmp_path: Path) -> None:
    found = faulty.killed_while_writing(tmp_path, event)
    assert found.problems == []
    assert found.code == -signal.SIGKILL
    assert found.versions == {2: "old old", 5: "old old", 6: "new old", 7: "new new"}[event].split()


def test_what_is_left_behind_would_be_seen(tmp_path: Path) -> None:
    """A stand-in for the command that starts a process, writes a file and goes."""
    project = tmp_path / "project"
    project.mkdir()
    script = 'sleep 60 > /dev/null 2>&1 & touch "$TMPDIR/jaxlint-left"; exit 0'
    found = faulty.verify(
        "test", tmp_path, project, [], prefix=[shutil.which("bash") or "bash", "-c", script, "x"]
    )
    assert len(found.problems) == 2
    assert "sleep 60" in found.problems[0]
    assert "jaxlint-left" in found.problems[1]
    assert not os.path.exists(project / "jaxlint-left")


def test_programs_remove_nothing_that_is_not_theirs(tmp_path: Path) -> None:
    for program in faulty.PROGRAMS:
        assert "rmtree" not in program.source, program.name
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "made-for-a-fault").touch()
    (tmp_path / "of-others").mkdir()
    source = faulty._REMOVE + "import sys\nremove(sys.argv[1])\n"
    for folder in (tmp_path / "of-others", tmp_path / "run", tmp_path / "run" / ".." / "of-others"):
        done = subprocess.run(
            [sys.executable, "-c", source, str(folder)],
            env={**os.environ, "JAXLINT_FAULT_FOLDER": str(tmp_path / "run")},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1
    assert (tmp_path / "of-others").exists()
    assert (tmp_path / "run").exists()
