"""Work in processes of its own: what comes of it, what a death costs, and that nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("pieces.py")
ROOT = Path(__file__).parents[2]
WAYS = [
    pytest.param("fork", marks=pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux alone")),
    "spawn",
]


def command(way: str, jobs: int, work: str) -> list[str]:
    return [sys.executable, str(PROGRAM), way, str(jobs), work]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def reports(way: str, jobs: int, work: str) -> list[str]:
    done = subprocess.run(
        command(way, jobs, work), capture_output=True, text=True, timeout=120, env=environment(), check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("jobs", [1, 3])
def test_each_piece_is_done_and_says_how_far_it_is(way: str, jobs: int) -> None:
    found = reports(way, jobs, "square")
    assert sorted(found) == sorted(
        [f"Done(piece={n}, result={n * n})" for n in range(5)]
        + [f"Said(piece={n}, what=('begun', {n}))" for n in range(5)]
    )


def test_a_process_is_forked_for_each_piece_and_started_for_several() -> None:
    assert len({line.partition("result=")[2] for line in reports("spawn", 1, "named")}) == 1
    if sys.platform == "linux":
        assert len({line.partition("result=")[2] for line in reports("fork", 1, "named")}) == 5


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_death_costs_its_piece_alone(way: str, jobs: int) -> None:
    assert sorted(reports(way, jobs, "killed")) == [
        "Done(piece=0, result=0)",
        "Done(piece=1, result=1)",
        "Done(piece=4, result=4)",
        "Lost(piece=2, how='was killed (SIGKILL)')",
        "Lost(piece=3, how='ended with exit code 7')",
    ]


@pytest.mark.parametrize("way", WAYS)
def test_what_cannot_be_sent_is_said(way: str) -> None:
    found = reports(way, 2, "unsendable")
    assert "Unsendable(piece=1)" in found
    assert len(found) == 5


@pytest.fixture
def asleep(request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A program whose processes do not end, in a group of its own, and these."""
    way = request.param
    program = subprocess.Popen(
        command(way, 2, "asleep"),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    assert program.stdout is not None
    started = [int(program.stdout.readline().rpartition("what=")[2].rstrip(")\n")) for _ in range(2)]
    yield program, started
    program.kill()
    program.wait()
    program.stdout.close()


def have_ended(pids: list[int]) -> bool:
    for _ in range(200):
        if not any(map(is_running, pids)):
            return True
        time.sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("asleep", WAYS, indirect=True)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_the_program(
    asleep: tuple[subprocess.Popen[str], list[int]], how: signal.Signals
) -> None:
    program, started = asleep
    assert all(map(is_running, started))
    program.send_signal(how)
    assert program.wait(timeout=30) != 0
    assert have_ended(started)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("asleep", WAYS, indirect=True)
def test_an_interrupt_on_the_terminal_ends_all(asleep: tuple[subprocess.Popen[str], list[int]]) -> None:
    program, started = asleep
    os.killpg(program.pid, signal.SIGINT)
    assert program.wait(timeout=30) != 0
    assert have_ended(started)


def test_a_started_python_takes_no_modules_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("multiprocessing", "pickle", "signal", "click", "runpy"):
        (tmp_path / f"{name}.py").write_text(
            "import os\nos.write(2, b'a module of the clone ran')\nos._exit(3)\n"
        )
    (tmp_path / "programs").mkdir()
    program = tmp_path / "programs" / "program.py"
    program.write_text(
        f"import sys\nsys.path += [{str(PROGRAM.parent)!r}, {str(ROOT)!r}]\nimport pieces\n"
        "if __name__ == '__main__':\n    sys.argv = ['', 'spawn', '2', 'square']\n    pieces.main()\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    assert "clone" not in done.stderr
    assert done.stdout.count("Done") == 5
