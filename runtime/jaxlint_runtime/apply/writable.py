"""Which proven results may be written to the source, and how: the best of each kind for a function; for the others,
why not."""

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
from jaxlint.source.git import NoFile, run_git
from jaxlint.source.writable_files import target_of
from jaxlint.source.write import Change
from jaxlint_runtime.apply import written_attention, written_bf16, written_loss, written_remat
from jaxlint_runtime.proof.gain import gain_of, is_proven
from jaxlint_runtime.protocol.report_forms import FunctionJson, ResultJson
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.source_analysis.findings import Foreseen
from jaxlint_runtime.source_analysis.unused_after_call import dead_arguments_at
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.wording.paths import display_path

_RULE = "missing-donation"
DONATION = "add-donation"
_CALLS = written_attention.CODEMODS | written_loss.CODEMODS
OTHERS = written_remat.CODEMODS | _CALLS | written_bf16.CODEMODS
_DONATED_OF_EQUINOX = 0  # the argument of `jax.jit` that holds the donated arrays of `eqx.filter_jit`


@dataclass(slots=True)
class Edit:
    """A proven result and its edit. `argnums` and `argnames` are the donated arguments, if there are any."""

    result: ResultJson
    target: str
    fix: FixRequest
    argnums: tuple[int, ...] = ()
    argnames: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """The key by which the worker identifies the function."""
        return self.result["path"], self.result["function"]

    @property
    def codemod(self) -> str:
        return str(self.result["codemod"])


def choose(verification: Verification, allow_dirty: bool, accept_compiled: bool = False) -> list[Edit]:
    """The proven results that may be tried: the best of each kind for a function. For the others the document says
    why not."""
    document = verification.document
    possible: list[Edit] = []
    advised: list[tuple[str, ResultJson, str]] = []
    foreseen = Foreseen(verification.check.sources if verification.check is not None else {})
    for target, result in document.results:
        if not is_proven(result):
            continue
        if result["codemod"] not in {DONATION, *OTHERS}:
            if why := advice(result):
                advised.append((target, result, why))
            continue
        if result["status"] == "compiled" and not (accept_compiled or _is_planned_here(result, target)):
            if not any(
                (r["path"], r["line"], r["candidate"], r["status"]) == (*_key(result), "verified")
                for _, r in document.results
            ):
                record(
                    document,
                    result,
                    False,
                    f"not changed: the gain on {target} was compiled, not measured; --accept-compiled writes it",
                )
            continue
        edit = writable(result, target, verification)
        if isinstance(edit, Edit):
            edit = _hindrance(edit, verification, allow_dirty, foreseen) or edit
        if isinstance(edit, str):
            record(document, result, False, edit)
        else:
            possible.append(edit)
    chosen = _best(possible)
    for target, result, why in advised:
        record(document, result, False, why + _beside(result, target, chosen))
    return chosen


def advice(result: ResultJson) -> str | None:
    """Why a proven result stays advice; None for one that a codemod writes, or that is not a change of a function."""
    if result["codemod"] in {DONATION, *OTHERS}:
        return None
    if why := result["parameters"].get("unwritten"):
        return f"{result['candidate']} is advice only: {why}"
    if " + " in result["candidate"]:
        return f"{result['candidate']} is advice only: --apply writes its parts one by one"
    return None


def _best(edits: Sequence[Edit]) -> list[Edit]:
    """Of the writable edits of one kind in a function, the one with the largest gain."""
    groups: dict[tuple[Any, ...], list[Edit]] = {}
    for edit in edits:
        groups.setdefault((edit.place, edit.codemod), []).append(edit)
    return [max(group, key=_merit) for group in groups.values()]


def _merit(edit: Edit) -> tuple[bool, float]:
    """Measured results before compiler figures; then by the claim."""
    return edit.result["status"] == "verified", gain_of(edit.result).weight


def _beside(result: ResultJson, target: str, chosen: Sequence[Edit]) -> str:
    """The edit that is tried for the function instead of the advice."""
    place = result["path"], result["function"]
    names = [edit.result["candidate"] for edit in chosen if edit.place == place and edit.target == target]
    return f"; {' and '.join(names)} is tried instead" if names else ""


def _is_planned_here(result: ResultJson, target: str) -> bool:
    """Whether the current device shows the gain without a time: a donation changes no bit, and its memory is the
    compiler's plan.

    This applies if a call is too slow to be timed.
    """
    return ":" not in target and result["codemod"] == DONATION


def writable(result: ResultJson, target: str, verification: Verification) -> Edit | str:
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
        return (
            f"advice only: {' and '.join(shared[0])} may be the same buffer, which can be donated only once"
        )
    return _donation(result, target, verification)


def _donation(result: ResultJson, target: str, verification: Verification) -> Edit | str:
    """The edit that donates arguments that no caller needs: from a finding of check, or from the source around each
    call."""
    parameters, found = result["parameters"], _function_of(result, verification)
    claimed = _claimed(parameters, found, verification)
    sources = verification.check.sources if verification.check is not None else {}
    known = None if found is None else dead_arguments_at(found["jit_path"], found["jit_line"], sources)
    if isinstance(claimed, str):
        if known is None or parameters.get("equinox"):
            return claimed
        fix = FixRequest(Safety.UNSAFE, "Donate", (Step(DONATION, known[0], known[1].span, {}),))
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
        return "advice only: a caller may use the donated arguments after the call"
    donated = {key: list(value) for key, value in (("argnums", argnums), ("argnames", argnames)) if value}
    fix = dataclasses.replace(fix, steps=(dataclasses.replace(fix.steps[0], parameters=donated),))
    return Edit(result, target, fix, argnums, argnames)


