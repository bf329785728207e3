"""`jaxlint verify --apply`: writes proven donations and rematerialised scans to the source, after the whole edited program ran.

The edits are made in a scratch copy first and tried there: the program must end as well as before, and the gain must
be measured again on the edited function. Only what passes is written to the user's files, all of it at once, with the
originals in a journal until it is done.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlint.codemods import Plan, Refused, Workspace
from jaxlint.finding import Finding, FixRequest, Safety, Step
from jaxlint.source import SourceError
from jaxlint.source.journal import write_together
from jaxlint.source.targets import target_of
from jaxlint.source.write import Change, encode_text
from jaxlint_runtime.apply import written_attention, written_bf16, written_loss, written_remat
from jaxlint_runtime.apply.git import run_git
from jaxlint_runtime.proof.gain import gain_of, is_proven
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.request import CannotRun, Request
from jaxlint_runtime.rewrites.original_program import values_of
from jaxlint_runtime.run import Listener
from jaxlint_runtime.settings import PROGRAM, TRANSFORMS
from jaxlint_runtime.source_analysis.unused_after_call import given_up_at
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.wording.paths import display_path
from jaxlint_runtime.workers.scratch_copy import Scratch, TooLarge, scratch_copy

_RULE = "missing-donation"
_CODEMOD = "add-donation"
_CALLS = written_attention.CODEMODS | written_loss.CODEMODS
_OTHERS = written_remat.CODEMODS | _CALLS | written_bf16.CODEMODS
_DONATED_OF_EQUINOX = 0  # the argument of what `eqx.filter_jit` gives to `jax.jit` that holds what is donated
_DELETED = b"Array has been deleted"


@dataclass(slots=True)
class Edit:
    """A proven result and how it would be written. `argnums` and `argnames` are what is donated, if anything is."""

    result: dict[str, Any]
    target: str
    fix: FixRequest
    argnums: tuple[int, ...] = ()
    argnames: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """What the worker knows the function by."""
        return self.result["path"], self.result["function"]

    @property
    def codemod(self) -> str:
        return str(self.result["codemod"])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one edit; `message` is the reason or the figures."""

    edit: Edit
    kept: bool
    message: str


def apply_proven(verification: Verification, allow_dirty: bool, accept_compiled: bool = False) -> None:
    """Try and write what was proven; the outcome goes to the document's `applied`.

    `accept_compiled`: also what was not measured, of which only a compiler says that it gains.
    """
    document, listener = verification.document, verification.listener
    if verification.rewritten:
        try:
            if _write_source(verification, allow_dirty):
                _verify_again(verification, allow_dirty, accept_compiled)
        except KeyboardInterrupt:
            document.interrupted = True
        return
    edits = _choose(verification, allow_dirty, accept_compiled)
    if not edits:
        return
    try:
        verdicts = _try_all(edits, verification)
        kept = [verdict.edit for verdict in verdicts if verdict.kept]
        if kept:
            _write(kept, verification)
    except KeyboardInterrupt:
        document.interrupted = True
        listener.note("interrupted: no file was changed")
        return
    except (SourceError, Refused, TooLarge, CannotRun) as error:
        verdicts = [Verdict(edit, False, f"nothing was changed: {error}") for edit in edits]
    for verdict in verdicts:
        _record(document, verdict.edit.result, verdict.kept, verdict.message)


def _write_source(verification: Verification, allow_dirty: bool) -> bool:
    """Write the edits of the source, which were run, compared and timed as they stand."""
    document = verification.document
    proven = [
        result
        for _, result in document.results
        if result["status"] == "verified" and result["candidate"].startswith("source")
    ]
    problem: str | None = None
    for change in verification.rewritten:
        path = os.path.realpath(change.source.path)
        problem = problem or _not_to_be_changed(path, verification.request.project(), allow_dirty)
    if problem is None:
        try:
            _store(verification.rewritten, verification.request.project())
        except SourceError as error:
            problem = f"nothing was changed: {error}"
    for result in proven:
        _record(document, result, problem is None, problem or f"as it was run: {result['reason']}")
    return problem is None


