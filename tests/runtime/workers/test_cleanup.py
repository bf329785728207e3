"""What a run of the command line starts and makes ends with it."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from jaxlint_runtime.capture.run_program import Kind, run_program
from jaxlint_runtime.capture.stop import Stopper, StopProgram
from jaxlint_runtime.request import project_root
from jaxlint_runtime.workers.capturing import go_back
from jaxlint_runtime.workers.cleanup import NoRoom, cleaned_up
from tests.helpers.processes import has_ended


def run(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans are adopted on Linux alone")
def test_an_orphan_without_the_environment_is_ended_and_a_child_of_before_is_not(tmp_path: Path) -> None:
    done = run(
        """
        import os, subprocess, sys, time
        from jaxlint_runtime.workers.cleanup import cleaned_up
        mine = subprocess.Popen(["sleep", "60"])
        with cleaned_up():
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.execve("/bin/sleep", ["sleep", "60"], {})
                os._exit(0)
            time.sleep(0.5)
            orphans = [line for line in open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split() if int(line) != mine.pid]
            print(*orphans)
        print(mine.poll())
        mine.kill()
        """,
        tmp_path,
    )
    orphans, left = done.stdout.splitlines()
    assert left == "None"
    assert len(orphans.split()) >= 1, done.stderr
    assert not any(psutil.pid_exists(int(pid)) for pid in orphans.split())
    assert not list(tmp_path.iterdir())


def test_the_first_interrupt_ends_the_run_and_later_ones_do_not_stop_its_end(tmp_path: Path) -> None:
    done = run(
        """
        import os, signal, sys, tempfile
        from jaxlint_runtime.workers.cleanup import cleaned_up
        try:
            with cleaned_up():
                open(tempfile.mkdtemp() + "/file", "w").close()
                try:
                    os.kill(os.getpid(), signal.SIGINT)
                finally:
                    os.kill(os.getpid(), signal.SIGINT)
                    os.kill(os.getpid(), signal.SIGTERM)
                    print("in order")
        except KeyboardInterrupt:
            print("interrupted")
        """,
        tmp_path,
    )
    assert done.stdout.split("\n") == ["in order", "interrupted", ""], done.stderr
    assert not list(tmp_path.iterdir())


def test_handlers_and_the_temporary_folder_are_what_they_were() -> None:
    handlers, folder = signal.getsignal(signal.SIGINT), tempfile.gettempdir()
    with cleaned_up():
        assert tempfile.gettempdir() != folder
        made = Path(tempfile.mkdtemp())
    assert (signal.getsignal(signal.SIGINT), tempfile.gettempdir()) == (handlers, folder)
    assert not made.exists()


def test_no_room_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(NoRoom, match="TMPDIR"), cleaned_up():
        pass


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a").mkdir()
    assert project_root(tmp_path / "a") == tmp_path


def test_a_folder_that_is_gone_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    go_back(str(tmp_path / "gone"))
    assert os.getcwd() == os.sep


@pytest.mark.parametrize("raised", ["Odd", "Odd()", "SystemExit(Odd())"])
def test_an_exception_that_cannot_be_shown_is_an_ending(raised: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"class Odd(BaseException):\n    def __str__(self): raise self\nraise {raised}\n")
    started = time.monotonic()
    ending = run_program(Kind.SCRIPT, str(program), [], Stopper(StopProgram))
    assert ending.status == 1
    assert "Odd" in ending.message or "exit status 1" in ending.message
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("begun", [False, True], ids=["in another program", "in a run"])
def test_a_killed_parent_costs_the_folder_of_its_run_and_no_other(begun: bool, tmp_path: Path) -> None:
    """A worker outlives who started it. Where that is no command line, temporary files are not for the worker to remove."""
    (tmp_path / "of-others").touch()
    (tmp_path / "program.py").write_text("import time\nopen('started', 'w').close()\ntime.sleep(60)\n")
    source = f"""
        import contextlib, os, signal, sys, tempfile, time
        from jaxlint_runtime.workers.cleanup import cleaned_up
        from jaxlint_runtime.protocol.jobs import Capture, Launch
        from jaxlint_runtime.workers.process import WorkerProcess
        tempfile.gettempdir()  # sets `tempfile.tempdir`
        with cleaned_up() if {begun} else contextlib.nullcontext():
            job = Capture(Launch("script", "program.py", roots=(os.getcwd(),)))
            worker = WorkerProcess(job, python=sys.executable, folder=os.getcwd(), environment=dict(os.environ), memory_limit=2**32, output=print)
            print(worker._process.pid, flush=True)
            while not os.path.exists("started"): time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        """
    done = run(source, tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    worker = int(done.stdout.split()[0])
    deadline = time.monotonic() + 20
    while not has_ended(worker):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["of-others", "program.py", "started"]


def test_the_next_run_removes_the_folder_of_one_that_was_killed_and_of_no_other(tmp_path: Path) -> None:
    source = """
        import os, signal, subprocess, sys
        from jaxlint_runtime.workers.cleanup import cleaned_up
        with cleaned_up():
            if sys.argv[1:]:
                os.kill(os.getpid(), signal.SIGKILL)
            print(len(os.listdir(os.environ["TMPDIR"])))
        """
    killed = "import sys; sys.argv.append('killed')\n" + textwrap.dedent(source)
    (tmp_path / "jaxlint-run-without-lock").mkdir()  # another run begins at this moment
    (tmp_path / "of-others").mkdir()
    assert run(killed, tmp_path).returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 3
    waits = textwrap.dedent(source).replace("print(", "print('ready', flush=True); sys.stdin.read(); print(")
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    at_work = subprocess.Popen(
        [sys.executable, "-c", waits], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert at_work.stdout is not None
    assert at_work.stdout.readline() == b"ready\n"
    assert run(source, tmp_path).stdout == "4\n"  # itself, the one at work, and the two that are not for it
    at_work.communicate(b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jaxlint-run-without-lock", "of-others"]
