"""The verdict on several processes: whether they kept the same order, otherwise which process left it, where,
and on which condition.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint_runtime.lockstep.batches import Batches
from jaxlint_runtime.lockstep.condition import Condition, condition
from jaxlint_runtime.lockstep.order import Launch, Order, Rank
from jaxlint_runtime.protocol.launch_records import Place
from jaxlint_runtime.wording.paths import display_path

_DIFFERENCE = 160  # characters of a line of StableHLO in a message


class Kind(enum.StrEnum):
    """The kinds of outcomes."""

    SAME = "same"
    DIVERGED = "diverged"  # two processes launch different programs
    ENDED = "ended"  # a process is through with the program, and others wait for it
    DIED = "died"
    STALLED = "stalled"  # a process launches nothing more, and others wait for it
    UNKNOWN = "unknown"  # it was ended before that could be told


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line, the processes that it is about, and the condition that separated them, if it is known."""

    kind: Kind
    message: str
    processes: tuple[int, ...] = ()
    apart: Condition | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Reads the user's files, and the StableHLO that the processes stored."""

    folder: Path
    _texts: dict[str, str | None] = field(default_factory=dict)

    def read(self, path: str) -> str | None:
        """The text of a file; None if it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = Path(path).read_text(encoding="utf-8")
            except (OSError, ValueError):
                self._texts[path] = None
        return self._texts[path]

    def program(self, digest: str) -> str | None:
        """The StableHLO of a program."""
        return self.read(str(self.folder / f"{digest}.mlir"))


def diverged(order: Order, processes: Sequence[int], source: Source) -> Verdict:
    """The verdict for processes that wait for one another in different programs."""
    launches = {one: launch for one in processes if (launch := order.ranks[one].intends) is not None}
    groups: dict[str, list[int]] = defaultdict(list)
    for process, launch in launches.items():
        groups[launch.program.hash].append(process)
    ranked = sorted(groups.values(), key=lambda group: (-len(group), group[0]))
    others, left = ranked[0], ranked[1]
    found = condition(launches[left[0]].stack, launches[others[0]].stack, source.read)
    # Of two processes that differ, the one inside an `if` has left, and the one that is out of a loop.
    if len(left) == len(others) and found is not None and (found.inside == 1) is not found.loops:
        others, left = left, others
        found = dataclasses.replace(found, inside=1 - found.inside)
    own, its = launches[left[0]], launches[others[0]]
    they = "it" if len(left) == 1 else "they"
    alike = (own.program.name, own.place) == (its.program.name, its.place)
    other = "another program of that line" if alike else named(its)
    message = (
        f"{_processes(left)} left the common order {_after(order.ranks[left[0]].met)}: {they} {_does(own, left)} {named(own)} "
        f"where {_processes(others)} {_does(its, others)} {other}"
    )
    why = _in_words(found, own.process, its.process)
    if own.stack == its.stack:
        why = _difference(own, its, source) or why
    return Verdict(Kind.DIVERGED, message, tuple(left), found, why)


def circle(order: Order) -> Verdict:
    """The verdict for processes that wait in a circle, in programs that span different processes."""
    launches = order.waiting()
    waits = ", ".join(f"process {one.process} in {named(one)}" for one in launches[:4])
    return Verdict(
        Kind.DIVERGED,
        f"the processes wait for one another in a cycle: {waits}",
        tuple(one.process for one in launches),
    )


def ended(order: Order, process: int, source: Source) -> Verdict:
    """The verdict for a process whose program has ended while others wait for it."""
    rank, waits = order.ranks[process], _who_waits(order, process)
    exits = rank.over is not None and "os._exit" in rank.over.message
    found = condition(waits.stack, None, source.read, exits)
    message = f"process {process} ended {_after(rank.met)}; {_waits(waits)}"
    return Verdict(Kind.ENDED, message, (process,), found, _in_words(found, waits.process, process))


def died(order: Order, process: int, rank: Rank) -> Verdict:
    """The verdict for a process that was killed, or whose program raised."""
    how = rank.over.message.removeprefix("the program ") if rank.over is not None else rank.death
    last = f", the last one {named(rank.last)}" if rank.last is not None else ""
    message = f"process {process} died {_after(len(rank.launches))}{last}: it {how}"
    return Verdict(Kind.DIED, message, (process,))


def stalled(order: Order, processes: Sequence[int], source: Source, seconds: float) -> Verdict:
    """The verdict for processes that others wait for, and that have launched nothing for so many seconds."""
    first = processes[0]
    rank, waits = order.ranks.get(first), _who_waits(order, first)
    standing = rank.standing if rank is not None else ()
    where = f" at {_place(standing[-1])}" if standing else ""
    verb = "stall" if len(processes) > 1 else "stalls"
    after = _after(rank.met if rank is not None else 0)
    message = f"{_processes(processes)} {verb}{where} for {seconds:.0f} s {after}; {_waits(waits)}"
    found = condition(waits.stack, standing, source.read) if standing else None
    return Verdict(Kind.STALLED, message, tuple(processes), found, _in_words(found, waits.process, first))


def silent(order: Order, processes: Sequence[int], seconds: float) -> Verdict:
    """The verdict for processes without a sign of life although all have launched the same programs: they
    stopped inside the last one.
    """
    last = order.ranks[processes[0]].last
    where = f" in {named(last)}" if last is not None else ""
    verb = "stall" if len(processes) > 1 else "stalls"
    message = f"{_processes(processes)} {verb}{where}, without an answer for {seconds:.0f} s"
    return Verdict(Kind.STALLED, message, tuple(processes))


def outside(rank: Rank) -> Verdict:
    """The verdict for a process that did not reach `jax.distributed.initialize` before the others gave up."""
    began = rank.began
    who = f"the process {began.pid} on {began.host}" if began else "a process"
    if rank.process is not None:
        who = f"process {rank.process}"
    where = f" at {_place(rank.standing[-1])}" if rank.standing else ""
    message = f"{who} stalls{where}; the others waited for it in jax.distributed.initialize and timed out"
    return Verdict(Kind.STALLED, message, () if rank.process is None else (rank.process,))


def same(order: Order, how: str) -> Verdict:
    """The verdict for processes that kept the same order as long as they ran."""
    count = len(order.ranks)
    if not order.started:
        return Verdict(Kind.SAME, f"no program spans the {count} processes, so none waits for another; {how}")
    return Verdict(
        Kind.SAME, f"{count} processes launched the same {_programs(order.started)} in step; {how}"
    )


def of_batches(batches: Batches) -> str:
    """The problem with the arrays that processes create from their own data, in words."""
    at, who = _place(batches.place), _processes(batches.processes)
    calls = f"{batches.calls} of {batches.of} calls" if batches.of > 1 else "the only call"
    if batches.copies:
        leaf = f" of {batches.leaf}" if batches.leaf else ""
        return f"{who} hold part [{batches.part}]{leaf} and gave different values for it at {at}, in {calls}"
    return f"{who} gave the same data for different parts of an array at {at}, in {calls}; give each its own part"


def named(launch: Launch) -> str:
    """A program and its line."""
    at = f" ({_place(launch.place)})" if launch.place is not None else ""
    return f"`{launch.program.name}`{at}"


def _place(place: Place) -> str:
    return f"{display_path(place.path)}:{place.line}"


def _programs(count: int) -> str:
    return f"{count} program{'' if count == 1 else 's'}"


def _after(count: int) -> str:
    return f"after {_programs(count)}" if count else "before its first program"


def _does(launch: Launch, who: Sequence[int]) -> str:
    one, more = ("compiles", "compile") if launch.compiles else ("launches", "launch")
    return one if len(who) == 1 else more


def _processes(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"process {numbers[0]}"
    shown = ", ".join(map(str, numbers[:-1][:6]))
    return f"processes {shown}{' ...' if len(numbers) > 7 else ''} and {numbers[-1]}"


def _who_waits(order: Order, process: int) -> Launch:
    return next(one for one in order.waiting() if process in one.program.processes)


def _waits(launch: Launch) -> str:
    return f"process {launch.process} waits for it in {named(launch)}"


def _in_words(found: Condition | None, own: int, other: int) -> str | None:
    if found is None:
        return None
    shown = f"`{found.text}` ({display_path(found.path)}:{found.line})"
    inside, outside = (own, other) if found.inside == 0 else (other, own)
    if found.sure:
        return f"process {inside} is inside {shown}, process {outside} is not"
    return f"what may set them apart: {shown}"


def _difference(own: Launch, its: Launch, source: Source) -> str | None:
    """How two programs of one line differ: in the types of their arguments, otherwise in the first line of StableHLO."""
    if own.program.arguments != its.program.arguments:
        return (
            f"the arguments differ: {own.program.arguments} in process {own.process}, "
            f"{its.program.arguments} in process {its.process}"
        )
    texts = [source.program(one.program.hash) for one in (own, its)]
    if texts[0] is None or texts[1] is None:
        return None
    lines = zip(texts[0].splitlines(), texts[1].splitlines(), strict=False)
    first = next((pair for pair in lines if pair[0] != pair[1]), None)
    if first is None:
        return (
            "the programs are equal and their devices differ: perhaps not all processes build the same mesh"
        )
    mine, theirs = (line.strip()[:_DIFFERENCE] for line in first)
    return f"the programs differ in `{mine}` in process {own.process}, `{theirs}` in process {its.process}"
