"""Runs pieces of work in separate processes: each has a core, and a crash only loses its own piece.

On Linux a process forks from this one and shares its memory. A fork costs a hundredth of a second, so each
piece gets its own process, whose memory is freed at its end. On other systems, or if another thread runs,
which a fork would freeze in the middle of something, a new Python process does one piece after the other.
None of them outlives this process.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

# The work: it receives the number of a piece, and a function to report progress.
Work = Callable[[int, Callable[[object], None]], object]


@dataclass(frozen=True, slots=True)
class Said:
    """A progress message from the work on a piece."""

    piece: int
    what: Any


@dataclass(frozen=True, slots=True)
class Done:
    """The result of the work on a piece."""

    piece: int
    result: Any


@dataclass(frozen=True, slots=True)
class Lost:
    """A piece whose process died. `how`: "was killed (SIGKILL)"."""

    piece: int
    how: str


@dataclass(frozen=True, slots=True)
class Unsendable:
    """A piece whose result cannot be pickled: it must be done in this process."""

    piece: int


Report = Said | Done | Lost | Unsendable


def can_fork() -> bool:
    """Whether this process can fork."""
    return sys.platform == "linux" and threading.active_count() == 1


def can_send(work: Work) -> bool:
    """Whether `work` can be done in another process."""
    if can_fork():
        return True
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def in_processes(work: Work, weights: Sequence[int], jobs: int) -> Iterator[Report]:
    """Does `work` on the pieces 0, 1, ... of the given weights, `jobs` at a time, and yields messages and results as
    they arrive.

    One process takes the pieces in order, so that the first are done soon. The others take the heaviest first, so
    that none of these is left to the end.
    """
    pool = _Pool(work, dict(enumerate(weights)), can_fork())
    try:
        yield from pool.run(jobs)
    finally:
        pool.close()


@dataclass(slots=True)
class _Worker:
    process: Any  # multiprocessing has one class for each start method
    connection: Connection
    lane: int
    piece: int


@dataclass(slots=True)
class _Pool:
    work: Work
    waiting: dict[int, int]  # waiting pieces, and their weights
    forks: bool
    workers: dict[Connection, _Worker] = field(default_factory=dict)
    ends: tuple[Connection, Connection] = field(default_factory=lambda: multiprocessing.Pipe(duplex=False))

    def run(self, jobs: int) -> Iterator[Report]:
        lanes = list(range(jobs))
        while self.waiting or self.workers:
            while self.waiting and lanes:
                self.start(lanes.pop(0))
            for connection in wait(list(self.workers)):
                assert isinstance(connection, Connection)
                worker = self.workers[connection]
                report = _received(worker)
                yield report
                if isinstance(report, Said):
                    continue
                if self.forks or isinstance(report, Lost) or not self.waiting:
                    del self.workers[connection]
                    connection.close()  # a process that waits for more work ends
                    worker.process.join()
                    lanes.append(worker.lane)
                else:
                    worker.piece = self.taken(worker.lane)
                    connection.send(worker.piece)

    def start(self, lane: int) -> None:
        """Starts a process on the next piece."""
        context: Any = multiprocessing.get_context("fork" if self.forks else "spawn")
        ours, theirs = context.Pipe()
        piece = self.taken(lane)
        arguments = (self.work, theirs, self.ends, piece, self.forks)
        process = context.Process(target=_serve, args=arguments, name=f"jaxlint-{lane}", daemon=True)
        with contextlib.nullcontext() if self.forks else _no_modules_of_the_current_folder():
            process.start()
        theirs.close()
        self.workers[ours] = _Worker(process, ours, lane, piece)

    def taken(self, lane: int) -> int:
        piece = min(self.waiting) if lane == 0 else max(self.waiting, key=lambda one: self.waiting[one])
        del self.waiting[piece]
        return piece

    def close(self) -> None:
        """Ends the running processes."""
        for worker in self.workers.values():
            worker.process.kill()
        for worker in self.workers.values():
            worker.process.join()
            worker.connection.close()
        for end in self.ends:
            end.close()


def _received(worker: _Worker) -> Report:
    """What a process has sent, or how it died."""
    try:
        data = worker.connection.recv_bytes()
    except (EOFError, OSError):
        worker.process.join()
        code = worker.process.exitcode
        if code >= 0:
            return Lost(worker.piece, f"ended with exit code {code}")
        names = {member.value: member.name for member in signal.Signals}
        return Lost(worker.piece, f"was killed ({names.get(-code, f'signal {-code}')})")
    try:
        report: Report = pickle.loads(data)
    except Exception:  # unpickling data that a rule put into a finding can raise anything
        return Unsendable(worker.piece)
    return report


# -- in the other process


def _serve(
    work: Work, connection: Connection, ends: tuple[Connection, Connection], piece: int, forked: bool
) -> None:
    """Does one piece; a new Python process also does the pieces that are sent later."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent process reports problems
    lifeline, its_end = ends
    its_end.close()
    threading.Thread(target=_end_with_the_other, args=(lifeline,), daemon=True).start()
    with contextlib.suppress(OSError, EOFError):  # nobody receives it
        _do(work, piece, connection)
        while not forked:
            gc.collect()  # otherwise the memory of the last piece is held beside that of the next
            piece = connection.recv()
            _do(work, piece, connection)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)  # at once: there is nothing to clean up


def _do(work: Work, piece: int, connection: Connection) -> None:
    result = work(piece, lambda what: connection.send(Said(piece, what)))
    try:
        connection.send(Done(piece, result))
    except (pickle.PicklingError, AttributeError, TypeError):
        connection.send(Unsendable(piece))


def _end_with_the_other(lifeline: Connection) -> None:
    """Ends this process when its parent is gone, however that ended."""
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)


@contextlib.contextmanager
def _no_modules_of_the_current_folder() -> Iterator[None]:
    """Keeps a new Python process from importing modules from the current folder, which may be a clone, before it
    receives this one's path."""
    changed = {"PYTHONSAFEPATH": "1", "PYTHONPATH": None}
    saved = {name: os.environ.get(name) for name in changed}
    _set(changed)
    try:
        yield
    finally:
        _set(saved)


def _set(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
