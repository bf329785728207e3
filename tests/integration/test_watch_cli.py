"""`jaxlint check --watch`, with a process that really waits."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jaxlint.cli import watching
from jaxlint.cli.options import RunOptions
from jaxlint.config import Config
from tests.helpers.command_line import jaxlint
from tests.helpers.small_programs import BRANCH


def test_each_change_is_checked_until_it_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "click.py").write_text("raise SystemExit('imported from the folder that is checked')\n")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "jaxlint", "check", "--watch", "--output-format", "concise"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines: queue.Queue[str] = queue.Queue()
    assert process.stdout is not None
    threading.Thread(target=lambda: [lines.put(line) for line in process.stdout or ()], daemon=True).start()

    def said(text: str) -> str:
        while True:
            line = lines.get(timeout=120)
            if text in line:
                return line

    try:
        assert said("findings") == "No findings in 2 files.\n"
        said("Watching for changes")
        (tmp_path / "a.py").write_text(BRANCH)
        said("a.py changed")
        said("a.py:6:8: error JAX101")
        said("Watching for changes")
        (tmp_path / "pyproject.toml").write_text('[tool.jaxlint]\nignore = ["JAX101"]\n')
        said("pyproject.toml changed")
        said("No findings in 2 files.")
        said("Watching for changes")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=60)
    assert process.returncode == 130


def test_what_it_does_not_go_with(tmp_path: Path) -> None:
    done = jaxlint("check", "--watch", "-", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: --watch needs files; name them instead of `-`\n")
    done = jaxlint("check", "--watch", "--add-ignores", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "error: --watch writes nothing; run --add-ignores without it\n",
    )


def test_ctrl_c_while_an_object_is_deleted_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python drops the exceptions of `__del__`, and the process of the run is deleted after its findings."""
    (tmp_path / "a.py").write_text("x = 1\n")

    class Ended:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    runs = []

    def run(command: list[str], *, check: bool) -> None:
        runs.append(command)
        Ended()

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(watching, "wait_for_change", lambda look, state: pytest.fail("it goes on"))
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            watching.watch_and_check(
                RunOptions((str(tmp_path),), Config(root=tmp_path), None, False, 1), add_ignores=False
            )
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len(runs) == 1
    assert "Watching" not in capsys.readouterr().err
