"""Runs commands in turn, several times over, with their wall time and resident peak."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.corpora.fetch import cache_folder


@dataclass(slots=True)
class Task:
    """One row of the table. `prepare` runs before each measurement and is not timed."""

    name: str
    command: list[str]
    folder: Path
    cores: int
    prepare: Callable[[], object] | None = None
    own_clock: bool = False  # it prints the seconds that count, and those of the processor
    accepts: tuple[int, ...] = (0, 1)
    repeats: int | None = None  # a slow peer is run less often
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)  # seconds of all its processes together
    peak_mb: float = 0.0
    failure: str = ""

    def median(self) -> float:
        """Seconds; NaN where no run succeeded."""
        return statistics.median(self.seconds) if self.seconds else float("nan")

    def median_of_processor(self) -> float:
        """Seconds of the processor, which others on the machine change little."""
        return statistics.median(self.processor) if self.processor else float("nan")


def measure(tasks: Sequence[Task], repeats: int, timeout_s: float, progress: Callable[[str], object]) -> None:
    """Runs all tasks once, then all again, so that a drift of the machine falls on all of them."""
    for turn in range(repeats):
        for task in tasks:
            if turn < (task.repeats or repeats) and not task.failure:
                progress(f"{turn + 1}/{repeats} {task.name} on {task.cores} core{'s' * (task.cores > 1)}")
                _run(task, timeout_s)


def _run(task: Task, timeout_s: float) -> None:
    if task.prepare is not None:
        task.prepare()
    with tempfile.TemporaryFile() as out:
        environment = os.environ | {"PYTHONPYCACHEPREFIX": str(cache_folder() / "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
        start = time.perf_counter()
        process = subprocess.Popen(
            task.command,
            cwd=task.folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            preexec_fn=lambda: _pin(task.cores),
        )
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        memory = _Memory(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = code = os.waitstatus_to_exitcode(status)
        late = not timer.is_alive()
        timer.cancel()
        together = memory.peak_mb()
        out.seek(0)
        text = out.read().decode(errors="replace").strip()
    if late or code not in task.accepts:
        last = text.splitlines()[-1] if text else "no output"
        task.failure = f"no end within {timeout_s:g} s" if late else f"exit code {code}: {last}"
        return
    if task.own_clock:
        wall, processor = map(float, text.splitlines()[-1].split())
    else:
        wall, processor = seconds, usage.ru_utime + usage.ru_stime
    task.seconds.append(wall)
    task.processor.append(processor)
    alone = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    task.peak_mb = max(task.peak_mb, alone, together)


class _Memory(threading.Thread):
    """The memory of a process and of those that it has started, looked at now and then; what they share counts once."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._peak_kb = 0
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._ended.wait(0.2):
            self._peak_kb = max(self._peak_kb, sum(map(_proportional_kb, _family(self._pid))))

    def peak_mb(self) -> float:
        self._ended.set()
        self.join()
        return self._peak_kb * 1024 / 1e6


def _family(pid: int) -> list[int]:
    """A process and its descendants; that process alone where there is no `/proc`."""
    found = [pid]
    for one in found:  # grows on the way
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, path.read_text().split())
    return found


def _proportional_kb(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def _pin(cores: int) -> None:
    """Keeps the process, and what it starts, on the first `cores` of those that are allowed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
