"""An errand: a separate process, here or on another machine, tries the candidates of one function for one
target.

The process receives one `Errand` and writes one event a line: `Begun` first, and then the events of the
search (`worker_events`). The job that runs it adds `Done` once the process has ended. An errand that compiles placements
searches nothing: it receives questions, one a line, and answers them until it is ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.protocol.jobs import Trying
from jaxlint_runtime.protocol.json_records import Message, from_plain, one_of
from jaxlint_runtime.protocol.worker_events import KINDS, Event, Left
from jaxlint_runtime.targets import parse


@dataclass(frozen=True, slots=True)
class Placing:
    """The mesh and the targets of the placements that an errand compiles."""

    mesh: tuple[tuple[str, int], ...]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Errand:
    """The function to search, and the limits. Times in seconds, sizes in bytes."""

    left: Left
    trying: Trying
    timeout: float
    run_seconds: float  # that the program ran; long programs are not run again
    memory_limit: int | None = None
    seconds_left: float | None = None  # of --budget
    python: str | None = None  # the interpreter of the program; None: the one that runs the errand
    peaks: bool = False  # also report the target's peak figures
    versions: dict[str, str] = field(default_factory=dict)  # that the artefacts were written with
    placing: Placing | None = None  # instead of a search: compiles placements as they are asked for

    @property
    def only_compiles(self) -> bool:
        """Whether it runs nothing, so that it needs no device and disturbs nobody's times."""
        return self.placing is not None or parse(self.left.target).compile_only


@dataclass(frozen=True, slots=True)
class Begun(Message):
    """The errand has started on a machine."""

    host: str


@dataclass(frozen=True, slots=True)
class Alive(Message):
    """A sign of life, every few seconds."""


@dataclass(frozen=True, slots=True)
class Deferred(Message):
    """These candidates on top of those of `base` need another run of the program, for `reason`."""

    parts: tuple[str, ...]
    base: tuple[str, ...]
    reason: str


ErrandEvent = Event | Begun | Alive | Deferred
_KINDS: tuple[Any, ...] = (*KINDS, Begun, Alive, Deferred)


def read_errand(text: str) -> Errand:
    """The errand. Raises ValueError if another version wrote it."""
    return from_plain(Errand, json.loads(text))


def read_line(plain: Mapping[str, Any]) -> ErrandEvent:
    """The event in a line. Raises ValueError."""
    found: ErrandEvent = one_of(_KINDS, plain)
    return found
