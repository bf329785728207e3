"""The function behind `jaxlint verify --processes` and `--launcher`: proves candidates of a program of several processes in
all of them at once."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.source.file import SourceFile
from jaxlint_runtime.lockstep.batches import compared
from jaxlint_runtime.lockstep.verdict import Kind, of_batches
from jaxlint_runtime.lockstep_run import LockstepRun
from jaxlint_runtime.protocol.jobs import Capture, Known
from jaxlint_runtime.protocol.worker_events import Captured, Event
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.request import CannotRun, InStep, Request, validate
from jaxlint_runtime.rewrites.printed_output import differs
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers.process_group import Death
from jaxlint_runtime.workers.scratch_copy import Scratch

_RANK = re.compile(rb"^\[(\d+)\] ")
_GLOO = b"[Gloo]"  # messages of the CPU collectives on stdout when they connect, from several threads
_ALL = -1  # stands for the number of a process


@dataclass(slots=True)
class AcrossRun(Verification):
    """One `verify` run of a program of several processes. The program runs to its end."""

    how: InStep = field(default_factory=lambda: InStep(stall=30.0))
    follows: bool = False  # the command of process 0 decides and reports
    parted: bool = False  # a process died, hangs, or launched other programs
    # To stdout, by process; of those that a launcher starts, whose lines come in any order, all as one.
    printed: dict[int, bytes] = field(default_factory=lambda: defaultdict(bytes))
    edited: dict[int, bytes] = field(default_factory=dict)  # the same, of the last edited program

    @property
    def wants_source(self) -> bool:
        """Edits of the source are only tried on programs of one process."""
        return False

    @property
    def copies(self) -> Path | None:
        """A launcher may start processes on other machines, which share the working folder or --shared."""
        return Path(self.how.shared or ".").absolute() if self.how.launcher else None

    def run(self) -> Document:
        """Runs the program and proves the candidates of the functions that span processes. Raises CannotRun."""
        validate(self.request)
        if self.how.step is None or self.how.step.first:
            self.listener.note(
                f"running {self.request.target} in {self.how.counted} to its end, at most {self.request.timeout:g} s"
            )
        self.attempt(self.request.capture(), None)
        return self.document

    def attempt(self, job: Capture, scratch: Scratch | None) -> Death | None:
        """One run of all processes, and of the proofs in them."""
        until = dataclasses.replace(job.until, calls=None, settle=False, run_for=None)
        steps = LockstepRun(
            dataclasses.replace(self.request, run_for=None),
            self.how,
            dataclasses.replace(self.listener, output=self._output),
            dataclasses.replace(job, until=until),
            self._answered,
            scratch,
        )
        self.document.program["processes"] = self.how.processes
        self.document.program["joins"] = self.how.joins
        verdict = steps.run()
        self.follows, self.document.interrupted = steps.follows, steps.interrupted
        self.parted = verdict.kind is not Kind.SAME
        if self.follows:
            return None
        for batches in compared(steps.order) if self.examine else ():
            self.say(of_batches(batches))
        if not self.parted:
            self.say(verdict.message)
        elif self.document.ran or not self.examine:
            self.fail(verdict.message)
        elif not self.document.interrupted:
            raise CannotRun(f"{self.request.target}: {verdict.message}")
        return None

    def trial(self, request: Request) -> AcrossRun:
        """A run of all processes of an edited program, whose output is kept apart."""
        quiet = dataclasses.replace(self.listener, output=lambda stream, data: None)
        trial = AcrossRun(request, quiet, examine=False, how=self.how)
        self.edited = trial.printed
        return trial

    def values_of(
        self,
        sources: Mapping[str, SourceFile],
        functions: Sequence[tuple[str, str]],
        dtype: str | None = None,
    ) -> str | None:
        """Whether the edited program printed other lines. The results of its functions were compared in the proofs."""
        for process in sorted({*self.printed, *self.edited}):
            before, after = (_text(side, process) for side in (self.printed, self.edited))
            if (other := differs(before, (), after)) is not None:
                return (
                    f"in one of its processes {other}" if process == _ALL else f"in process {process} {other}"
                )
        return None

    def _output(self, stream: str, data: bytes) -> None:
        if stream == "stdout" and self.how.launcher:
            self.printed[_ALL] += data
        elif stream == "stdout":
            for line in data.splitlines(keepends=True):
                if _GLOO not in line and (rank := _RANK.match(line)) is not None:
                    self.printed[int(rank[1])] += line[rank.end() :]
        self.listener.output(stream, data)

    def _answered(self, event: Event) -> Known | None:
        """Handles an event of process 0; returns the facts from the source once the loaded files are known."""
        if isinstance(event, Captured):
            self._captured(event)
            return self.known()
        self.hear(event)
        return None


def _text(printed: Mapping[int, bytes], process: int) -> str:
    """The output of one process; for all processes together, the lines in a fixed order."""
    text = printed.get(process, b"")
    if process == _ALL:
        text = b"\n".join(sorted(line for line in text.splitlines() if _GLOO not in line))
    return text.decode(errors="replace")