def _verify_again(verification: Verification, allow_dirty: bool, accept_compiled: bool) -> None:
    """Look at the edited program as at any other: what is jitted only now may donate, or be rematerialised."""
    request = verification.request
    wanted = tuple(name for name in request.transforms or TRANSFORMS if name not in PROGRAM)
    if not wanted:
        return
    verification.listener.note("looking at the edited program again")
    again = Verification(
        dataclasses.replace(request, transforms=wanted, source_first=False), verification.listener
    )
    again.written = frozenset(os.path.realpath(change.source.path) for change in verification.rewritten)
    document = again.run()
    if not document.interrupted:
        apply_proven(again, allow_dirty, accept_compiled)
    verification.document.join(document)


def _record(document: Document, result: dict[str, Any], kept: bool, message: str) -> None:
    document.applied.append(
        {
            "function": result["function"],
            "path": result["path"],
            "line": result["line"],
            "candidate": result["candidate"],
            "kept": kept,
            "message": message,
        }
    )


# ---- which results may be written ----


def _choose(verification: Verification, allow_dirty: bool, accept_compiled: bool = False) -> list[Edit]:
    """The proven results that may be tried, of each kind the best for a function; for the others the document says why not."""
    document = verification.document
    possible: list[Edit] = []
    advised: list[tuple[str, dict[str, Any], str]] = []
    for target, result in document.results:
        if not is_proven(result):
            continue
        if result["codemod"] not in {_CODEMOD, *_OTHERS}:
            if why := advice(result):
                advised.append((target, result, why))
            continue
        if result["status"] == "compiled" and not (accept_compiled or _is_planned_here(result, target)):
            if not any(
                (r["path"], r["line"], r["candidate"], r["status"]) == (*_key(result), "verified")
                for _, r in document.results
            ):
                _record(
                    document,
                    result,
                    False,
                    f"not changed: on {target} the gain was not measured; --accept-compiled writes it all the same",
                )
            continue
        edit = writable(result, target, verification)
        if isinstance(edit, Edit):
            edit = _hindrance(edit, verification, allow_dirty) or edit
        if isinstance(edit, str):
            _record(document, result, False, edit)
        else:
            possible.append(edit)
    chosen = _best(possible)
    for target, result, why in advised:
        _record(document, result, False, why + _beside(result, target, chosen))
    return chosen


def advice(result: Mapping[str, Any]) -> str | None:
    """Why a proven result that no codemod writes is advice; None for one that is written, or is no change of a function."""
    if result["codemod"] in {_CODEMOD, *_OTHERS}:
        return None
    if why := result["parameters"].get("unwritten"):
        return f"{result['candidate']} is advice only: {why}"
    if " + " in result["candidate"]:
        return f"{result['candidate']} is advice as a whole: --apply writes of its parts what can be written"
    return None


def _best(edits: Sequence[Edit]) -> list[Edit]:
    """Of the edits of one kind that can be written in a function, the one that gains most; what cannot be written takes no part."""
    groups: dict[tuple[Any, ...], list[Edit]] = {}
    for edit in edits:
        groups.setdefault((edit.place, edit.codemod), []).append(edit)
    return [max(group, key=_merit) for group in groups.values()]


def _merit(edit: Edit) -> tuple[bool, float]:
    """What was measured here before what a compiler says; then by what may be claimed."""
    return edit.result["status"] == "verified", gain_of(edit.result).weight


def _beside(result: Mapping[str, Any], target: str, chosen: Sequence[Edit]) -> str:
    """What is tried for the function instead of advice."""
    place = result["path"], result["function"]
    names = [edit.result["candidate"] for edit in chosen if edit.place == place and edit.target == target]
    return f"; of what can be written {' and '.join(names)} is tried" if names else ""


def _is_planned_here(result: dict[str, Any], target: str) -> bool:
    """Whether the device at hand shows the gain without a time: a donation changes no bit, and its memory is the compiler's plan.

    That is so where a call takes too long to be timed.
    """
    return ":" not in target and result["codemod"] == _CODEMOD


