"""The proofs of one function in the proof cache: read before a measuring process is started, and stored when
it answers.

A function is identified by the digest of its programs, inputs and candidates. If its lines have moved since,
the lines in stored results move with them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.proof_cache.proof_entries import Entry, ProofCache
from jaxlint_runtime.protocol.jobs import Trying
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.protocol.worker_events import (
    KINDS,
    Constants,
    Decided,
    Event,
    Inspected,
    Left,
    Peaks,
    Proven,
    Ready,
    read_event,
)
from jaxlint_runtime.run import Run
from jaxlint_runtime.targets import parse

_READY, _ERRAND = "ready", "errand"
Places = list[tuple[str, int]]


class StoredProofs:
    """The stored answers about one function for one target. `hear` receives the events that were stored with them."""

    def __init__(self, entry: Entry, left: Left, hear: Callable[[Event], None]) -> None:
        self._entry = entry
        self._left = left
        self._hear = hear

    def ready(self) -> Ready | None:
        """The facts about the original; None if they are unknown."""
        found = self._answer(_READY, Ready)
        return found[0] if found is not None else None

    def proven(self, parts: Sequence[str], base: Sequence[str]) -> Result | None:
        """The proof of these candidates by an earlier run; None if there is none."""
        found = self._answer(_question(parts, base), Proven)
        if found is None:
            return None
        answer, date = found
        return dataclasses.replace(answer.result, earlier=date)

    def keep_ready(self, ready: Ready, told: Iterable[Event]) -> None:
        """Stores the facts about the original."""
        if ready.cost is not None and all(one.status is not Status.FAILED for one in ready.results):
            self._keep(_READY, ready, told)

    def keep_proven(
        self, parts: Sequence[str], base: Sequence[str], result: Result, told: Iterable[Event]
    ) -> None:
        """Stores a proof. One that failed is not stored: it may have lacked memory, and is tried again."""
        if result.status is not Status.FAILED:
            self._keep(_question(parts, base), Proven(result), told)

    def errand(self) -> list[Event] | None:
        """All events of an earlier job for this function; None if there was none."""
        found = self._told(_ERRAND)
        if found is None:
            return None
        _, told, date = found
        return [
            dataclasses.replace(one, result=dataclasses.replace(one.result, earlier=date))
            if isinstance(one, Decided)
            else one
            for one in told
        ]

    def keep_errand(self, told: Sequence[Any]) -> None:
        """Stores the events of a job. Failures are not stored, since they may not recur, nor is deferred
        work, which is not done.
        """
        decided = [one.result.status for one in told if isinstance(one, Decided)]
        if decided and Status.FAILED not in decided and all(isinstance(one, KINDS) for one in told):
            self._keep(_ERRAND, None, told)

    def _keep(self, question: str, answer: Ready | Proven | None, told: Iterable[Event]) -> None:
        kept = [to_plain(one) for one in told]
        self._entry.keep(
            question, {"answer": to_plain(answer), "told": kept, "places": to_plain(self._left.places)}
        )

    def _answer(self, question: str, kind: type[Any]) -> tuple[Any, str] | None:
        found = self._told(question)
        if found is None:
            return None
        stored, told, date = found
        try:
            answer = read_event(stored)
            if not isinstance(answer, kind):
                return None
            answer = self._here(answer)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        for one in told:
            self._hear(one)
        return answer, date

    def _told(self, question: str) -> tuple[Any, list[Event], str] | None:
        """The stored answer, its events with the present lines, and the date."""
        found = self._entry.answer(question)
        if found is None:
            return None
        stored, date = found
        try:
            before = [(str(path), int(line)) for path, line in stored["places"]]
            now = self._left.places
            if len(before) != len(now):
                return None
            moved = dict(zip(before, now, strict=True))
            told = [self._told_here(read_event(one), moved) for one in stored["told"]]
            return stored["answer"], told, date
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def _here(self, answer: Any) -> Any:
        """The answer with the present place of the function."""
        if isinstance(answer, Proven):
            return Proven(self._of_this(answer.result))
        return dataclasses.replace(answer, results=[self._of_this(one) for one in answer.results])

    def _of_this(self, result: Result) -> Result:
        left = self._left
        return dataclasses.replace(result, function=left.function, path=left.path, line=left.line)

    def _told_here(self, event: Event, moved: dict[tuple[str, int], tuple[str, int]]) -> Event:
        left = self._left
        if isinstance(event, Constants):
            return dataclasses.replace(event, path=left.path, line=left.line)
        if isinstance(event, Decided):
            return dataclasses.replace(event, result=self._of_this(event.result))
        if isinstance(event, Inspected):
            overview = _moved(event.overview, moved)
            return dataclasses.replace(
                event, function=left.function, path=left.path, line=left.line, overview=overview
            )
        return event


def stored_proofs(run: Run, trying: Trying, left: Left) -> StoredProofs | None:
    """The stored proofs of a function; None without a cache, or if the function was not exported."""
    return _stored(run, "function", trying, left, run.document.device)


def stored_errand(run: Run, trying: Trying, left: Left) -> StoredProofs | None:
    """The results of an earlier job for a function; None as for `stored_proofs`. Its times are valid for jobs
    of the same engine.
    """
    return _stored(run, "errand", trying, left, run.document.device, to_plain(run.request.workers))


def _stored(run: Run, kind: str, trying: Trying, left: Left, *where: Any) -> StoredProofs | None:
    """The entry of a function. `where` and this machine identify the place for which its times are valid;
    without times it is valid everywhere.
    """
    proofs = run.proofs
    if proofs is None or not left.content or left.refused is not None or trying.dump or trying.trace:
        return None
    entry = proofs.entry(
        kind,
        left.content,
        left.target,
        sorted(left.environment.items()),
        run.packages,
        to_plain(trying),
        [] if parse(left.target).compile_only else [*where, *proofs.machine()],
    )
    return StoredProofs(entry, left, run.hear)


def peaks_of_target(run: Run, target: str) -> None:
    """Stores the peak figures of a target, or reads those of an earlier run."""
    if run.proofs is None:
        return
    entry = run.proofs.entry("peaks", target, run.packages, run.document.device, run.proofs.machine())
    known = run.document.peaks.get(target)
    if known is not None:
        entry.keep("peaks", known)
    elif (found := entry.answer("peaks")) is not None and isinstance(found[0], dict):
        run.hear(Peaks(target, found[0]))


def stored_calls(run: Run) -> tuple[tuple[str, str, int], ...]:
    """The calls whose inputs an earlier run of the same command captured: path, function and number. With
    other inputs, nothing could be reused.
    """
    found = None if run.proofs is None else _calls(run, run.proofs).answer("calls")
    project = run.request.project()
    try:
        taken = found[0] if found else ()
        return tuple((os.path.join(project, path), str(name), int(number)) for path, name, number in taken)
    except (ValueError, TypeError):
        return ()


def keep_calls(run: Run) -> None:
    """Stores the calls whose inputs this run captured."""
    if run.proofs is None:
        return
    with contextlib.suppress(OSError):  # the program removed its folder; the end of the run reports that
        project = run.request.project()
        taken = [
            (_below(one["path"], project), one["function"], one["captured_call"])
            for one in run.document.functions
        ]
        _calls(run, run.proofs).keep("calls", [call for call in taken if call[2]])


def _calls(run: Run, proofs: ProofCache) -> Entry:
    request = run.request
    folder = os.getcwd()
    if proofs.shared is not None:  # others have the project elsewhere
        folder = f"{request.project().name} {_below(folder, request.project())}"
    return proofs.entry("calls", request.kind, request.target, request.arguments, folder)


def _below(path: str, project: Path) -> str:
    """A path relative to the project, if it lies inside."""
    return os.path.relpath(path, project) if Path(path).is_relative_to(project) else path


def _question(parts: Sequence[str], base: Sequence[str]) -> str:
    return f"{' + '.join(parts)} on {' + '.join(base) or 'the original'}"


def _moved(value: Any, places: dict[tuple[str, int], tuple[str, int]]) -> Any:
    """The same data with the present lines."""
    if isinstance(value, list):
        return [_moved(one, places) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _moved(one, places) for key, one in value.items()}
    for prefix in ("", "peak_"):
        known = value.get(f"{prefix}path"), value.get(f"{prefix}line")
        if known in places:
            found[f"{prefix}path"], found[f"{prefix}line"] = places[known]
    return found
