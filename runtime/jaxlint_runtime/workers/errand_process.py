"""The process of one errand: searches the candidates of one function as the command line would, and writes
the results as events, one a line, to its standard output.

Exit status 0 means that the output is complete. The process ends itself if the process that started it is
gone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import jaxlint
from jaxlint_runtime.model import Result
from jaxlint_runtime.protocol.errands import Alive, Begun, Errand, ErrandEvent, read_errand
from jaxlint_runtime.protocol.jobs import Capture, Launch
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.worker_events import Decided, Error, Event, Note, Progress
from jaxlint_runtime.request import CannotRun, Request
from jaxlint_runtime.run import Listener, Run
from jaxlint_runtime.workers.cleanup import NoRoom, cleaned_up
from jaxlint_runtime.workers.compiling_server import answer_questions
from jaxlint_runtime.workers.growing_file import append
from jaxlint_runtime.workers.measuring_client import measure_away
from jaxlint_runtime.workers.process import BOOT, lent
from jaxlint_runtime.workers.process_group import NO_LIMIT, ProcessGroup

_SIGN = 5.0  # seconds between two signs of life
_ERRAND, _QUESTIONS = "errand.json", "questions.jsonl"  # in its folder


class _Sender:
    """Writes events to the original standard output; other prints go to standard error."""

    def __init__(self) -> None:
        self._fd = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def __call__(self, event: ErrandEvent) -> None:
        data = encode(event)
        with self._lock:
            while data:
                data = data[os.write(self._fd, data) :]

    def keep_alive(self) -> None:
        """Sends a sign of life regularly, as long as the process lives."""

        def beat() -> None:
            while True:
                time.sleep(_SIGN)
                self(Alive())

        threading.Thread(target=beat, name="jaxlint-alive", daemon=True).start()


class _Forwarding(Run):
    """A run whose events go to the command line that sent the errand."""

    def __init__(self, request: Request, send: _Sender) -> None:
        super().__init__(
            request,
            Listener(
                lambda message: send(Note(message)),
                lambda message: send(Progress(message)),
                to_stderr,
            ),
        )
        self.send = send

    def hear(self, event: Event) -> None:
        """Passes an event on; an error of a measuring process becomes a result."""
        if not isinstance(event, Error):
            self.send(event)


def do(path: str) -> None:
    """Runs the errand that a file describes."""
    send = _Sender()
    try:
        errand = read_errand(Path(path).read_text(encoding="utf-8"))
        send(Begun(socket.gethostname()))
        send.keep_alive()
        if problem := _unlike(errand):
            send(Error(problem, refused=True))
            return
        with cleaned_up():
            if errand.placing is not None:
                questions = Path(path).with_name(_QUESTIONS)
                answer_questions(_Forwarding(request_of(errand), send), errand, questions, send)
            else:
                _search(errand, send)
    except (ValueError, CannotRun, NoRoom) as error:
        send(Error(str(error), refused=True))
    except KeyboardInterrupt:
        send(Error("was interrupted"))


def _search(errand: Errand, send: _Sender) -> None:
    left = errand.left
    run = _Forwarding(request_of(errand), send)
    run.run_seconds = errand.run_seconds
    capture = Capture(Launch("script", left.path), trying=errand.trying)
    for found in measure_away(run, capture, left, errand.peaks):
        send(Decided(left.target, found) if isinstance(found, Result) else found)


def request_of(errand: Errand) -> Request:
    """The request for the search alone."""
    left, placing = errand.left, errand.placing
    return Request(
        kind="script",
        target=left.path,
        python=errand.python or sys.executable,
        timeout=errand.timeout,
        memory_limit=errand.memory_limit,
        targets=(left.target,) if placing is None else placing.targets,
        mesh=None if placing is None else placing.mesh,
        seconds=errand.trying.seconds,
        ends=None if errand.seconds_left is None else time.monotonic() + errand.seconds_left,
    )


def to_stderr(stream: str, data: bytes) -> None:
    """Writes the output of a process to standard error."""
    with contextlib.suppress(OSError):
        os.write(2, data)


def _unlike(errand: Errand) -> str | None:
    """How this machine differs from the one that ran the program: exported programs are only certain to be
    the same with the same versions.
    """
    installed = {"jaxlint": jaxlint.__version__}
    if errand.python is None:  # otherwise it is that interpreter that has JAX
        for name in ("jax", "jaxlib"):
            with contextlib.suppress(metadata.PackageNotFoundError):
                installed[name] = metadata.version(name)
    for name, found in installed.items():
        if (wanted := errand.versions.get(name, found)) != found:
            return f"{socket.gethostname()} has {name} {found}, and this needs {name} {wanted}, as where the program ran"
    return None


class ErrandProcess:
    """An errand that runs on this machine. `take` returns its new lines; it ends with this process.

    Raises OSError if it cannot be started.
    """

    def __init__(self, errand: bytes, folder: Path, output: Callable[[str, bytes], None] = to_stderr) -> None:
        """`folder`: for the errand and its temporary files. `output` receives its other output."""
        self._output = output
        self._said: list[bytes] = []
        self._rest = b""
        self._lock = threading.Lock()
        self._folder = folder
        (folder / _ERRAND).write_bytes(errand)
        where = lent()
        command = [sys.executable, "-P", str(BOOT), "errand", str(folder), where["JAXLINT_LENT"]]
        self.group = ProcessGroup(
            command,
            folder=os.getcwd(),
            environment={**os.environ, **where, "TMPDIR": str(folder)},
            memory_limit=NO_LIMIT,  # its own workers have one
            output=self._hear,
        )

    def ask(self, questions: list[bytes]) -> None:
        """Passes questions on to the errand."""
        append(self._folder / _QUESTIONS, questions)

    def take(self) -> list[bytes]:
        """The lines since the last call."""
        with self._lock:
            said, self._said = self._said, []
        return said

    def ended(self) -> str | None:
        """How it ended, empty if by itself; None while it runs. After the end all lines are there."""
        death = self.group.death()
        if death is None:
            return None
        self.group.close()
        return "" if death.status == 0 else str(death)

    def _hear(self, stream: str, data: bytes) -> None:
        if stream == "stderr":
            self._output(stream, data)
            return
        with self._lock:
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._said += lines
