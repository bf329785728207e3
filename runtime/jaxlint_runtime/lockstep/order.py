"""Simulates the launches of several processes from their records: a program starts when it is the next one in
all processes that it spans.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from jaxlint_runtime.protocol.launch_records import (
    Began,
    Compiled,
    Compiling,
    HostData,
    Joined,
    Launched,
    Over,
    Place,
    Program,
    Record,
    Stack,
    Stands,
)

Places = tuple[Place, ...]


@dataclass(slots=True)
class Rank:
    """The known state of one process. All spanned processes have made the first `met` of its launches."""

    began: Began | None = None
    process: int | None = None
    processes: int = 0
    programs: dict[int, Program] = field(default_factory=dict)
    stacks: dict[int, Places] = field(default_factory=dict)
    launches: list[Launched] = field(default_factory=list)
    host_data: list[HostData] = field(default_factory=list)
    met: int = 0
    compiling: Compiling | None = None
    compiled: dict[str, Compiled] = field(default_factory=dict)  # by the hash of a program
    stands: Stands | None = None  # since its last launch
    over: Over | None = None
    launched_until_over: int = 0
    death: str | None = None  # how it died, in words
    failed: float | None = None  # when it was first seen to have failed
    heard: float = 0.0  # when it last said anything
    moved: float = 0.0  # when it last launched or compiled something

    def hear(self, record: Record, now: float) -> None:
        """Adds the next record of its file."""
        self.heard = now
        match record:
            case Began():
                self.began = record
                if record.started_as is not None:
                    self.process = record.started_as
            case Joined(process, processes):
                self.process, self.processes = process, processes
            case Compiling():
                self.compiling, self.moved = record, now
            case Compiled(program):
                self.compiling, self.moved = None, now
                if program is not None:
                    self.compiled[self.programs[program].hash] = record
            case Program():
                self.programs[record.number] = record
            case Stack(number, places):
                self.stacks[number] = tuple(places)
            case Launched():
                self.launches.append(record)
                self.stands, self.moved = None, now
            case HostData():
                self.host_data.append(record)
            case Stands():
                self.stands = record
            case Over():
                self.over, self.launched_until_over = record, len(self.launches)
                if self.failed is None and (record.raised or record.status):
                    self.failed = now
            case _:
                pass

    def die(self, how: str, now: float) -> None:
        """Records how it died, unless its own records say how it ended."""
        if self.over is None and self.death is None:
            self.death, self.failed = how, now

    def launched(self, number: int) -> Launch:
        """One of its launches; negative numbers count from the end."""
        one = self.launches[number]
        return Launch(self.process or 0, self.programs[one.program], self.stacks.get(one.stack, ()))

    @property
    def next(self) -> Launch | None:
        """The first launch that other processes have not made."""
        return self.launched(self.met) if self.met < len(self.launches) else None

    @property
    def at_exit(self) -> bool:
        """Whether `next` was launched after the end of the program, by an exit handler."""
        return self.over is not None and self.met >= self.launched_until_over

    @property
    def intends(self) -> Launch | None:
        """The next launch, or the program that it is compiling: on GPUs, processes that compile a program
        also wait for one another.
        """
        one = self.compiling
        if self.met < len(self.launches) or one is None or one.program is None:
            return self.next
        return Launch(
            self.process or 0, self.programs[one.program], self.stacks.get(one.stack, ()), compiles=True
        )

    @property
    def last(self) -> Launch | None:
        """Its last launch, whether or not others have made it."""
        return self.launched(-1) if self.launches else None

    @property
    def standing(self) -> Places:
        """Its position: the stack of its thread when it was last seen waiting, otherwise that of its last launch."""
        if self.stands is not None:
            return self.stacks.get(self.stands.stack, ())
        return self.last.stack if self.last is not None else ()

    @property
    def computes(self) -> bool:
        """Whether it was last seen inside JAX, or compiling."""
        return self.compiling is not None or (self.stands is not None and self.stands.inside)


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that a process launches, or compiles in order to launch it, and the stack."""

    process: int
    program: Program
    stack: Places
    compiles: bool = False  # it is not launched yet

    @property
    def place(self) -> Place | None:
        """The line in the user's code."""
        return self.stack[-1] if self.stack else None


class Order:
    """All processes of a program, as far as their records have been read."""

    def __init__(self) -> None:
        self.ranks: dict[int, Rank] = {}
        self.started = 0  # programs that all of their processes have launched
        # By the spanned processes and the hash: the processes for which it is the next program.
        self._arrived: dict[tuple[int, ...], dict[str, set[int]]] = defaultdict(dict)

    def add(self, rank: Rank) -> None:
        """Adds a process whose number is known."""
        self.ranks[rank.process or 0] = rank

    def advance(self, process: int) -> tuple[int, ...]:
        """Continues after new launches of `process`. Returns the processes that cannot meet; () if all is well so far."""
        todo = [process]
        while todo:
            one = todo.pop()
            launch = self.ranks[one].next
            if launch is None:
                continue
            spanned = launch.program.processes
            arrived = self._arrived[spanned]
            arrived.setdefault(launch.program.hash, set()).add(one)
            if len(arrived[launch.program.hash]) == len(spanned):
                self.started += 1
                del self._arrived[spanned]
                for each in spanned:
                    self.ranks[each].met += 1
                todo.extend(spanned)
            elif apart := self._apart(spanned):
                return apart
        return ()

    def _apart(self, spanned: tuple[int, ...]) -> tuple[int, ...]:
        """Processes that wait for one another in different programs."""
        here = self._arrived[spanned]
        if len(here) > 1:
            return tuple(sorted(set().union(*here.values())))
        waiting = set().union(*here.values())
        for other, arrived in self._arrived.items():
            if other == spanned or not arrived:
                continue
            there = set().union(*arrived.values())
            if waiting & set(other) and there & set(spanned):
                return tuple(sorted((waiting & set(other)) | (there & set(spanned))))
        return ()

    def waiting(self) -> list[Launch]:
        """Launches that other processes have not made."""
        return [one for rank in self.ranks.values() if (one := rank.next) is not None]

    def crossed(self) -> tuple[int, ...]:
        """Processes that launch or compile different programs which each need the other process."""
        intents = [one for rank in self.ranks.values() if (one := rank.intends) is not None]
        for number, one in enumerate(intents):
            for other in intents[number + 1 :]:
                needed = one.process in other.program.processes and other.process in one.program.processes
                if needed and one.program.hash != other.program.hash:
                    return one.process, other.process
        return ()

    def missing(self) -> list[int]:
        """Processes that others wait for and that wait for nobody."""
        awaited = {process for launch in self.waiting() for process in launch.program.processes}
        return sorted(
            process for process in awaited if (rank := self.ranks.get(process)) is None or rank.next is None
        )
