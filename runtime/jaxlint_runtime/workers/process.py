"""Starts a worker process, talks to it, and leaves nothing of it behind.

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
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jaxlint
from jaxlint_runtime.protocol.jobs import Assignment, Job, Later
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.workers.process_group import ProcessGroup, Starter

# Only set by `cleanup.cleaned_up`: a worker removes it if its command line was killed. Never a folder that others use.
run_folder: str | None = None
BOOT = Path(__file__).resolve().with_name("boot.py")


def lent() -> dict[str, str]:
    """For the environment of a worker: the folder of jaxlint's packages, and packages that it lends if they are missing."""
    serialiser = importlib.util.find_spec("flatbuffers")
    return {
        "JAXLINT_LENT": str(Path(jaxlint.__file__).resolve().parents[1]),
        "JAXLINT_LENT_IF_MISSING": str(Path(serialiser.origin).parents[1])
        if serialiser and serialiser.origin
        else "",
    }


class WorkerProcess(ProcessGroup):
    """One worker, with a pipe to it and one from it, and everything that it starts."""

    def __init__(
        self,
        job: Job,
        *,
        python: str,
        folder: str,
        environment: Mapping[str, str],
        memory_limit: int,
        output: Callable[[str, bytes], None],
        starter: Starter | None = None,
    ) -> None:
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        job_read, self._job_write = os.pipe()
        self._event_read, event_write = os.pipe()
        self._open: tuple[int, ...] = (self._job_write, self._event_read)
        try:
            super().__init__(
                [python, "-P", str(BOOT), str(job_read), str(event_write)],
                folder=folder,
                environment={**environment, **lent()},
                memory_limit=memory_limit,
                output=output,
                pass_fds=(job_read, event_write),
                starter=starter,
            )
        except OSError:
            for fd in self._open:
                os.close(fd)
            raise
        finally:
            os.close(job_read)
            os.close(event_write)
        reader = threading.Thread(target=self._read_events, daemon=True)
        self._threads.append(reader)
        reader.start()
        self.send(Assignment(job, run_folder))

    def send(self, message: Assignment | Later) -> None:
        """Writes one line to the worker; if it is gone, that shows in `next_event`."""
        data = encode(message)
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._job_write, data) :]

    def next_event(self, timeout: float) -> dict[str, Any] | None:
        """The next event, or None if none came in `timeout` seconds. Raises Death if the worker is gone."""
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return None
        if event is None:
            self._events.put(None)
            raise self._death()
        return event

    def close(self) -> None:
        """Ends all remaining processes, and closes the pipes."""
        super().close()
        fds, self._open = self._open, ()
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read_events(self) -> None:
        rest = b""
        while True:
            gone = self._process.poll() is not None  # checked before the last read, so that nothing is missed
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
                with contextlib.suppress(ValueError):  # truncated by a crash in the middle of a line
                    self._events.put(json.loads(line))
        self._events.put(None)
