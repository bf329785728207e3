"""The messages between the command line and a process that forks workers: one JSON line each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from jaxlint_runtime.protocol.json_records import Message, one_of

# Settings of JAX's compilation cache that a fork may have and its parent process may not.
CACHE = "JAX_COMPILATION_CACHE_DIR"
LEAST_COMPILE = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"


@dataclass(frozen=True, slots=True)
class Warm(Message):
    """The first line: what to import before the first fork."""

    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StartFork(Message):
    """Fork a worker. Its output, errors, jobs and events use the descriptors that are sent along, in this order."""

    folder: str
    parent: int  # the process that adopts it
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported(Message):
    """It is ready to fork, and has loaded these files."""

    files: list[str]


@dataclass(frozen=True, slots=True)
class Refused(Message):
    """It must not fork."""

    reason: str


@dataclass(frozen=True, slots=True)
class Forked(Message):
    """A worker runs, as an orphan."""

    pid: int


def read_answer(text: bytes) -> Imported | Refused | Forked:
    """A line of that process. Raises ValueError."""
    found: Imported | Refused | Forked = one_of((Imported, Refused, Forked), json.loads(text))
    return found
