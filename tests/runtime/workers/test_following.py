"""How a worker is followed: here it is one that says what it is told to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.worker_events import Done, Error, Event, Note
from jaxlint_runtime.workers.following import Deadline, follow
from jaxlint_runtime.workers.process_group import Death
from jaxlint_runtime.workers.scratch_copy import Scratch


class Said:
    """A worker that says `lines` one after the other (None: nothing for a while), and is dead once it was killed."""

    def __init__(self, *lines: Event | dict[str, Any] | None) -> None:
        self.lines = list(lines)
        self.killed: str | None = None

    def next_event(self, timeout: float) -> dict[str, Any] | None:
        if self.killed is not None:
            raise Death(self.killed, 137)
        line = self.lines.pop(0) if self.lines else None
        return line if line is None or isinstance(line, dict) else json.loads(encode(line))

    def kill(self, cause: str) -> None:
        self.killed = cause


def heard(
    worker: Said, enough: Event | None = None, *, until: Sequence[Deadline] = (), **options: Any
) -> list[Event]:
    """The events that were handed on."""
    events: list[Event] = []

    def hear(event: Event) -> bool:
        events.append(event)
        return event == enough

    last = follow(worker, hear, lambda: list(until), **options)  # type: ignore[arg-type]
    assert last == events[-1]
    return events


def test_events_are_handed_on_until_the_last() -> None:
    assert heard(Said(Note("a"), None, Note("b"), Done())) == [Note("a"), Note("b"), Done()]
    assert heard(Said(Note("a"), Error("no"), Note("b"))) == [Note("a"), Error("no")]


def test_who_has_heard_enough_leaves_the_rest() -> None:
    worker = Said(Note("a"), Note("b"), Note("c"))
    assert heard(worker, Note("b")) == [Note("a"), Note("b")]
    assert worker.lines == [Note("c")]


def test_a_torn_line_is_left_out() -> None:
    assert heard(Said({"is": "no"}, {"is": "note"}, Note("a"), Done())) == [Note("a"), Done()]


def test_paths_in_the_scratch_copy_are_turned_back() -> None:
    scratch = Scratch(Path("/project"), Path("/tmp/x/project"))
    assert heard(Said(Note("in /tmp/x/project/a.py"), Done()), scratch=scratch)[0] == Note("in /project/a.py")


def test_the_first_deadline_that_has_come_ends_the_worker() -> None:
    far, near = Deadline(1000.0, "took an hour"), Deadline(-1.0, "took too long")
    with pytest.raises(Death, match="took too long"):
        heard(Said(Note("a"), None), until=[far, near])
    assert (far.passed, near.passed) == (False, True)
    near.seconds = 1000.0
    near.renew()
    assert heard(Said(Note("a"), None, Done()), until=[near]) == [Note("a"), Done()]
