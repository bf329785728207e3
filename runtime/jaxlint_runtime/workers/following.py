"""Follows a worker: passes its events on in order, until no more are needed, and ends it if it takes too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from jaxlint_runtime.protocol.worker_events import Done, Error, Event, read_event
from jaxlint_runtime.request import Request
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.scratch_copy import Scratch
from jaxlint_runtime.workers.starting import to_originals

_LOOK = 0.2  # seconds between two checks of the clock
_SPENT = "was ended when the --budget was spent"


@dataclass(slots=True)
class Deadline:
    """The time limit of a worker, and the message if it exceeds it."""

    seconds: float
    cause: str
    until: float = 0.0
    passed: bool = False  # whether the worker was ended for it

    def __post_init__(self) -> None:
        self.renew()

    @classmethod
    def within(cls, request: Request, seconds: float, cause: str) -> Deadline:
        """A deadline in `seconds`, or at the end of the --budget if that comes first; then the budget is the cause."""
        left = request.within(seconds)
        return cls(left, cause if left >= seconds else _SPENT)

    def renew(self) -> None:
        """Restarts the time limit."""
        self.until = time.monotonic() + self.seconds

    def is_over(self) -> bool:
        """Whether it is exceeded."""
        return time.monotonic() > self.until


def follow(
    worker: WorkerProcess,
    hear: Callable[[Event], bool | None],
    deadlines: Callable[[], list[Deadline]],
    scratch: Scratch | None = None,
    between: Callable[[], float] | None = None,
) -> Event:
    """Passes each event to `hear` until that returns that it is enough. Returns the last one, which is `Done` or
    `Error` if nothing more comes.

    `deadlines` are the current ones. Paths in the scratch copy are translated back. `between` is called while it waits, and
    returns the seconds to its next call. Raises Death if the worker is gone.
    """
    while True:
        line = worker.next_event(_LOOK if between is None else min(_LOOK, between()))
        if line is None:
            over = next((one for one in deadlines() if one.is_over()), None)
            if over is not None:
                over.passed = True
                worker.kill(over.cause)
            continue
        try:
            event = read_event(line if scratch is None else to_originals(line, scratch))
        except ValueError:  # truncated by a crash in the middle of a line
            continue
        if hear(event) or isinstance(event, Done | Error):
            return event