def writable(result: dict[str, Any], target: str, verification: Verification) -> Edit | str:
    """The edit that writes a result, or why it stays advice."""
    if result["codemod"] in written_remat.CODEMODS:
        sources = verification.check.sources if verification.check is not None else {}
        found = written_remat.remat_fix(result, sources, verification.request.device_memory)
        return found if isinstance(found, str) else Edit(result, target, found)
    if result["codemod"] in written_attention.CODEMODS:
        sources = verification.check.sources if verification.check is not None else {}
        called = written_attention.attention_fix(result, target, sources)
        return called if isinstance(called, str) else Edit(result, target, called)
    if result["codemod"] in written_loss.CODEMODS:
        found = written_loss.loss_fix(result, verification.check.sources if verification.check else {})
        return found if isinstance(found, str) else Edit(result, target, found)
    if result["codemod"] in written_bf16.CODEMODS:
        found = written_bf16.bf16_fix(result, verification.check.sources if verification.check else {})
        return found if isinstance(found, str) else Edit(result, target, found)
    parameters = result["parameters"]
    if shared := parameters.get("shared"):
        return f"advice only: {' and '.join(shared[0])} may be one buffer, which cannot be donated twice"
    return _donation(result, target, verification)


def _donation(result: dict[str, Any], target: str, verification: Verification) -> Edit | str:
    """The edit that donates what all callers give up: by a finding of check, or by the source around each call."""
    parameters, found = result["parameters"], _function_of(result, verification)
    claimed = _claimed(parameters, found, verification)
    sources = verification.check.sources if verification.check is not None else {}
    known = None if found is None else given_up_at(found["jit_path"], found["jit_line"], sources)
    if isinstance(claimed, str):
        if known is None or parameters.get("equinox"):
            return claimed
        fix = FixRequest(Safety.UNSAFE, "Donate", (Step(_CODEMOD, known[0], known[1].span, {}),))
        positions, names = set[object](), set[object]()
    else:
        fix, step = claimed, claimed.steps[0]
        if parameters.get("equinox"):
            return Edit(result, target, fix, argnums=(_DONATED_OF_EQUINOX,))
        positions = set(_sequence(step.parameters.get("argnums")))
        names = set(_sequence(step.parameters.get("argnames")))
    if known is not None:
        positions |= set(known[1].positions)
        names |= set(known[1].names)
    argnums = tuple(n for n in parameters.get("argnums", ()) if n in positions)
    argnames = tuple(n for n in parameters.get("argnames", ()) if n in names)
    if not argnums and not argnames:
        if isinstance(claimed, str):
            return claimed
        return "advice only: the arguments that were proven are not those whose callers give them up"
    donated = {key: list(value) for key, value in (("argnums", argnums), ("argnames", argnames)) if value}
    fix = dataclasses.replace(fix, steps=(dataclasses.replace(fix.steps[0], parameters=donated),))
    return Edit(result, target, fix, argnums, argnames)


def _claimed(
    parameters: Mapping[str, Any], function: Mapping[str, Any] | None, verification: Verification
) -> FixRequest | str:
    """The fix of the finding that claims what was proven, or why it must not be made."""
    finding = None if function is None else _finding_of(function, verification)
    if finding is None:
        return f"advice only: check has no {_RULE} finding here, so its callers are not known"
    if finding.data.get("public") is not False:
        return "advice only: the function is public, so that not all of its callers can be known"
    if finding.data.get("callers_complete") is not True:
        return "advice only: not all callers of the function could be analysed"
    if finding.data.get("aliased"):
        return "advice only: a caller keeps the argument under another name as well"
    if not isinstance(finding.fix, FixRequest):
        return "advice only: check knows no rewrite here"
    how = parameters.get("equinox")
    if how and finding.fix.steps[0].parameters.get("donate") != how:
        return "advice only: a caller may use an array that it passed after the call"
    return finding.fix


def _key(result: dict[str, Any]) -> tuple[str, int, str]:
    return result["path"], result["line"], result["candidate"]


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _function_of(result: Mapping[str, Any], verification: Verification) -> dict[str, Any] | None:
    place = (result["path"], result["line"])
    functions = verification.document.functions
    return next((one for one in functions if (one["path"], one["line"]) == place), None)


