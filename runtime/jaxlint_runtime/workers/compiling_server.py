"""Compiles placements as they are asked for: the process with JAX, and the errand that directs it.

A placement that crashes the compiler costs its own answer: the next one gets a new process.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from jaxlint_runtime.protocol.channel import Channel
from jaxlint_runtime.protocol.errands import Errand
from jaxlint_runtime.protocol.jobs import CompilePlacements
from jaxlint_runtime.protocol.json_records import from_plain
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.protocol.worker_events import Error, Event
from jaxlint_runtime.run import Run
from jaxlint_runtime.workers.following import Deadline, follow
from jaxlint_runtime.workers.growing_file import GrowingFile
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.process_group import Death
from jaxlint_runtime.workers.starting import start_worker

_LOOK = 0.05  # seconds


def serve_placements(channel: Channel) -> None:
    """Answers one question after the other, until the other side is gone."""
    from jaxlint_runtime.sharding.compiling import answer

    while True:
        try:
            text = channel.receive()
        except EOFError:
            return
        channel.send(answer(read_placement(text)))


def read_placement(text: str | bytes) -> PlacementQuestion:
    """The question that `encode` wrote. Raises ValueError."""
    return from_plain(PlacementQuestion, json.loads(text))


def answer_questions(run: Run, errand: Errand, file: Path, send: Callable[[PlacementAnswer], None]) -> None:
    """Answers the questions that appear in a file, until this process is ended."""
    questions = GrowingFile(file)
    compiling = _Compiling(run, errand)
    while not run.request.is_over:
        for line in questions.lines():
            send(compiling.answer(read_placement(line)))
        time.sleep(_LOOK)


class _Compiling:
    """The process with JAX, started at the first question and again after it died."""

    def __init__(self, run: Run, errand: Errand) -> None:
        self._run = run
        self._environment = errand.left.environment
        self._worker: WorkerProcess | None = None

    def answer(self, question: PlacementQuestion) -> PlacementAnswer:
        """Compiles one placement."""
        request = self._run.request
        cause = f"took longer than {request.timeout:g} s (--timeout) and was killed"
        deadline = Deadline.within(request, request.timeout, cause)
        answers: list[PlacementAnswer] = []

        def hear(event: Event) -> bool:
            if isinstance(event, PlacementAnswer):
                answers.append(event)
            return bool(answers)

        try:
            if self._worker is None:
                job, output = CompilePlacements(), self._run.listener.output
                self._worker = start_worker(request, job, None, output, self._environment)
            self._worker.send(question)
            last = follow(self._worker, hear, lambda: [deadline])
        except Death as death:
            if self._worker is not None:
                self._worker.close()
                self._worker = None
            return PlacementAnswer(question.number, reason=f"the process that compiled it {death}")
        if answers:
            return answers[0]
        why = last.message if isinstance(last, Error) else "ended"
        return PlacementAnswer(question.number, reason=f"the process that compiled it failed: {why}")
