"""The worker's end of the two pipes: one JSON object a line."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import threading

from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.worker_events import Event

_HIGH = 200  # descriptors from here on survive programs that close "all" low ones


class Channel:
    """The worker's end. Only the process that created it sends: forked children are mute."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read = _move_up(read_fd)
        self._write = _move_up(write_fd)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._rest = b""

    def send(self, event: Event) -> None:
        """Writes one event. If the reader is gone, this process exits: nobody needs its work."""
        if os.getpid() != self._process:
            return
        data = encode(event)
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._write, data) :]
            except OSError as error:
                if error.errno == errno.EPIPE:
                    os._exit(1)
                raise

    def is_waiting(self) -> bool:
        """Whether `receive` has something to read."""
        return b"\n" in self._rest or bool(select.select([self._read], [], [], 0)[0])

    def receive(self) -> str:
        """Waits for the next line. Raises EOFError if the other side is gone."""
        while b"\n" not in self._rest:
            chunk = os.read(self._read, 65536)
            if not chunk:
                raise EOFError("the command line has exited")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()


def _move_up(fd: int) -> int:
    """The same descriptor under a high number, closed in child processes."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(fd)
    return high
