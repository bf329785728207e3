"""A command and all processes that it starts: watches their memory, passes on their output, and leaves none of them behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

import psutil  # type: ignore[import-untyped]

MARK = "JAXLINT_WORKER"  # in the environment of a worker and of what it starts
NO_LIMIT = sys.maxsize  # bytes
_DYING = 2.0  # seconds that the kernel may need to end a killed process
_TAIL = 4000  # bytes of the last error output that are kept


class Started(Protocol):
    """A started process: a `subprocess.Popen`, or an object like it."""

    pid: int
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def poll(self) -> int | None:
        """Its exit status, or a negative signal; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended. Raises TimeoutExpired."""

    def kill(self) -> None:
        """Ends it."""


# Starts a process in another way, from its folder, environment and descriptors; returns None if it cannot.
Starter = Callable[[str, Mapping[str, str], Sequence[int]], Started | None]


class Death(Exception):
    """The worker ended before it was done; the message says how. `status` is as the shell would see it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ProcessGroup:
    """One command in its own process group.

    `output(stream, data)` receives its output, from another thread; `memory_limit` is in bytes, for the whole
    process tree. `starter` is asked first for an equivalent process. Raises OSError if it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: str,
        environment: Mapping[str, str],
        memory_limit: int,
        output: Callable[[str, bytes], None],
        pass_fds: Sequence[int] = (),
        starter: Starter | None = None,
    ) -> None:
        self.error_tail = b""
        self._output = output
        self._memory_limit = memory_limit
        self._mark = uuid.uuid4().hex
        self._cause: str | None = None
        self._over = threading.Event()
        environment = {**environment, MARK: self._mark}
        started = None if starter is None else starter(folder, environment, pass_fds)
        self._process: Started = started or subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
            start_new_session=True,
        )
        self._threads = [
            threading.Thread(target=self._pump, args=(name,), daemon=True) for name in ("stdout", "stderr")
        ]
        watcher = threading.Thread(target=self._watch_memory, daemon=True)
        for thread in (*self._threads, watcher):
            thread.start()
        _LIVE.add(self)

    @property
    def pid(self) -> int:
        """The process id of the command."""
        return self._process.pid

    def death(self) -> Death | None:
        """How it ended; None while it runs."""
        return None if self._process.poll() is None else self._death()

    def ask_to_end(self) -> None:
        """Asks only the command to end, so that it can end processes on other machines."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._process.pid, signal.SIGTERM)

    def kill(self, cause: str) -> None:
        """Ends it; `cause` becomes the message of its Death."""
        if self._cause is None:
            self._cause = cause
        self._kill_group()

    def close(self) -> None:
        """Ends all remaining processes: the command, its children, and those that left its group. May be
        called again after an interrupt.
        """
        self._kill_group()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._over.set()
        self._kill_marked()
        for thread in self._threads:
            thread.join(2)
        _LIVE.discard(self)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()

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

    def _watch_memory(self) -> None:
        """Checks the memory of the worker often, and that of its children from time to time."""
        try:
            root = psutil.Process(self._process.pid)
        except psutil.Error:
            return
        children = 0
        tick = 0
        while not self._over.wait(0.05):
            try:
                if tick % 10 == 0:
                    children = sum(_resident(child) for child in _below(root))
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
        """Kills processes that left the group, found by the mark in their environment, and waits until they are gone."""
        killed = []
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get(MARK) == self._mark:
                    process.kill()
                    killed.append(process)
            except (psutil.Error, OSError):
                continue
        until = time.monotonic() + _DYING
        while any(_runs(process) for process in killed) and time.monotonic() < until:
            time.sleep(0.005)


_LIVE: set[ProcessGroup] = set()


def close_all() -> None:
    """Ends the processes that an interrupt left running."""
    for group in list(_LIVE):
        group.close()


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _below(process: psutil.Process) -> Iterator[psutil.Process]:
    """Its children and theirs. The kernel lists them; psutil would read the parent of each process of the machine."""
    threads = f"/proc/{process.pid}/task"
    try:
        lists = [Path(threads, one, "children").read_text() for one in os.listdir(threads)]
    except OSError:  # it is gone, or one of its threads is
        lists = []
    if not lists:
        yield from process.children(recursive=True)
        return
    for pid in " ".join(lists).split():
        with contextlib.suppress(psutil.Error):
            child = psutil.Process(int(pid))
            yield child
            yield from _below(child)


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def default_memory_limit() -> int:
    """Nine tenths of the memory that is free now, in bytes."""
    return int(psutil.virtual_memory().available * 0.9)
