"""Follows a worker: hands its events on, in order, until there is no more to wait for, and ends it when it takes too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from jaxlint_runtime.protocol.worker_events import Done, Error, Event, read_event
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.scratch_copy import Scratch
from jaxlint_runtime.workers.starting import to_originals

_LOOK = 0.2  # seconds between two looks at the clock


@dataclass(slots=True)
class Deadline:
    """Until when a worker may go on, and what is said of it if it does not end by then."""

    seconds: float
    cause: str
    until: float = 0.0
    passed: bool = False  # whether the worker was ended for it

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin to count anew."""
        self.until = time.monotonic() + self.seconds

    def is_over(self) -> bool:
        """Whether it has come."""
        return time.monotonic() > self.until


def follow(
    worker: WorkerProcess,
    hear: Callable[[Event], bool | None],
    deadlines: Callable[[], list[Deadline]],
    scratch: Scratch | None = None,
) -> Event:
    """Hand each event to `hear` until that says that it is enough. Returns the last, which is `Done` or `Error` where nothing more comes.

    `deadlines` are those that hold at the moment. Paths in the scratch copy are turned back. Raises Death when the worker is gone.
    """
    while True:
        line = worker.next_event(_LOOK)
        if line is None:
            over = next((one for one in deadlines() if one.is_over()), None)
            if over is not None:
                over.passed = True
                worker.kill(over.cause)
            continue
        try:
            event = read_event(line if scratch is None else to_originals(line, scratch))
        except ValueError:  # torn by a crash in the middle of a line
            continue
        if hear(event) or isinstance(event, Done | Error):
            return event
