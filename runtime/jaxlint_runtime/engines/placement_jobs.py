"""Jobs that compile the placements of a search: each answers one question after the other.

The search runs in the process of the program and asks; this passes its questions to free jobs. The question of a lost job goes to
another one, once. If there is no job left, the process of the program compiles for itself.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import jaxlint
from jaxlint_runtime.engines.engine import Engine, Job, LostEngine
from jaxlint_runtime.protocol.errands import Begun, Errand, Placing, read_line
from jaxlint_runtime.protocol.jobs import Trying
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.protocol.worker_events import Done, Error, Left
from jaxlint_runtime.request import Workers
from jaxlint_runtime.run import Run

_SILENT = 120.0  # seconds without a sign of life after which a job counts as lost
_STARTS = 2  # times the number of jobs that are started at most
_IDLE = 1.0  # seconds between two looks while nothing is asked
_TRIES = 2  # of a question whose job was lost


@dataclass(slots=True)
class _Sent:
    """A job. `asked`: the question that it works on."""

    job: Job
    submitted: float
    heard: float | None = None
    host: str = ""
    asked: PlacementQuestion | None = None

    @property
    def is_free(self) -> bool:
        return self.heard is not None and self.asked is None


class PlacementJobs:
    """The jobs of one search. `open_it` opens the engine, once something is asked; it may raise CannotRun."""

    def __init__(
        self,
        run: Run,
        workers: Workers,
        open_it: Callable[[], Engine],
        tell: Callable[[PlacementAnswer], None],
    ) -> None:
        self._run = run
        self._count = workers.side_by_side
        self._wait = workers.wait
        self._open = open_it
        self._tell = tell
        self._engine: Engine | None = None
        self._sent: list[_Sent] = []
        self._left = _STARTS * self._count  # jobs that may still be started
        self._queue: deque[PlacementQuestion] = deque()
        self._tries: Counter[int] = Counter()
        self._looked = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._queue) or any(one.asked is not None for one in self._sent)

    def ask(self, question: PlacementQuestion) -> None:
        """Passes a question to a job as soon as one is free."""
        self._queue.append(question)

    def look(self) -> float:
        """Called regularly: receives answers, asks free jobs, and replaces lost ones. Returns the seconds to its next call."""
        busy = self.is_busy
        if self._engine is None and not busy:
            return math.inf
        pause = self._engine.pause if busy and self._engine is not None else _IDLE
        now = time.monotonic()
        if now - self._looked < (pause if self._engine is not None else 0.0):
            return pause
        self._looked = now
        try:
            if self._engine is None:
                self._engine = self._open()
            if busy:
                self._start()
            self._engine.look()  # jobs end if nobody shows an interest
            for one in list(self._sent):
                self._follow(one)
            for one in self._sent:
                if one.is_free and self._queue:
                    one.asked = self._queue.popleft()
                    one.job.ask(encode(one.asked).rstrip())
        except LostEngine as error:
            self._give_up(f"{self._name} {error}")
        if busy and not self._sent and self._left <= 0:
            self._give_up("no job is left")
        return self._engine.pause if self._engine is not None and self.is_busy else _IDLE

    def close(self) -> None:
        """Ends all jobs."""
        if self._engine is not None:
            self._engine.close()

    @property
    def _name(self) -> str:
        return self._engine.name if self._engine is not None else "the engine"

    def _start(self) -> None:
        assert self._engine is not None
        missing = min(self._count - len(self._sent), self._left)
        if missing <= 0:
            return
        self._left -= missing
        environment = self._queue[0].environment if self._queue else {}
        try:
            jobs = self._engine.submit([self._errand(environment)] * missing)
        except LostEngine as error:
            raise LostEngine(f"takes no jobs: {error}") from None
        self._sent += [_Sent(job, time.monotonic()) for job in jobs]

    def _errand(self, environment: dict[str, str]) -> Errand:
        request = self._run.request
        assert request.mesh is not None
        targets = request.targets or ("cpu",)
        return Errand(
            Left("placements", request.target, 0, targets[0], folder="", environment=environment),
            Trying(),
            request.timeout,
            0.0,
            memory_limit=request.memory_limit,
            seconds_left=None if request.ends is None else request.within(math.inf),
            python=request.own_python,
            versions={**self._run.document.versions, "jaxlint": jaxlint.__version__},
            placing=Placing(request.mesh, targets),
        )

    def _follow(self, one: _Sent) -> None:
        """Reads what a job says, and notices its end."""
        end = one.job.ended()
        now = time.monotonic()
        for line in one.job.lines():
            try:
                event = read_line(json.loads(line))
            except ValueError:  # truncated by the end of the job
                continue
            one.heard = now
            match event:
                case PlacementAnswer():
                    one.asked = None
                    self._tell(replace(event, reason=self._placed(one, event.reason)))
                case Begun(host):
                    one.host = host
                case Error(message, refused):
                    self._lose(one, f"refused: {message}" if refused else message)
                    return
                case Done():
                    end = "ended"
        if end is not None:
            self._lose(one, f"a job {end or 'ended'}")
        elif one.heard is None and now - one.submitted > self._wait:
            self._left = 0  # another one would wait as long
            self._lose(one, f"{self._name} started no job in {self._wait:g} s (--workers-wait)")
        elif one.heard is not None and now - one.heard > _SILENT:
            self._lose(one, f"a job did not answer for {_SILENT:.0f} s")

    @staticmethod
    def _placed(one: _Sent, reason: str) -> str:
        """A reason with the machine, unless it is this one."""
        return f"{reason}, on {one.host}" if reason and one.host != socket.gethostname() else reason

    def _lose(self, one: _Sent, reason: str) -> None:
        """A job is gone: its question goes to another one, or is answered by the loss."""
        self._sent.remove(one)
        one.job.cancel()
        self._run.say(f"placements: {self._placed(one, reason)}")
        question = one.asked
        if question is None:
            return
        self._tries[question.number] += 1
        if self._tries[question.number] < _TRIES:
            self._queue.appendleft(question)
        else:
            self._tell(PlacementAnswer(question.number, reason=self._placed(one, reason)))

    def _give_up(self, reason: str) -> None:
        """No job can answer: the process of the program compiles what is left."""
        asked = [one.asked for one in self._sent if one.asked is not None]
        asked += self._queue
        if asked and not self._left < 0:
            self._run.say(f"placements: {reason}; they are compiled where the program ran")
        self._left = -1
        for one in self._sent:
            with contextlib.suppress(Exception):
                one.job.cancel()
        self._sent, self._queue = [], deque()
        for question in asked:
            self._tell(PlacementAnswer(question.number, at_home=True))
