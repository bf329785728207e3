"""The edits that `--apply` writes for proven results, as a diff, whether or not it was requested."""

from __future__ import annotations

from collections.abc import Iterable

from jaxlint.source.diff import unified_diff
from jaxlint.source.write import Change
from jaxlint_runtime.proof.gain import is_proven
from jaxlint_runtime.protocol.report_forms import DiffJson, ResultJson
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.wording.paths import display_path


def collect_diffs(verification: Verification) -> list[DiffJson]:
    """One entry for the edits of the source, and one for each proven result that can be written.

    An entry has `function`, `path`, `line`, `candidate`, `diff` ("" if there is none) and `note` (why it is advice).
    Call this before anything is written. An internal error of a codemod must not cost the report: it becomes the
    note.
    """
    found: list[DiffJson] = []
    if verification.rewritten:
        first = next(
            (
                r
                for _, r in verification.document.results
                if r["candidate"].startswith("source") and r["status"] == "verified"
            ),
            None,
        )
        found.append(_entry(first, "source", _text(verification.rewritten), ""))
    seen: set[tuple[str, int, str]] = set()
    for target, result in verification.document.results:
        if not is_proven(result):
            continue
        from jaxlint_runtime.apply.writable import advice, changes_of, writable  # and all codemods

        why = advice(result)
        if not result["codemod"] and why is None:
            continue
        key = (result["path"], result["line"], result["candidate"])
        if key in seen or result["candidate"].startswith("source"):
            continue
        seen.add(key)
        if why is not None:
            found.append(_entry(result, result["candidate"], "", why))
            continue
        try:
            edit = writable(result, target, verification)
            diff = "" if isinstance(edit, str) else _text(changes_of([edit], verification))
            note = edit if isinstance(edit, str) else ""
        except Exception as error:
            diff, note = "", f"advice only: {error}"
        found.append(_entry(result, result["candidate"], diff, note))
    return found


def _entry(result: ResultJson | None, candidate: str, diff: str, note: str) -> DiffJson:
    return {
        "function": result["function"] if result else None,
        "path": result["path"] if result else None,
        "line": result["line"] if result else None,
        "candidate": candidate,
        "diff": diff,
        "note": note,
    }


def _text(changes: Iterable[Change]) -> str:
    return "".join(
        unified_diff(change.source.text, change.text, display_path(str(change.source.path)))
        for change in changes
    )