def _finding_of(function: Mapping[str, Any], verification: Verification) -> Finding | None:
    """The finding that says that a function does not donate."""
    for finding in verification.check.findings if verification.check is not None else ():
        if finding.name == _RULE:
            path, line = os.path.realpath(finding.path), finding.span.line
            inside = path == function["path"] and function["line"] <= line <= function["end_line"]
            if inside or (path, line) == (function["jit_path"], function["jit_line"]):
                return finding
    return None


def _hindrance(edit: Edit, verification: Verification, allow_dirty: bool) -> str | None:
    """Why an edit cannot or must not be made; None when it may."""
    root = verification.request.project()
    for path in {os.path.realpath(step.path) for step in edit.fix.steps}:
        own = path in verification.written
        if (problem := _not_to_be_changed(path, root, allow_dirty or own)) is not None:
            return problem
    try:
        changes_of([edit], verification)
    except Refused as refusal:
        return f"advice only: {refusal}"
    return None


def _not_to_be_changed(path: str, root: Path, allow_dirty: bool) -> str | None:
    """Why a file must not be touched; None when it may."""
    if not Path(path).is_relative_to(root):
        return f"not changed: {display_path(path)} lies outside the project {root}"
    try:
        target_of(Path(path), display_path(path), root)
    except SourceError as error:
        return f"not changed: {error}"
    if not allow_dirty and _has_changes(path):
        return f"not changed: {display_path(path)} has uncommitted changes; commit them or use --allow-dirty"
    return None


def _has_changes(path: str) -> bool:
    """Whether git knows of changes to the file that are not committed; False outside a repository."""
    folder, name = os.path.split(path)
    try:
        done = run_git(
            folder, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all", "--", name
        )
    except (OSError, subprocess.SubprocessError):
        return True
    return done is not None and done.returncode == 0 and bool(done.stdout.strip())


# ---- trying them ----


def _try_all(edits: list[Edit], verification: Verification) -> list[Verdict]:
    """All at once; one by one when that does not pass as a whole."""
    verdicts = _try(edits, verification)
    if len(edits) > 1 and not all(verdict.kept for verdict in verdicts):
        verification.listener.note("not all of the edits passed together: trying them one by one")
        single = [_try([edit], verification)[0] for edit in edits]
        kept = [verdict.edit for verdict in single if verdict.kept]
        if len(kept) < 2:
            return single
        together = {id(verdict.edit): verdict for verdict in _try(kept, verification)}
        return [together.get(id(verdict.edit), verdict) for verdict in single]
    return verdicts


def _try(edits: list[Edit], verification: Verification) -> list[Verdict]:
    """Run the whole edited program in a scratch copy and measure the edited functions again."""
    request, document = verification.request, verification.document
    names = ", ".join(dict.fromkeys(edit.result["function"] for edit in edits))
    verification.listener.note(f"--apply: running the whole program with {names} edited, in a scratch copy")
    with scratch_copy(request.project()) as scratch:
        for change in changes_of(edits, verification):
            copy = Path(scratch.to_copy(os.path.realpath(change.source.path)))
            copy.write_bytes(encode_text(change.source, change.text))
        trial, failure = _run_edited(edits, request, verification.listener, scratch)
    if failure is None:
        failure = _bad_ending(document, trial)
    if failure is None:
        coarse = any(edit.codemod in written_bf16.CODEMODS for edit in edits)
        failure = _other_values(edits, verification, "bfloat16" if coarse else None)
    if failure is not None:
        return [Verdict(edit, False, f"not changed: {failure}") for edit in edits]
    return [_judge(edit, trial.document) for edit in edits]


def _other_values(edits: list[Edit], verification: Verification, dtype: str | None = None) -> str | None:
    """What the whole program prints and its functions return otherwise with the edits; None where it is the same.

    `dtype`: the edits compute in it, which is coarser than what the program computes in.
    """
    assert verification.check is not None
    sources = dict(verification.check.sources)
    for change in changes_of(edits, verification):
        path = next(path for path, source in sources.items() if source.path == change.source.path)
        sources[path] = dataclasses.replace(sources[path], text=change.text)
    return values_of(verification, sources, [edit.place for edit in edits], dtype)


