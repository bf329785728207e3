"""`--workers local:N`: errands in processes of this machine, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxlint_runtime.engines.engine import LostEngine
from jaxlint_runtime.protocol.errands import Errand
from jaxlint_runtime.protocol.jobs import RUN_FOLDER
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.workers.errand_process import ErrandProcess


class LocalEngine:
    """Processes of this machine. They end with this one, however it ends."""

    name = "this machine"
    pause = 0.05

    def __init__(self, side_by_side: int, output: Callable[[str, bytes], None]) -> None:
        self.side_by_side = side_by_side
        self._output = output
        self._jobs: list[_LocalJob] = []
        self._folder = tempfile.TemporaryDirectory(prefix="jaxlint-errands-", ignore_cleanup_errors=True)

    def submit(self, errands: Sequence[Errand]) -> Sequence[_LocalJob]:
        """A process for each."""
        started = []
        for errand in errands:
            folder = Path(tempfile.mkdtemp(prefix=RUN_FOLDER, dir=self._folder.name))
            try:
                started.append(_LocalJob(ErrandProcess(encode(errand), folder, self._output)))
            except OSError as error:
                raise LostEngine(f"no process can be started ({error.strerror})") from None
            self._jobs.append(started[-1])
        return started

    def look(self) -> None:
        """Does nothing: the processes write to this one directly."""

    def close(self) -> None:
        """Ends the processes."""
        for job in self._jobs:
            job.cancel()
        self._folder.cleanup()


class _LocalJob:
    def __init__(self, process: ErrandProcess) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.group.pid

    def lines(self) -> Sequence[bytes]:
        """The lines that it has written."""
        return self._process.take()

    def ask(self, question: bytes) -> None:
        """Passes a question on."""
        self._process.ask([question])

    def ended(self) -> str | None:
        """How it ended."""
        return self._process.ended()

    def cancel(self) -> None:
        """Ends it."""
        self._process.group.close()
