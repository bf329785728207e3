"""One run of `jaxlint verify`: what was asked, who is told, and what is known by now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from jaxlint.engine import CheckResult
from jaxlint_runtime.model import Result
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
from jaxlint_runtime.request import Request
from jaxlint_runtime.source_analysis.findings import as_records
from jaxlint_runtime.source_analysis.unused_after_call import callers_give_up


@dataclass(slots=True)
class Listener:
    """Who is told what happens: lines that stay, lines that pass, what the program prints."""

    note: Callable[[str], None] = lambda message: None
    progress: Callable[[str], None] = lambda message: None
    output: Callable[[str, bytes], None] = lambda stream, data: None


@dataclass(slots=True)
class Run:
    """What searches read, and where they say what they do. `document` is whole whenever it is printed."""

    request: Request
    listener: Listener = field(default_factory=Listener)
    document: Document = field(init=False)
    check: CheckResult | None = None  # what check says of the files that the program loaded
    run_seconds: float = 0.0  # that the program ran until it was captured

    def __post_init__(self) -> None:
        request = self.request
        self.document = Document(
            program={"kind": request.kind, "target": request.target, "arguments": list(request.arguments)},
            targets=list(request.targets),
        )

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
        """A line for the reader, now and in the report."""
        self.document.notes.append(message)
        self.listener.note(message)

    def fail(self, message: str) -> None:
        """The same, of what went wrong."""
        self.document.errors.append(message)
        self.listener.note(message)

    def report(self, result: Result, target: str | None = None) -> None:
        """Take in a result, on a function for a target or (None) on the whole program."""
        self.document.results.append((target or self.host_target, to_plain(result)))

    def hear(self, event: Event) -> None:
        """Take in what a worker says of the program and its functions."""
        match event:
            case Watch(functions, seconds):
                self.document.progressed(event)
                text = f"the program runs, {seconds:.0f} s"
                if functions:
                    busiest = max(functions, key=lambda one: one.calls)
                    text += f": {busiest.calls} calls of {busiest.function}"
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
        """What a worker is told of the source once it has run the program."""
        sources = self.check.sources if self.check is not None else {}
        records = as_records(self.check) if self.check is not None else []
        return Known(records, callers_give_up(self.document.functions, sources), go_on)