def _run_edited(
    edits: list[Edit], request: Request, listener: Listener, scratch: Scratch
) -> tuple[Verification, str | None]:
    to_the_end = dataclasses.replace(
        request,
        calls=None,
        run_for=None,
        transforms=("donation",) if any(edit.codemod == _CODEMOD for edit in edits) else (),
        targets=tuple({edit.target for edit in edits}),
        costs=True,
    )
    trial = Verification(to_the_end, listener, examine=False)
    job = dataclasses.replace(
        to_the_end.capture(), only=tuple(dict.fromkeys(edit.place for edit in edits)), undonated=True
    )
    death = trial.attempt(job, scratch)
    return trial, None if death is None else f"the edited program {death}"


def _bad_ending(document: Document, trial: Verification) -> str | None:
    """Why the edited program did not end as well as the original; None when it did."""
    ending, before = trial.document.ending, document.ending
    if ending is None:
        return "the edited program did not end: " + "; ".join(trial.document.errors)
    expected = before["status"] if before is not None and before["how"] == "finished" else 0
    if ending["how"] != "finished" or ending["status"] != expected:
        return f"with the edit, {ending['message']}"
    if _DELETED in trial.error_tail:
        return "the edited program used an array after it was donated"
    return None


def _judge(edit: Edit, trial: Document) -> Verdict:
    """Whether the edited function is donated as written and gains again."""
    function = next((f for f in trial.functions if (f["path"], f["function"]) == edit.place), None)
    if function is None:
        return Verdict(
            edit, False, "not changed: the second run loaded the function from another copy of its file"
        )
    if edit.codemod in written_bf16.CODEMODS:
        return Verdict(edit, *written_bf16.judged_again(edit.result, _cost_again(edit, trial)))
    if edit.codemod in _OTHERS:
        return Verdict(edit, *written_remat.judged_again(edit.result, _peaks(edit, trial)))
    options = function["options"]
    written = {*options.get("donate_argnums", ()), *options.get("donate_argnames", ())}
    if not written >= {*edit.argnums, *edit.argnames}:
        return Verdict(edit, False, "not changed: the edited function was not jitted with the donation")
    again = [
        result
        for target, result in trial.results
        if target == edit.target and (result["path"], result["function"]) == edit.place
    ]
    if "equinox" in edit.result["parameters"]:  # what is not donated comes in another argument
        again = [one for one in again if one["parameters"].get("argnums") in (None, list(edit.argnums))]
    for result in again:
        if result["status"] in (edit.result["status"], "verified") and result["codemod"] == _CODEMOD:
            how = "measured" if result["status"] == "verified" else "compiled"
            return Verdict(edit, True, f"{how} again in the edited program: {result['reason']}")
    reasons = "; ".join(result["reason"] for result in again) or "it was not measured"
    return Verdict(edit, False, f"not changed: the gain was not seen again: {reasons}")


def _cost_again(edit: Edit, trial: Document) -> dict[str, Any] | None:
    """What the edited function costs on the target that the result is about."""
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
    """What the compiler says that the edited function needs, as it is written."""
    return [
        result["after"]["peak_bytes"]
        for target, result in trial.results
        if (target, result["candidate"]) == (edit.target, "original")
        and (result["path"], result["function"]) == edit.place
        and result["after"]
        and result["after"]["peak_bytes"]
    ]


# ---- writing ----


def changes_of(edits: list[Edit], verification: Verification) -> list[Change]:
    """The new texts of the files as they were examined. Raises Refused."""
    assert verification.check is not None
    examined = verification.check.sources
    paths = dict.fromkeys(step.path for edit in edits for step in edit.fix.steps)
    sources = {path: examined[path] for path in paths}
    workspace = Workspace(sources)
    plans: list[Plan] = []
    for edit in edits:
        plan = workspace.plan(edit.fix)
        if isinstance(plan, str):
            raise Refused(plan)
        plans.append(plan)
    return [Change(sources[path], new.file_text) for path, new in workspace.edited(plans).items()]


def _write(edits: list[Edit], verification: Verification) -> None:
    _store(changes_of(edits, verification), verification.request.project())


def _store(changes: list[Change], project: Path) -> None:
    """All of the files or none; the originals are in the journal until it is done."""
    write_together(changes, project, must_keep=True)
