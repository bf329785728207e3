"""Tries edits of the source before they are written: the program must end as before, give the same results, and show
the gain again."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path

from jaxlint.source.write import encode_text
from jaxlint_runtime.apply import written_bf16, written_remat
from jaxlint_runtime.apply.writable import DONATION, OTHERS, Edit, changes_of
from jaxlint_runtime.protocol.report_forms import CostJson
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers.scratch_copy import Scratch, scratch_copy

_DELETED = b"Array has been deleted"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one edit; `message` is the reason or the figures."""

    edit: Edit
    kept: bool
    message: str


def try_all(edits: list[Edit], verification: Verification) -> list[Verdict]:
    """Tries all edits together, and one by one if that fails."""
    if verification.request.is_over:
        return [Verdict(edit, False, "not changed: the --budget is spent") for edit in edits]
    verdicts = _try(edits, verification)
    if len(edits) > 1 and not all(verdict.kept for verdict in verdicts):
        verification.listener.note("the edits failed together: trying them one by one")
        single = [_try([edit], verification)[0] for edit in edits]
        kept = [verdict.edit for verdict in single if verdict.kept]
        if len(kept) < 2:
            return single
        together = {id(verdict.edit): verdict for verdict in _try(kept, verification)}
        return [together.get(id(verdict.edit), verdict) for verdict in single]
    return verdicts


def _try(edits: list[Edit], verification: Verification) -> list[Verdict]:
    """Runs the whole edited program in a scratch copy and measures the edited functions again."""
    request, document = verification.request, verification.document
    names = ", ".join(dict.fromkeys(edit.result["function"] for edit in edits))
    verification.listener.note(f"--apply: running the edited program in a scratch copy ({names})")
    with scratch_copy(request.project(), verification.copies) as scratch:
        for change in changes_of(edits, verification):
            copy = Path(scratch.to_copy(os.path.realpath(change.source.path)))
            copy.write_bytes(encode_text(change.source, change.text))
        trial, failure = _run_edited(edits, verification, scratch)
    if failure is None:
        failure = _bad_ending(document, trial)
    if failure is None:
        coarse = any(edit.codemod in written_bf16.CODEMODS for edit in edits)
        failure = _other_values(edits, verification, "bfloat16" if coarse else None)
    if failure is not None:
        return [Verdict(edit, False, f"not changed: {failure}") for edit in edits]
    return [_judge(edit, trial.document) for edit in edits]


def _other_values(edits: list[Edit], verification: Verification, dtype: str | None = None) -> str | None:
    """The first difference in what the whole program prints and its functions return; None if there is none.

    `dtype`: the edits compute in this dtype, which is coarser than the program's.
    """
    assert verification.check is not None
    sources = dict(verification.check.sources)
    for change in changes_of(edits, verification):
        path = next(path for path, source in sources.items() if source.path == change.source.path)
        sources[path] = dataclasses.replace(sources[path], text=change.text)
    return verification.values_of(sources, [edit.place for edit in edits], dtype)


def _run_edited(
    edits: list[Edit], verification: Verification, scratch: Scratch
) -> tuple[Verification, str | None]:
    to_the_end = dataclasses.replace(
        verification.request,
        calls=None,
        run_for=None,
        transforms=("donation",) if any(edit.codemod == DONATION for edit in edits) else (),
        targets=tuple({edit.target for edit in edits}),
        costs=True,
        proofs=False,  # what is written is measured again
        price=None,
        least_saved=0,
    )
    trial = verification.trial(to_the_end)
    job = dataclasses.replace(
        to_the_end.capture(), only=tuple(dict.fromkeys(edit.place for edit in edits)), undonated=True
    )
    death = trial.attempt(job, scratch)
    return trial, None if death is None else f"the edited program {death}"


def _bad_ending(document: Document, trial: Verification) -> str | None:
    """Why the edited program did not end like the original; None if it did."""
    ending, before = trial.document.ending, document.ending
    if ending is None:
        return "the edited program did not finish: " + "; ".join(trial.document.errors)
    expected = before["status"] if before is not None and before["how"] == "finished" else 0
    if ending["how"] != "finished" or ending["status"] != expected:
        return f"with the edit, {ending['message']}"
    if _DELETED in trial.error_tail:
        return "the edited program used an array after it was donated"
    return None


def _judge(edit: Edit, trial: Document) -> Verdict:
    """Whether the edited function donates as written and shows the gain again."""
    function = next((f for f in trial.functions if (f["path"], f["function"]) == edit.place), None)
    if function is None:
        return Verdict(edit, False, "not changed: the edited program loaded another copy of this file")
    if edit.codemod in written_bf16.CODEMODS:
        return Verdict(edit, *written_bf16.still_gains(edit.result, _cost_again(edit, trial)))
    if edit.codemod in OTHERS:
        return Verdict(edit, *written_remat.still_gains(edit.result, _peaks(edit, trial)))
    options = function["options"]
    written = {*options.get("donate_argnums", ()), *options.get("donate_argnames", ())}
    if not written >= {*edit.argnums, *edit.argnames}:
        return Verdict(
            edit, False, "not changed: in the edited program the function does not donate what the edit names"
        )
    again = [
        result
        for target, result in trial.results
        if target == edit.target and (result["path"], result["function"]) == edit.place
    ]
    if "equinox" in edit.result["parameters"]:  # arrays that are not donated are in another argument
        again = [one for one in again if one["parameters"].get("argnums") in (None, list(edit.argnums))]
    for result in again:
        if result["status"] in (edit.result["status"], "verified") and result["codemod"] == DONATION:
            how = "measured" if result["status"] == "verified" else "compiled"
            return Verdict(edit, True, f"{how} in the edited program: {result['reason']}")
    reasons = "; ".join(result["reason"] for result in again) or "it was not measured"
    return Verdict(edit, False, f"not changed: the edited program shows no gain: {reasons}")


def _cost_again(edit: Edit, trial: Document) -> CostJson | None:
    """The cost of the edited function on the target of the result."""
    return next(
        (
            result["after"]
            for target, result in trial.results
            if (target, result["candidate"]) == (edit.target, "original")
            and (result["path"], result["function"]) == edit.place
        ),
        None,
    )


def _peaks(edit: Edit, trial: Document) -> list[int]:
    """The compiler's peak memory of the edited function."""
    return [
        result["after"]["peak_bytes"]
        for target, result in trial.results
        if (target, result["candidate"]) == (edit.target, "original")
        and (result["path"], result["function"]) == edit.place
        and result["after"]
        and result["after"]["peak_bytes"]
    ]
