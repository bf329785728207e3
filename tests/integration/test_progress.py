"""What a terminal shows of a long run while it lasts, and that nothing of it is left."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jaxlint.cli import progress
from jaxlint.cli.progress import Progress, duration

pty = pytest.importorskip("pty")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal, and nothing around it that speaks against its use."""
    for name in ("CI", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_is_pipe", lambda stream: False)
    monkeypatch.setattr(progress, "_INTERVAL", 0)
    return Terminal()


def left_on(screen: str) -> str:
    """What can be read after all was written: `\\r\\033[K` takes the line away."""
    return re.sub(r"[^\n]*\r\x1b\[K", "", screen)


def test_counts_a_bar_and_the_time_left(terminal: Terminal) -> None:
    with Progress(delay=0, terminal=terminal) as shown:
        shown.advanced(0, 40, 0.0)
        shown.counted_from -= 1000
        shown.advanced(10, 40, 0.25)
    assert "checked 10 of 40 files" in terminal.getvalue()
    assert "━" in terminal.getvalue()
    assert " 50 min left" in terminal.getvalue()
    assert left_on(terminal.getvalue()) == ""


def test_the_line_is_not_drawn_all_the_time(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_INTERVAL", 60)
    with Progress(delay=0, terminal=terminal) as shown:
        for files in range(40):
            shown.advanced(files, 40, files / 40)
    assert terminal.getvalue().count("checked") == 1


def test_a_step_that_does_not_count_is_named_by_a_timer(terminal: Terminal) -> None:
    with Progress(delay=0.01, terminal=terminal) as shown:
        shown.doing("looking for files")
        for _ in range(200):
            if terminal.getvalue():
                break
            time.sleep(0.02)
    assert terminal.getvalue() == "\r\033[Klooking for files ...\r\033[K"


def test_a_short_run_shows_nothing(terminal: Terminal) -> None:
    with Progress(delay=60, terminal=terminal) as shown:
        shown.doing("looking for files")
        shown.advanced(0, 2, 0.0)
        shown.advanced(2, 2, 1.0)
    assert terminal.getvalue() == ""


def test_the_line_makes_way_for_findings(terminal: Terminal) -> None:
    with Progress(delay=0, terminal=terminal) as shown:
        shown.advanced(1, 2, 0.5)
        shown.clear()
        terminal.write("a finding\n")
        shown.advanced(2, 2, 1.0)
    assert terminal.getvalue().count("of 2 files") == 2
    assert left_on(terminal.getvalue()) == "a finding\n"


@pytest.mark.parametrize("why", ["quiet", "CI", "dumb", "pipe", "file"])
def test_nobody_who_cannot_see_it_gets_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "CI":
        monkeypatch.setenv("CI", "true")
    if why == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if why == "pipe":
        monkeypatch.setattr(progress, "_is_pipe", lambda stream: True)
    if why == "file":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    with Progress(delay=0, terminal=terminal, quiet=why == "quiet") as shown:
        assert not shown.watches
        shown.doing("looking for files")
        shown.advanced(1, 2, 0.5)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "said"), [(None, ""), (4.4, "4 s left"), (89, "89 s left"), (150, "2 min left")]
)
def test_durations(seconds: float | None, said: str) -> None:
    assert duration(seconds) == said


PROGRAM = """
import sys
from jaxlint.cli import progress
from jaxlint.staging import import_components
progress.Progress.__init__.__defaults__ = (0.0,)
import_components.SHARD_LINES = 1
if __name__ == "__main__":
    from jaxlint.cli import main
    main()
"""
TRACED = "import jax\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_real_terminal_ends_with_what_a_pipe_gets(tmp_path: Path, jobs: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    for name in "abc":
        (project / f"{name}.py").write_text(TRACED)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), "check", "--no-cache", "-j", jobs, "."]
    root = Path(__file__).parents[2]
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "FORCE_COLOR")} | {
        "PYTHONPATH": os.pathsep.join(str(root / folder) for folder in (".", "rules", "runtime")),
        "TERM": "xterm",
        "NO_COLOR": "1",
    }
    piped = subprocess.run(
        command, cwd=project, capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert piped.stderr == ""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=project, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        screen = b""
        while True:
            try:
                read = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not read:
                break
            screen += read
    os.close(ours)
    assert process.returncode == piped.returncode == 1
    text = screen.decode().replace("\r\n", "\n")
    assert "of 3 files" in text
    assert left_on(text) == piped.stdout
