"""One run of `jaxlint verify`: the request, the listener, and the results so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from jaxlint.engine import CheckResult
from jaxlint_runtime.model import Result
from jaxlint_runtime.proof_cache.proof_entries import ProofCache, opened
from jaxlint_runtime.proof_cache.shared_store import Unusable
from jaxlint_runtime.protocol.jobs import Known
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.protocol.worker_events import (
    Constants,
    Decided,
    Event,
    Inspected,
    Note,
    Peaks,
    Progress,
    Sharding,
    Watch,
)
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.request import CannotRun, Request
from jaxlint_runtime.source_analysis.findings import as_records
from jaxlint_runtime.source_analysis.unused_after_call import dead_arguments_of_callers
from jaxlint_runtime.spent import Spent

_LEAST_PRICE = 30.0  # seconds of processor time: the program itself may take less than its imports
TOO_DEAR = "it would take more than {:g} times the processor time of the program (--budget gives it more)"


@dataclass(slots=True)
class Listener:
    """The receiver of messages: permanent lines, passing lines, the program's output."""

    note: Callable[[str], None] = lambda message: None
    progress: Callable[[str], None] = lambda message: None
    output: Callable[[str, bytes], None] = lambda stream, data: None


@dataclass(slots=True)
class Run:
    """The data that searches read, and the place where they report. `document` can be printed at any time."""

    request: Request
    listener: Listener = field(default_factory=Listener)
    document: Document = field(init=False)
    check: CheckResult | None = None  # the findings of check in the files that the program loaded
    run_seconds: float = 0.0  # that the program ran until the end of the capture
    start_seconds: float = 0.0  # of that, until its first compile
    packages: str = ""  # the digest of the program's interpreter and packages
    proofs: ProofCache | None = field(init=False)  # None: nothing is reused or stored

    @property
    def spent(self) -> Spent:
        """What this run has spent its time on."""
        return self.document.spent

    def __post_init__(self) -> None:
        request = self.request
        self.document = Document(
            program={
                "kind": request.kind,
                "target": request.target,
                "arguments": list(request.arguments),
                "also": [list(one) for one in request.also],
            },
            targets=list(request.targets),
        )
        try:
            self.proofs = opened(request.shared_proofs) if request.proofs else None
        except Unusable as error:
            raise CannotRun(str(error)) from None

    @property
    def allowance(self) -> float:
        """The processor time that is left, in seconds; infinite if nothing limits it."""
        price, program = self.request.price, self.spent.program_s
        if price is None or program is None:
            return math.inf
        return max(price * program, _LEAST_PRICE) - self.spent.now()

    def too_dear(self) -> str:
        """Why something is not done that would exceed `allowance`."""
        return TOO_DEAR.format(self.request.price or 0.0)

    @property
    def fails(self) -> bool:
        """Whether the program ended with an exception."""
        ending = self.document.ending
        return ending is not None and ending["how"] == "raised"

    @property
    def host_target(self) -> str:
        """The target that whole programs run on."""
        return next((name for name in self.document.targets if ":" not in name), "cpu")

    def say(self, message: str) -> None:
        """Shows a line, on the terminal and in the report."""
        self.document.notes.append(message)
        self.listener.note(message)

    def fail(self, message: str) -> None:
        """Shows an error, on the terminal and in the report."""
        self.document.errors.append(message)
        self.listener.note(message)

    def report(self, result: Result, target: str | None = None) -> None:
        """Records a result about a function for a target or (None) about the whole program."""
        self.document.results.append((target or self.host_target, to_plain(result)))

    def hear(self, event: Event) -> None:
        """Records a worker's event about the program and its functions."""
        match event:
            case Watch(functions, seconds):
                self.document.progressed(event)
                text = f"the program runs, {seconds:.0f} s"
                if functions:
                    busiest = max(functions, key=lambda one: one.calls)
                    text += f": {busiest.calls} call{'s' if busiest.calls != 1 else ''} of {busiest.function}"
                self.listener.progress(text)
            case Note(message):
                self.say(message)
            case Progress(message):
                self.listener.progress(message)
            case Constants():
                self.document.learned(event)
            case Inspected():
                self.document.inspected(event)
            case Sharding(target, sharding):
                self.document.shardings.append((target, sharding))
            case Peaks(target, peaks):
                self.document.peaks[target] = peaks
            case Decided(target, result):
                self.report(result, target)

    def known(self, go_on: bool = True) -> Known:
        """The facts about the source for a worker that has run the program."""
        sources = self.check.sources if self.check is not None else {}
        records = as_records(self.check) if self.check is not None else []
        return Known(records, dead_arguments_of_callers(self.document.functions, sources), go_on)
