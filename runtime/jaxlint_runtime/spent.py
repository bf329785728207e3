"""What a run of `verify` spends its time on: seconds and processor time by phase, of all its processes."""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psutil  # type: ignore[import-untyped]

CAPTURE = "the program, for its calls"
SEARCH = "check and the search for edits"
LOWERING = "lowering candidates of functions"
MEASURING = "measuring candidates of functions"
IMPORTS = "imports, shared by whole runs"
ORIGINAL = "the original, to compare with"
EDITED = "edited programs"
ROUNDING = "further runs, for rounding"
PAIRS = "pairs of runs, for the time"
WRITING = "trials before writing"
AGAIN = "the written program, for more"

# Long-lived children with a phase of their own, which work beside other phases.
_APART: dict[int, str] = {}


def apart(pid: int, phase: str) -> None:
    """A child of this process works for `phase`, whichever phase is the current one."""
    _APART[pid] = phase


@dataclass(slots=True)
class Phase:
    """The sum of the parts of a run with one purpose. Times in seconds; `processor_s` is that of all processes."""

    seconds: float = 0.0
    processor_s: float = 0.0
    times: int = 0  # how often it was entered


@dataclass(slots=True)
class Spent:
    """The phases of one run, in the order of their first use."""

    phases: dict[str, Phase] = field(default_factory=dict)
    program_s: float | None = None  # processor time of the captured run of the program
    _open: list[str] = field(default_factory=list)
    _whole: bool = False
    _since: tuple[float, float] = (0.0, 0.0)
    _seen: dict[int, float] = field(default_factory=dict)  # processor time of the children apart

    @contextlib.contextmanager
    def phase(self, name: str, whole: bool = False) -> Iterator[None]:
        """Counts the block for a phase, and not for the phase around it. `whole`: phases inside count for this one."""
        if self._whole or (self._open and self._open[-1] == name):
            yield
            return
        self._settle()
        self._open.append(name)
        self._whole = whole
        self.phases.setdefault(name, Phase()).times += 1
        try:
            yield
        finally:
            self._settle()
            self._whole = False
            self._open.pop()

    def turn(self, name: str) -> None:
        """The rest of the current phase is another one."""
        if not self._whole and self._open and self._open[-1] != name:
            self._settle()
            self._open[-1] = name
            self.phases.setdefault(name, Phase()).times += 1

    def now(self) -> float:
        """Processor time so far."""
        self._settle()
        return self.whole.processor_s

    @property
    def whole(self) -> Phase:
        """The sum of all phases."""
        phases = self.phases.values()
        return Phase(sum(one.seconds for one in phases), sum(one.processor_s for one in phases))

    def as_json(self) -> list[dict[str, Any]]:
        """The phases that took time."""
        return [
            {"phase": name, "seconds": one.seconds, "processor_s": one.processor_s, "times": one.times}
            for name, one in self.phases.items()
            if one.seconds or one.processor_s
        ]

    def _settle(self) -> None:
        """Adds what passed since the last change of phase to the current one."""
        now, used = time.monotonic(), self._processor()
        if self._open:
            phase = self.phases[self._open[-1]]
            phase.seconds += now - self._since[0]
            phase.processor_s += max(0.0, used - self._since[1])
        self._since = now, used

    def _processor(self) -> float:
        """Processor time of this process and its children until now, without those that count apart."""
        total = 0.0
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            used = resource.getrusage(who)
            total += used.ru_utime + used.ru_stime
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                used = child.cpu_times()
                whole = used.user + used.system + used.children_user + used.children_system
                total += whole
                if child.pid in _APART:
                    self._count_apart(child.pid, whole)
        return total - sum(self._seen.values())

    def _count_apart(self, pid: int, used: float) -> None:
        phase = self.phases.setdefault(_APART[pid], Phase())
        phase.times += pid not in self._seen
        phase.processor_s += used - self._seen.get(pid, 0.0)
        self._seen[pid] = used
