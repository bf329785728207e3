"""Starts a worker process, watches over its memory, and leaves nothing of it behind.

Whatever the program in the worker does (crash, hang, fork, start daemons, take all memory), this side sees events and
in the end one `Death`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import select
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

import jaxlint
from jaxlint_runtime.protocol.jobs import Assignment, Job, Known, Question
from jaxlint_runtime.protocol.json_records import encode

MARK = "JAXLINT_WORKER"  # in the environment of a worker and of what it starts
# Set by `cleanup.cleaned_up` alone: a worker removes it when its command line was killed. Never a folder that others use.
run_folder: str | None = None
_TAIL = 4000  # bytes of the program's last error output that are kept
_BOOT = Path(__file__).resolve().with_name("boot.py")


class Death(Exception):
    """The worker is gone before it was done; the message says how. `status` is as the shell would see it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class WorkerProcess:
    """One worker and everything it starts, in a process group of its own.

    `output(stream, data)` is given what the program prints, from another thread; `memory_limit` is in bytes, for
    the whole process tree.
    """

    def __init__(
        self,
        job: Job,
        *,
        python: str,
        folder: str,
        environment: Mapping[str, str],
        memory_limit: int,
        output: Callable[[str, bytes], None],
    ) -> None:
        self.error_tail = b""
        self._output = output
        self._memory_limit = memory_limit
        self._mark = uuid.uuid4().hex
        self._cause: str | None = None
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._over = threading.Event()
        job_read, self._job_write = os.pipe()
        self._event_read, event_write = os.pipe()
        self._open: tuple[int, ...] = (self._job_write, self._event_read)
        lent = str(Path(jaxlint.__file__).resolve().parents[1])
        serialiser = importlib.util.find_spec("flatbuffers")
        missing = str(Path(serialiser.origin).parents[1]) if serialiser and serialiser.origin else ""
        try:
            self._process = subprocess.Popen(
                [python, "-P", str(_BOOT), str(job_read), str(event_write)],
                cwd=folder,
                env={
                    **environment,
                    MARK: self._mark,
                    "JAXLINT_LENT": lent,
                    "JAXLINT_LENT_IF_MISSING": missing,
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(job_read, event_write),
                start_new_session=True,
            )
        except OSError:
            for fd in self._open:
                os.close(fd)
            raise
        finally:
            os.close(job_read)
            os.close(event_write)
        self._threads = [
            threading.Thread(target=self._pump, args=(name,), daemon=True) for name in ("stdout", "stderr")
        ]
        self._threads.append(threading.Thread(target=self._read_events, daemon=True))
        watcher = threading.Thread(target=self._watch_memory, daemon=True)
        for thread in (*self._threads, watcher):
            thread.start()
        _LIVE.add(self)
        self.send(Assignment(job, run_folder))

    def send(self, message: Assignment | Known | Question) -> None:
        """Write one line to the worker; when it is gone, that shows in `next_event`."""
        data = encode(message)
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._job_write, data) :]

    def next_event(self, timeout: float) -> dict[str, Any] | None:
        """The next event, or None when none came in `timeout` seconds. Raises Death when the worker is gone."""
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return None
        if event is None:
            self._events.put(None)
            raise self._death()
        return event

    def kill(self, cause: str) -> None:
        """End the worker; `cause` becomes the message of its Death."""
        if self._cause is None:
            self._cause = cause
        self._kill_group()

    def close(self) -> None:
        """End whatever is left: the worker, its children, and what had left its group. May be called again, should it be interrupted."""
        self._kill_group()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._over.set()
        self._kill_marked()
        for thread in self._threads:
            thread.join(2)
        fds, self._open = self._open, ()
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)
        _LIVE.discard(self)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---- threads ----

    def _pump(self, name: str) -> None:
        stream = getattr(self._process, name)
        while True:
            try:
                data = os.read(stream.fileno(), 65536)
            except (OSError, ValueError):
                return
            if not data:
                return
            if name == "stderr":
                self.error_tail = (self.error_tail + data)[-_TAIL:]
            self._output(name, data)

    def _read_events(self) -> None:
        rest = b""
        while True:
            gone = self._process.poll() is not None  # asked before the last look, so that nothing is missed
            ready, _, _ = select.select([self._event_read], [], [], 0 if gone else 0.1)
            if not ready:
                if gone:
                    break
                continue
            data = os.read(self._event_read, 65536)
            if not data:
                self._process.wait()
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                with contextlib.suppress(ValueError):  # torn by a crash in the middle of a line
                    self._events.put(json.loads(line))
        self._events.put(None)

    def _watch_memory(self) -> None:
        """Look at the worker itself often, at its children now and then."""
        try:
            root = psutil.Process(self._process.pid)
        except psutil.Error:
            return
        children = 0
        tick = 0
        while not self._over.wait(0.05):
            try:
                if tick % 10 == 0:
                    children = sum(_resident(child) for child in root.children(recursive=True))
                used = root.memory_info().rss + children
            except psutil.Error:
                return
            if used > self._memory_limit:
                self.kill(
                    f"used {used / 2**30:.2f} GiB of memory, over the limit of {self._memory_limit / 2**30:.2f} GiB"
                    " (--memory-limit-worker)"
                )
                return
            tick += 1

    # ---- ends ----

    def _death(self) -> Death:
        status = self._process.wait()
        if self._cause is not None:
            return Death(self._cause, 128 + signal.SIGKILL)
        if status < 0:
            name = signal.strsignal(-status) or f"signal {-status}"
            hint = "; most likely out of memory" if -status == signal.SIGKILL else ""
            return Death(f"was killed by {signal.Signals(-status).name} ({name.lower()}){hint}", 128 - status)
        return Death(f"exited with status {status} before it finished", status)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # it may have left its group

    def _kill_marked(self) -> None:
        """Kill processes that left the group, known by the mark in their environment."""
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get(MARK) == self._mark:
                    process.kill()
            except (psutil.Error, OSError):
                continue


_LIVE: set[WorkerProcess] = set()


def close_all() -> None:
    """End the workers that an interrupt left running."""
    for worker in list(_LIVE):
        worker.close()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def default_memory_limit() -> int:
    """Nine tenths of what is free now, in bytes."""
    return int(psutil.virtual_memory().available * 0.9)
