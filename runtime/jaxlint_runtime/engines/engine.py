"""The interface of an engine. The code that sends and receives jobs knows nothing else about Slurm or Ray."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jaxlint_runtime.protocol.errands import Errand


class LostEngine(Exception):
    """The engine itself is gone, or refuses jobs; the message says why, as a sentence without its full stop."""


def said_by(error: BaseException) -> str:
    """A library's exception in one line; its type if it has no message."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


class Job(Protocol):
    """One errand that was submitted."""

    def lines(self) -> Sequence[bytes]:
        """The complete lines that it has written since the last call."""

    def ask(self, question: bytes) -> None:
        """Sends a line to an errand that answers questions. Raises LostEngine."""

    def ended(self) -> str | None:
        """How it ended, empty if it is done; None while it waits or runs. After the end all of its lines can be read."""

    def cancel(self) -> None:
        """Ends it, if it waits or runs. Does not raise."""


class Engine(Protocol):
    """Runs each errand as a job. `close` ends all remaining jobs and removes their stored files."""

    @property
    def name(self) -> str:
        """The name in messages: "Slurm"."""

    @property
    def side_by_side(self) -> int | None:
        """How many jobs may share this machine, if all of them run on it; None if the engine places them."""

    @property
    def pause(self) -> float:
        """Seconds between two polls of its jobs."""

    def submit(self, errands: Sequence[Errand]) -> Sequence[Job]:
        """A job for each errand. Raises LostEngine."""

    def look(self) -> None:
        """Called regularly: exchanges messages and signs of life, if the engine does so for all jobs
        together. Raises LostEngine.
        """

    def close(self) -> None:
        """Ends the remaining jobs. Does not raise."""
