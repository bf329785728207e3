"""Starts workers as forks of a process that has imported JAX and the program's packages (`fork_server.py`).

It is only used if a fork is certain to equal a fresh process. Otherwise, and after any failure, workers are
started as usual.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jaxlint_runtime.protocol.fork_records import (
    CACHE,
    LEAST_COMPILE,
    Forked,
    Imported,
    StartFork,
    Warm,
    read_answer,
)
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.spent import IMPORTS, apart
from jaxlint_runtime.workers import cleanup, process
from jaxlint_runtime.workers.process import BOOT, lent
from jaxlint_runtime.workers.process_group import ProcessGroup
from jaxlint_runtime.workers.scratch_copy import is_copied

# Variables that a fork may have and its parent process may not: nothing reads them before a backend starts.
_LATE = frozenset({"TMPDIR", "TEMP", "TMP", "XLA_FLAGS", CACHE, LEAST_COMPILE})
_IMPORT = 120.0  # seconds for the imports
_ANSWER = 20.0  # and for one fork
_LOOK = 0.01


class ForkServer(ProcessGroup):
    """The process that forks, and the socket to it. Raises OSError if it cannot be started."""

    def __init__(
        self, python: str, modules: Sequence[str], environment: Mapping[str, str], memory_limit: int
    ) -> None:
        self._socket, theirs = socket.socketpair()
        self._lock = threading.Lock()
        self.files: list[str] | None = None  # that it has loaded; None: it must not fork
        try:
            super().__init__(
                [python, "-P", str(BOOT), "fork", str(theirs.fileno())],
                folder=os.getcwd(),
                environment={**environment, **lent()},
                memory_limit=memory_limit,
                output=lambda stream, data: None,
                pass_fds=(theirs.fileno(),),
            )
        except OSError:
            self._socket.close()
            raise
        finally:
            theirs.close()
        apart(self.pid, IMPORTS)
        with contextlib.suppress(OSError):
            self._socket.sendall(encode(Warm(tuple(modules))))

    def wait_until_ready(self, seconds: float) -> None:
        """Waits until the imports are done."""
        answer = self._answer(seconds)
        self.files = answer.files if isinstance(answer, Imported) else None

    def __call__(
        self, folder: str, environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> ForkedWorker | None:
        """A worker with this folder and environment, and these descriptors for its job and its events; None if it cannot be
        forked."""
        with self._lock, contextlib.ExitStack() as stack:
            output, errors = os.pipe(), os.pipe()
            for pipe in (output, errors):
                stack.callback(os.close, pipe[1])
            ours = [os.fdopen(pipe[0], "rb", buffering=0) for pipe in (output, errors)]
            line = encode(StartFork(folder, os.getpid(), dict(environment)))
            answer = None
            with contextlib.suppress(OSError):
                sent = socket.send_fds(self._socket, [line], [output[1], errors[1], *descriptors])
                self._socket.sendall(line[sent:])
                answer = self._answer(_ANSWER)
            if isinstance(answer, Forked):
                return ForkedWorker(answer.pid, *ours)
            for stream in ours:
                stream.close()
            self.files = None
            return None

    def close(self) -> None:
        """Ends it. Workers that it forked continue."""
        super().close()
        self._socket.close()

    def _answer(self, seconds: float) -> object:
        """Its next answer; None if none comes in time."""
        until, data = time.monotonic() + seconds, b""
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([self._socket], [], [], max(until - time.monotonic(), 0.0))
            more = self._socket.recv(65536) if ready else b""
            if not more:
                return None
            data += more
        with contextlib.suppress(ValueError):
            return read_answer(data)
        return None


class ForkedWorker:
    """An adopted child, with what `process_group` needs of a `subprocess.Popen`."""

    def __init__(self, pid: int, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self.pid = pid
        self.stdout: IO[bytes] | None = stdout
        self.stderr: IO[bytes] | None = stderr
        self._lock = threading.Lock()
        self._status: int | None = None

    def poll(self) -> int | None:
        """Its exit status, or a negative signal; None while it runs."""
        with self._lock:
            if self._status is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                    if pid:
                        self._status = os.waitstatus_to_exitcode(status)
                except ChildProcessError:  # other code has read it already
                    self._status = -signal.SIGKILL
            return self._status

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended. Raises TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(_LOOK)
        return status

    def kill(self) -> None:
        """Ends it."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._status is None:
                os.kill(self.pid, signal.SIGKILL)


def begin(
    python: str, modules: Sequence[str], environment: Mapping[str, str], memory_limit: int
) -> _Entry | None:
    """Starts the process that forks workers for this interpreter, these packages and this environment, if it
    does not run yet.

    It ends with the run. None if orphans are not adopted.
    """
    if not cleanup.adopts_orphans():
        return None
    key = (process.run_folder, python, tuple(modules), tuple(sorted(environment.items())))
    if key not in _SERVERS:
        for other in [one for one in _SERVERS if one[0] != process.run_folder]:
            del _SERVERS[other]
        _SERVERS[key] = _Entry()
        with contextlib.suppress(OSError):
            _SERVERS[key].server = ForkServer(python, modules, environment, memory_limit)
    return _SERVERS[key]


def forking(
    python: str,
    modules: Sequence[str],
    environment: Mapping[str, str],
    extra: Mapping[str, str],
    project: Path,
    memory_limit: int,
    seconds: float,
) -> ForkServer | None:
    """The process that forks workers with `extra` added to `environment`; None if it must not.

    Waits for its imports for up to `seconds`. `project`: its files differ between workers.
    """
    entry = begin(python, modules, environment, memory_limit) if _LATE.issuperset(extra) else None
    if entry is None or entry.server is None:
        return None
    server = entry.server
    if not entry.ready:
        server.wait_until_ready(min(seconds, _IMPORT))
        entry.ready = True
        if server.files is None or any(is_copied(project, file) for file in server.files):
            server.close()
            entry.server = None
    return None if server.files is None else entry.server


@dataclass(slots=True)
class _Entry:
    """A process that forks; None if it could not be started or must not fork."""

    server: ForkServer | None = None
    ready: bool = False  # whether its imports were waited for


_Key = tuple[str | None, str, tuple[str, ...], tuple[tuple[str, str], ...]]
_SERVERS: dict[_Key, _Entry] = {}
