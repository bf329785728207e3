"""The records that one of several processes writes while its program runs: one JSON line each, in the order of events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from jaxlint_runtime.protocol.jobs import Capture, Known, Launch
from jaxlint_runtime.protocol.json_records import Message, Plain, from_plain, one_of

JOB, STOP, ALIVE, KNOWN = "job.json", "stop", "alive", "known.json"  # files in the shared folder
SUFFIX = ".jsonl"  # of the lists


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's code, and its function."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class RankJob:
    """The job of each process: the program, and how the processes that jaxlint starts find each other."""

    launch: Launch
    coordinator: str | None = None  # HOST:PORT; None: the launcher and the program settle it
    processes: int | None = None
    run_folder: str | None = None  # of temporary files, which go with processes whose command line was killed
    proving: Capture | None = None  # how candidates are proven once the program has ended; None: they are not


@dataclass(frozen=True, slots=True)
class Began(Message):
    """The first record. `started_as`: its number, if jaxlint started it."""

    host: str
    pid: int
    started_as: int | None = None


@dataclass(frozen=True, slots=True)
class Joined(Message):
    """`jax.distributed.initialize` has returned."""

    process: int
    processes: int


@dataclass(frozen=True, slots=True)
class Alone(Message):
    """A program was compiled before `jax.distributed.initialize` was called, so it will never be called."""


@dataclass(frozen=True, slots=True)
class Compiling(Message):
    """A compile begins; it ends with `Compiled`. `program`: its number, if it spans processes."""

    name: str
    program: int | None = None
    stack: int = 0


@dataclass(frozen=True, slots=True)
class Compiled(Message):
    """A compile has ended or failed."""

    program: int | None = None
    collectives: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    bytes: int | None = None  # on one device of this process, by its compiler
    donated: int | None = None  # of them: what results take over from arguments


@dataclass(frozen=True, slots=True)
class Program(Message):
    """A program that spans processes, before it is compiled. `number` counts within this process."""

    number: int
    name: str
    hash: str  # of StableHLO and devices
    processes: tuple[int, ...]
    arguments: str = ""  # their types in StableHLO, if these are short


@dataclass(frozen=True, slots=True)
class Stack(Message):
    """A stack of the user's lines, the outermost first. `number` counts within this process."""

    number: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Launched(Message):
    """A program that spans processes is about to run."""

    program: int
    stack: int


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of an array that a process provided: `place` is its position, `digest` that of its values.
    `constant`: all its numbers are equal.
    """

    place: str
    digest: str
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """An array that spans processes, by its place in a tree, and the parts that this process provided."""

    name: str
    shards: tuple[Shard, ...]


@dataclass(frozen=True, slots=True)
class HostData(Message):
    """One call that put data of this process into arrays that span processes."""

    stack: int
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Stands(Message):
    """The position of the main thread when it has launched nothing for a while. `inside`: in JAX, called from that line."""

    stack: int
    inside: bool


@dataclass(frozen=True, slots=True)
class Tick(Message):
    """The process is alive."""


@dataclass(frozen=True, slots=True)
class Over(Message):
    """The program ended in this process. `raised`: with an exception."""

    status: int
    message: str
    raised: bool = False


@dataclass(frozen=True, slots=True)
class Told(Message):
    """An event of `protocol.worker_events` about candidates, in the form of its line. Only process 0 sends them."""

    event: Plain


Record = (
    Began
    | Joined
    | Alone
    | Compiling
    | Compiled
    | Program
    | Stack
    | Launched
    | HostData
    | Stands
    | Tick
    | Over
    | Told
)


def read_record(line: bytes) -> Record:
    """One line. Raises ValueError if it is incomplete or of another version."""
    found: Record = one_of(Record.__args__, json.loads(line))  # type: ignore[attr-defined]
    return found


def read_known(text: str) -> Known:
    """The record that `encode` wrote. Raises ValueError."""
    return from_plain(Known, json.loads(text))


def read_job(text: str) -> RankJob:
    """The job that `encode` wrote. Raises ValueError."""
    return from_plain(RankJob, json.loads(text))
