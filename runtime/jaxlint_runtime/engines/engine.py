"""What an engine has to offer. Nothing else is known of Slurm or Ray where jobs are sent and heard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jaxlint_runtime.protocol.errands import Errand


class LostEngine(Exception):
    """The engine itself is gone, or refuses jobs; the message says why, as a sentence without its full stop."""


def said_by(error: BaseException) -> str:
    """What a library's exception says, in one line; its kind if it says nothing."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


class Job(Protocol):
    """One errand that was submitted."""

    def lines(self) -> Sequence[bytes]:
        """What it has said since the last call, whole lines."""

    def ended(self) -> str | None:
        """How it ended, empty if it is done; None while it waits or runs. All that it said can be read then."""

    def cancel(self) -> None:
        """Ends it, if it waits or runs. Does not raise."""


class Engine(Protocol):
    """Takes errands, and runs each as a job. `close` ends all that is left, and removes what was stored for them."""

    @property
    def name(self) -> str:
        """For the reader: "Slurm"."""

    @property
    def side_by_side(self) -> int | None:
        """How many jobs may share this machine, where they all run on it; None: the engine finds their places."""

    @property
    def pause(self) -> float:
        """Seconds between two polls of its jobs."""

    def submit(self, errands: Sequence[Errand]) -> Sequence[Job]:
        """A job for each errand. Raises LostEngine."""

    def look(self) -> None:
        """Once in a while: exchanges what jobs say, and signs of life, where that is done for all of them. Raises
        LostEngine."""

    def close(self) -> None:
        """Ends what is left. Does not raise."""
