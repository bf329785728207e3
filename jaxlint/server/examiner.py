"""Where documents are checked: in a process beside the server, which can be interrupted, or in the server itself if
it cannot fork."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import NoReturn, Protocol

from jaxlint.config import ConfigError
from jaxlint.processes import can_fork
from jaxlint.server import warmed
from jaxlint.server.checking import Checked, Checker, Facts, Task, facts_of
from jaxlint.server.documents import Document
from jaxlint.server.warmed import Early, Final, StartOver, Wrong
from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.project import settings_stamp

Tell = Callable[[Checked], None]


class Examiner(Protocol):
    """Checks one document at a time. None means that it was interrupted."""

    def check(self, document: Document, others: Sequence[Document], early: Tell) -> Checked | None:
        """The findings. `early` receives the findings of the file alone, if these come sooner. Raises ConfigError."""

    def explain(self, document: Document, others: Sequence[Document]) -> Facts | None:
        """The facts about the names. Raises ConfigError."""

    def interrupt(self) -> None:
        """Interrupts the current job, from another thread."""

    def forget_listings(self) -> None:
        """Files were created or deleted."""


def make_examiner() -> Examiner:
    """Creates an examiner. Call it before the process starts other threads."""
    return Apart() if can_fork() else Here()


class Here:
    """Checks in this process: nothing can be interrupted."""

    def __init__(self) -> None:
        self.checker = Checker()

    def check(self, document: Document, others: Sequence[Document], early: Tell) -> Checked | None:
        return self.checker.check(document, others)

    def explain(self, document: Document, others: Sequence[Document]) -> Facts | None:
        return self.checker.explain(document, others)

    def interrupt(self) -> None:
        pass

    def forget_listings(self) -> None:
        self.checker.forget_listings()


@dataclass(frozen=True, slots=True)
class _Job:
    """One job. `forget`: files were created or deleted before it."""

    document: Document
    others: Sequence[Document]
    explain: bool
    forget: bool


@dataclass(frozen=True, slots=True)
class _Stopped:
    """The current job was interrupted."""


class Apart:
    """Checks in another process, a fork of this one."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        self._wake, self._waker = Pipe(duplex=False)
        self._forget = False
        self.costs: list[float] = []  # processor time of the last job: until the early result, and in total
        self._instead: Here | None = None  # once the other process has died
        ours = self._connection

        def work() -> None:
            ours.close()
            _keep_off_the_streams()
            _Loop(theirs).run()

        warmed.fork(work)
        theirs.close()

    def check(self, document: Document, others: Sequence[Document], early: Tell) -> Checked | None:
        found = self._done(document, others, early, explain=False)
        assert found is None or isinstance(found, Checked)
        return found

    def explain(self, document: Document, others: Sequence[Document]) -> Facts | None:
        found = self._done(document, others, lambda checked: None, explain=True)
        assert found is None or isinstance(found, Facts)
        return found

    def interrupt(self) -> None:
        self._waker.send(None)

    def forget_listings(self) -> None:
        self._forget = True

    def _done(
        self, document: Document, others: Sequence[Document], early: Tell, *, explain: bool
    ) -> Checked | Facts | None:
        while self._wake.poll():
            self._wake.recv()  # meant for the previous job
        if self._instead is None:
            try:
                return self._asked(_Job(document, others, explain, self._forget), early)
            except (EOFError, OSError):
                self._instead = Here()
        if explain:
            return self._instead.explain(document, others)
        return self._instead.check(document, others, early)

    def _asked(self, job: _Job, early: Tell) -> Checked | Facts | None:
        self._connection.send(job)
        self.costs = []
        self._forget = False
        while True:
            if self._wake in wait([self._connection, self._wake]):
                self._wake.recv()
                self._connection.send(None)
                while not isinstance(self._connection.recv(), _Stopped):
                    pass
                return None
            said = self._connection.recv()
            if isinstance(said, (Early, Final)):
                self.costs.append(said.cost)
            if isinstance(said, Early):
                early(said.checked)
            elif isinstance(said, Wrong):
                if said.settings:
                    raise ConfigError(said.said)
                error = SourceError(str(job.document.path), said.said)
                return Facts() if job.explain else Checked(None, errors=[error])
            else:
                return said.checked if isinstance(said, Final) else said  # type: ignore[no-any-return]


