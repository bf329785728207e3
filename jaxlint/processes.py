"""Runs pieces of work in processes of their own, so that each has a core, and what it takes with it when it dies is its own.

On Linux a process is forked from this one and has all of its memory at hand: that costs a hundredth of a second, and each piece gets a
process of its own, whose memory goes back at its end. Elsewhere, and where another thread runs, which a fork would stop in the middle of
something, Python is started anew, and a process does one piece after the other. None outlives this process.
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

# What is done: it gets the number of a piece, and a function by which it says how far it is.
Work = Callable[[int, Callable[[object], None]], object]


@dataclass(frozen=True, slots=True)
class Said:
    """What the work on a piece says on its way."""

    piece: int
    what: Any


@dataclass(frozen=True, slots=True)
class Done:
    """What the work on a piece gave."""

    piece: int
    result: Any


@dataclass(frozen=True, slots=True)
class Lost:
    """A piece whose process died. `how`: "was killed (SIGKILL)"."""

    piece: int
    how: str


@dataclass(frozen=True, slots=True)
class Unsendable:
    """A piece whose result no process can send to another: it is to be done in this one."""

    piece: int


Report = Said | Done | Lost | Unsendable


def can_fork() -> bool:
    """Whether a process can be made by copying this one."""
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
    """Does `work` on the pieces 0, 1, ... of the given weights, `jobs` at a time, and yields what comes of them as it comes.

    One process takes the pieces in their order, so that the first are done soon; the others the heaviest first, so that none of these is left to the end.
    """
    pool = _Pool(work, dict(enumerate(weights)), can_fork())
    try:
        yield from pool.run(jobs)
    finally:
        pool.close()


@dataclass(slots=True)
class _Worker:
    process: Any  # multiprocessing has a class of them for each way to start one
    connection: Connection
    lane: int
    piece: int


@dataclass(slots=True)
class _Pool:
    work: Work
    waiting: dict[int, int]  # pieces that are not begun, and their weights
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
        """Ends what still runs."""
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
    except Exception:  # what a rule has put into a finding can do anything here
        return Unsendable(worker.piece)
    return report


# -- in the other process


def _serve(
    work: Work, connection: Connection, ends: tuple[Connection, Connection], piece: int, forked: bool
) -> None:
    """Does one piece; where Python was started anew for it, also those that are sent after it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # the process that started this one says what there is to say
    lifeline, its_end = ends
    its_end.close()
    threading.Thread(target=_end_with_the_other, args=(lifeline,), daemon=True).start()
    with contextlib.suppress(OSError, EOFError):  # nobody listens any more
        _do(work, piece, connection)
        while not forked:
            gc.collect()  # or the memory of the last piece is there beside that of the next
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
    """Ends this process when the one that started it has gone, however that ended."""
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)


@contextlib.contextmanager
def _no_modules_of_the_current_folder() -> Iterator[None]:
    """A new Python looks for modules in the current folder first, which may be a clone, before it is told the path of this one."""
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
