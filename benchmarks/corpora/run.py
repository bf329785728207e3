"""One corpus, one run: `jaxlint check` in its own process, with its time, its memory and what it said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Outcome:
    """What one run over one corpus gave. Seconds are wall time, `peak_mb` is the resident peak in MB (10^6 bytes)."""

    corpus: str
    root: str
    files: int
    lines: int
    seconds: float = 0.0
    peak_mb: float = 0.0
    exit_code: int = 0
    crash: str | None = None
    complaints: list[str] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    ast_seconds: float | None = None
    libcst_seconds: float | None = None

    def by_rule(self) -> Counter[str]:
        return Counter(f"{finding['code']} {finding['name']}" for finding in self.findings)

    def by_severity(self) -> Counter[str]:
        return Counter(finding["severity"] for finding in self.findings)


def python_files(root: Path) -> list[Path]:
    """The Python files below `root`, hidden folders left out; `root` itself when it is a file."""
    if root.is_file():
        return [root]
    hidden = lambda path: any(part.startswith(".") for part in path.relative_to(root).parts)  # noqa: E731
    return sorted(path for path in root.rglob("*.py") if path.is_file() and not hidden(path))


def default_command() -> list[str]:
    """The jaxlint beside this interpreter, or the one on PATH."""
    beside = Path(sys.executable).with_name("jaxlint")
    found = str(beside) if beside.exists() else shutil.which("jaxlint")
    if found is None:
        raise FileNotFoundError("no jaxlint command beside this Python or on PATH; run `make setup` first")
    return [found]


def check(corpus: str, root: Path, command: list[str], arguments: list[str], timeout_s: float) -> Outcome:
    """Run `command check` in `root`. A traceback, an internal error, a signal, a timeout or output that is no JSON is a crash."""
    paths = python_files(root)
    lines = sum(path.read_bytes().count(b"\n") for path in paths)
    outcome = Outcome(corpus, str(root.resolve()), len(paths), lines)
    folder, target = (root, ".") if root.is_dir() else (root.parent, root.name)
    full = [*command, "check", "--output-format", "json", "--no-cache", *arguments, target]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(full, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        outcome.seconds = time.perf_counter() - start
        timed_out = not timer.is_alive()
        timer.cancel()
        process.returncode = outcome.exit_code = os.waitstatus_to_exitcode(status)
        unit = 1 if sys.platform == "darwin" else 1024
        outcome.peak_mb = usage.ru_maxrss * unit / 1e6
        out.seek(0)
        err.seek(0)
        _read(outcome, out.read().decode(), err.read().decode(errors="replace"))
    if timed_out:
        outcome.crash = f"no end within {timeout_s:g} s"
    return outcome


def _read(outcome: Outcome, out: str, err: str) -> None:
    messages = err.strip().splitlines()
    if outcome.exit_code not in (0, 1, 2):
        outcome.crash = f"exit code {outcome.exit_code}: {messages[-1] if messages else 'no message'}"
    elif "Traceback (most recent call last)" in err:
        outcome.crash = messages[-1]
    elif internal := [message for message in messages if "internal error" in message]:
        outcome.crash = internal[0]
    elif outcome.exit_code == 2:
        outcome.complaints = [message for message in messages if not message.startswith("warning:")]
    try:
        outcome.findings = json.loads(out)
    except ValueError:
        outcome.crash = outcome.crash or f"output is not JSON: {(messages or [out[:100]])[-1]}"


def parse_seconds(root: Path, parser: str) -> float:
    """Seconds that the bare parse of the same files takes, with "ast" or "libcst", in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.corpora.parse_only", parser],
        input="\n".join(str(path.resolve()) for path in python_files(root)),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return float(done.stdout.split()[0])
