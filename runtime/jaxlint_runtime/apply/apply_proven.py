"""`jaxlint verify --apply`: writes proven donations and rematerialised scans to the source, after the whole edited
program ran.

The edits are first tried in a scratch copy: the program must end as before, and the edited function must show the
gain again. Only edits that pass are written to the user's files, all at once, with the originals in a journal until
that is done.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from jaxlint.codemods import Refused
from jaxlint.source import SourceError
from jaxlint.source.journal import write_together
from jaxlint.source.write import Change
from jaxlint_runtime.apply.edit_trials import Verdict, try_all
from jaxlint_runtime.apply.writable import Edit, changes_of, choose, not_to_be_changed, record
from jaxlint_runtime.optimiser_settings import LEAST_SAVED, PROGRAM, TRANSFORMS
from jaxlint_runtime.protocol.report_forms import ResultJson
from jaxlint_runtime.request import CannotRun
from jaxlint_runtime.spent import AGAIN, WRITING
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers.scratch_copy import TooLarge

_ROUNDS = 3.0  # runs of the program that a second check needs
_MORE = 2.0  # runs of the edited program that the search for more costs
_COMPARISON = 2.0  # the same, for a comparison of both versions


def apply_proven(verification: Verification, allow_dirty: bool, accept_compiled: bool = False) -> None:
    """Tries and writes proven results; the outcome goes to the document's `applied`.

    `accept_compiled`: also results that were not measured, for which only a compiler shows the gain.
    """
    document, listener = verification.document, verification.listener
    if verification.rewritten:
        try:
            with verification.spent.phase(WRITING, whole=True):
                written = _write_source(verification, allow_dirty)
            if written:
                with verification.spent.phase(AGAIN, whole=True):
                    _verify_again(verification, allow_dirty, accept_compiled)
        except KeyboardInterrupt:
            document.interrupted = True
        return
    edits = choose(verification, allow_dirty, accept_compiled)
    if not edits:
        return
    try:
        with verification.spent.phase(WRITING, whole=True):
            verdicts = try_all(edits, verification)
        kept = [verdict.edit for verdict in verdicts if verdict.kept]
        if kept:
            _write(kept, verification)
    except KeyboardInterrupt:
        document.interrupted = True
        listener.note("interrupted: no file was changed")
        return
    except (SourceError, Refused, TooLarge, CannotRun) as error:
        verdicts = [Verdict(edit, False, f"no file was changed: {error}") for edit in edits]
    for verdict in verdicts:
        record(document, verdict.edit.result, verdict.kept, verdict.message)


def _write_source(verification: Verification, allow_dirty: bool) -> bool:
    """Writes the edits of the source, which were run, compared and timed in this form."""
    document = verification.document
    proven = [
        result
        for _, result in document.results
        if result["status"] == "verified" and result["candidate"].startswith("source")
    ]
    problem: str | None = None
    for change in verification.rewritten:
        path = os.path.realpath(change.source.path)
        problem = problem or not_to_be_changed(path, verification.request.project(), allow_dirty)
    if problem is None and (other := _differs_by_now(verification, proven)) is not None:
        problem = f"not changed: {other}"
    if problem is None:
        try:
            _store(verification.rewritten, verification.request.project())
        except SourceError as error:
            problem = f"no file was changed: {error}"
    for result in proven:
        record(document, result, problem is None, problem or f"written as tried: {result['reason']}")
    return problem is None


def _differs_by_now(verification: Verification, proven: Sequence[ResultJson]) -> str | None:
    """Runs edits again that an earlier `verify` run proved: the program may depend on inputs that the proof does not cover."""
    earlier = [one for one in proven if one.get("earlier")]
    if not earlier or verification.fails:
        return None
    if not verification.request.has_time(_COMPARISON * verification.run_seconds):
        return "an earlier run proved it, and the --budget leaves no time to compare it again"
    verification.listener.note("--apply: comparing the edited program again, which an earlier run proved")
    assert verification.check is not None
    sources = dict(verification.check.sources)
    for change in verification.rewritten:
        path = next(path for path, source in sources.items() if source.path == change.source.path)
        sources[path] = dataclasses.replace(sources[path], text=change.text)
    return verification.values_of(sources, [(one["path"], one["function"]) for one in earlier])


def _verify_again(verification: Verification, allow_dirty: bool, accept_compiled: bool) -> None:
    """Verifies the edited program like any other: functions that are jitted only now may donate or rematerialise."""
    request = verification.request
    wanted = tuple(name for name in request.transforms or TRANSFORMS if name not in PROGRAM)
    if not wanted:
        return
    if not request.has_time(_ROUNDS * verification.run_seconds):
        verification.say("the edited program was not run again to look for more: the --budget is spent")
        return
    if verification.allowance < _MORE * _processor_time_after(verification):
        verification.say(f"the edited program was not run again to look for more: {verification.too_dear()}")
        return
    verification.listener.note("looking for more gains in the edited program")
    again = Verification(
        dataclasses.replace(request, transforms=wanted, source_first=False, least_saved=LEAST_SAVED),
        verification.listener,
    )
    again.written = frozenset(os.path.realpath(change.source.path) for change in verification.rewritten)
    document = again.run()
    if not document.interrupted:
        apply_proven(again, allow_dirty, accept_compiled)
    verification.document.join(document)


def _processor_time_after(verification: Verification) -> float:
    """About how much processor time the edited program takes, in seconds."""
    totals = [
        result["ratios"]["total"]["median"]
        for _, result in verification.document.results
        if result["status"] == "verified" and "total" in (result.get("ratios") or {})
    ]
    return (verification.spent.program_s or 0.0) / max(totals, default=1.0)


def _write(edits: list[Edit], verification: Verification) -> None:
    _store(changes_of(edits, verification), verification.request.project())


def _store(changes: list[Change], project: Path) -> None:
    """Writes all of the files or none; the originals are in the journal until that is done."""
    write_together(changes, project, must_keep=True)