def _claimed(
    parameters: Mapping[str, Any], function: Mapping[str, Any] | None, verification: Verification
) -> FixRequest | str:
    """The fix of the finding that claims the proven donation, or why it must not be applied."""
    finding = None if function is None else _finding_of(function, verification)
    if finding is None:
        return f"advice only: check has no {_RULE} finding here, so the callers are unknown"
    if finding.data.get("public") is not False:
        return "advice only: the function is public, so other code may call it"
    if finding.data.get("callers_complete") is not True:
        return "advice only: some callers of the function could not be analysed"
    if finding.data.get("aliased"):
        return "advice only: a caller keeps another reference to the argument"
    if not isinstance(finding.fix, FixRequest):
        return "advice only: check has no fix here"
    how = parameters.get("equinox")
    if how and finding.fix.steps[0].parameters.get("donate") != how:
        return "advice only: a caller may use an array after passing it"
    return finding.fix


def _key(result: ResultJson) -> tuple[str, int, str]:
    return result["path"], result["line"], result["candidate"]


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _function_of(result: ResultJson, verification: Verification) -> FunctionJson | None:
    place = (result["path"], result["line"])
    functions = verification.document.functions
    return next((one for one in functions if (one["path"], one["line"]) == place), None)


def _finding_of(function: Mapping[str, Any], verification: Verification) -> Finding | None:
    """The finding that a function does not donate."""
    for finding in verification.check.findings if verification.check is not None else ():
        if finding.name == _RULE:
            path, line = os.path.realpath(finding.path), finding.span.line
            inside = path == function["path"] and function["line"] <= line <= function["end_line"]
            if inside or (path, line) == (function["jit_path"], function["jit_line"]):
                return finding
    return None


def _hindrance(edit: Edit, verification: Verification, allow_dirty: bool, foreseen: Foreseen) -> str | None:
    """Why an edit cannot or must not be applied; None if it may."""
    root = verification.request.project()
    for path in {os.path.realpath(step.path) for step in edit.fix.steps}:
        own = path in verification.written
        if (problem := not_to_be_changed(path, root, allow_dirty or own)) is not None:
            return problem
    try:
        changes = changes_of([edit], verification)
    except Refused as refusal:
        return f"advice only: {refusal}"
    edited = {change.source.path: change.text for change in changes}
    after = {
        path: dataclasses.replace(one, text=edited.get(one.path, one.text))
        for path, one in foreseen.sources.items()
    }
    told = foreseen.new_error(after)
    return f"advice only: {told}" if told else None


def not_to_be_changed(path: str, root: Path, allow_dirty: bool) -> str | None:
    """Why a file must not be changed; None if it may."""
    if not Path(path).is_relative_to(root):
        return f"not changed: {display_path(path)} is outside the project {root}"
    try:
        target_of(Path(path), display_path(path), root)
    except SourceError as error:
        return f"not changed: {error}"
    if not allow_dirty and (told := _changes_told(path)):
        return f"not changed: {told}"
    return None


def _changes_told(path: str) -> str:
    """Uncommitted changes of the file according to git, or why git cannot tell; "" if there are none, and outside a repository."""
    shown = display_path(path)
    folder, name = os.path.split(path)
    try:
        done = run_git(
            folder, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all", "--", name
        )
    except NoFile as error:
        return f"git could not be asked whether {shown} has uncommitted changes: {error}; use --allow-dirty"
    except subprocess.TimeoutExpired:
        return f"git did not answer whether {shown} has uncommitted changes; use --allow-dirty"
    except (OSError, subprocess.SubprocessError) as error:
        return f"git cannot say whether {shown} has uncommitted changes: {error}; use --allow-dirty"
    if done is None:
        return ""
    if done.returncode:
        said = done.stderr.decode(errors="replace").splitlines() or [f"exit code {done.returncode}"]
        if not any(os.path.lexists(one / ".git") for one in (Path(folder), *Path(folder).parents)):
            return ""  # no repository
        why = said[0].removeprefix("fatal: ")
        return f"git cannot say whether {shown} has uncommitted changes: {why}; use --allow-dirty"
    if done.stdout.strip():
        return f"{shown} has uncommitted changes; commit them or use --allow-dirty"
    return ""


def changes_of(edits: list[Edit], verification: Verification) -> list[Change]:
    """The new texts of the checked files. Raises Refused."""
    assert verification.check is not None
    examined = verification.check.sources
    workspace = Workspace(dict(examined), strict=True)
    plans: list[Plan] = []
    for edit in edits:
        plan = workspace.plan(edit.fix)
        if isinstance(plan, str):
            raise Refused(plan)
        plans.append(plan)
    return [Change(examined[path], new.file_text) for path, new in workspace.edited(plans).items()]


def record(document: Document, result: ResultJson, kept: bool, message: str) -> None:
    """Records the outcome of a result in the document."""
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