def _keep_off_the_streams() -> None:
    """Standard input and output belong to the protocol with the editor."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    # the server exits with the editor, and this process with the server
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115


# ---- in the other process


@dataclass(slots=True)
class _Process:
    """A process forked by this one. `around`: the surroundings of its document apart from the text."""

    pid: int
    connection: Connection
    around: object = None
    asked: int = 0  # texts sent after the first
    ended: bool = False

    def take(self, text: SourceFile) -> None:
        """Sends another text."""
        self.asked += 1
        self.connection.send((self.asked, text))

    def stop(self) -> None:
        """Interrupts the job for the last text."""
        with contextlib.suppress(OSError):
            self.connection.send(None)

    def end(self) -> None:
        if self.ended:
            return
        self.ended = True
        self.connection.close()
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        warmed.end(self.pid)


def _around(document: Document, task: Task) -> object:
    """What must be equal for another text of a document: its path, the settings and the rest of its project."""
    context = [(source.path, source.digest) for source in task.context]
    return document.path, document.uri, task.config, settings_stamp(task.config.root), context


class _Loop:
    """Runs the server's jobs one after the other."""

    def __init__(self, connection: Connection) -> None:
        self.server = connection
        self.checker = Checker()
        self.warm: _Process | None = None
        self.began = 0.0

    def run(self) -> NoReturn:
        with contextlib.suppress(EOFError, OSError):
            while True:
                job = self.server.recv()
                self.began = time.process_time()
                if isinstance(job, _Job):
                    self.server.send(self.with_cost(self.answer(job)))
                else:
                    self.server.send(_Stopped())  # the job was finished when the interrupt came
        if self.warm is not None:
            self.warm.end()
        os._exit(0)

    def answer(self, job: _Job) -> object:
        if job.forget:
            self.checker.forget_listings()
        try:
            task = self.checker.task(job.document, job.others)
        except ConfigError as error:
            return Wrong(0, str(error), settings=True)
        if isinstance(task, Checked):
            return Facts() if job.explain else Final(0, task)
        return self.explained(task) if job.explain else self.checked(job.document, task)

    def checked(self, document: Document, task: Task) -> object:
        warm, around = self.warm, _around(document, task)
        if warm is not None and warm.around == around:
            with contextlib.suppress(OSError):
                warm.take(task.source)
                said = self.heard(warm, warm.stop)
                if said is not None and not isinstance(said, StartOver):
                    return said
        if self.warm is not None:
            self.warm.end()
        warm = self.warm = self.started(lambda theirs: warmed.serve(task, theirs), around)
        said = self.heard(warm, warm.stop)
        return said or Wrong(warm.asked, "the process that checked it was killed", settings=False)

    def explained(self, task: Task) -> object:
        def work(theirs: Connection) -> None:
            theirs.send(facts_of(task))

        made = self.started(work)
        try:
            said = self.heard(made, made.end)
        finally:
            made.end()
        return said or Facts()

    def started(self, work: Callable[[Connection], None], around: object = None) -> _Process:
        ours, theirs = Pipe()

        def begin() -> None:
            ours.close()
            self.server.close()
            work(theirs)

        pid = warmed.fork(begin)
        theirs.close()
        return _Process(pid, ours, around)

    def heard(self, process: _Process, stop: Callable[[], None]) -> object | None:
        """The final message of a process, or None if it ends without one. Early messages are passed on."""
        while True:
            if self.server in wait([self.server, process.connection]):
                self.server.recv()  # an interrupt, or nothing any more
                stop()
                return _Stopped()
            try:
                said = process.connection.recv()
            except (EOFError, OSError):
                return None
            if getattr(said, "number", process.asked) != process.asked:
                continue  # about an earlier text
            if not isinstance(said, Early):
                return said  # type: ignore[no-any-return]
            self.server.send(self.with_cost(said))

    def with_cost(self, said: object) -> object:
        """Adds this process's processor time for the job."""
        spent = time.process_time() - self.began
        return replace(said, cost=said.cost + spent) if isinstance(said, (Early, Final)) else said
