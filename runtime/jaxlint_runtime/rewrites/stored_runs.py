"""Runs of whole versions of a program in the proof cache, for a program that has not changed since.

A program is identified by all known inputs of its run: every file in its scratch copies, the command line,
the environment variables that it names, the packages, the machine and the limits. Only figures and verdicts
are stored: an edit that was not tried before is compared with new runs of the original.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxlint.cache import decode_fix, encode_fix
from jaxlint.finding import FixRequest
from jaxlint.source.file import SourceFile
from jaxlint_runtime.model import Numerics
from jaxlint_runtime.proof_cache.proof_entries import Entry
from jaxlint_runtime.protocol.json_records import from_plain, to_plain
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.trial_runs import Trial
from jaxlint_runtime.rewrites.tried_edit import Tried
from jaxlint_runtime.run import Run
from jaxlint_runtime.workers.scratch_copy import copied_files

_LARGE = 64 * 2**20  # bytes; a larger file is identified by its size and time alone
_WORDS = re.compile(rb"[A-Z_][A-Z0-9_]{2,}")
_FOR_ALL = ("JAX_", "XLA_", "TF_", "CUDA_", "PYTHON", "OMP_", "MKL_", "OPENBLAS_")
_FIGURES = (
    "failure",
    "frames",
    "run_s",
    "compile_s",
    "cpu_s",
    "peak_bytes",
    "compiles",
    "functions",
    "status",
    "cut",
)
_PLAN = "plan"
REACHED = "plan for reached code"
Observe = list[tuple[str, str]]


class StoredRuns:
    """The stored answers about one program."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    def plan(self, name: str = _PLAN) -> tuple[list[Rewrite], Observe] | None:
        """The edits that an earlier run planned to try, and the functions whose results it compared."""

        def read(stored: Any) -> tuple[list[Rewrite], Observe]:
            return [_rewrite(one) for one in stored["edits"]], [
                (path, name) for path, name in stored["observe"]
            ]

        found = self._answer(name, read)
        return found[0] if found is not None else None

    def keep_plan(self, rewrites: Iterable[Rewrite], observe: Observe, name: str = _PLAN) -> None:
        """Stores the edits that this run plans to try."""
        try:
            edits = [_plain_rewrite(one) for one in rewrites]
        except TypeError:
            return
        self._entry.keep(name, {"edits": edits, "observe": to_plain(observe)})

    def run(self, question: str) -> Trial | None:
        """The figures of a run, by its name."""
        found = self._answer(question, _trial)
        return dataclasses.replace(found[0], earlier=found[1]) if found is not None else None

    def keep_run(self, question: str, trial: Trial) -> None:
        """Stores the figures of a run. A run that died is not stored: the next one may succeed."""
        if not trial.died and not trial.late:
            self._entry.keep(question, _plain_trial(trial))

    def pair(self, question: str) -> tuple[Trial, Trial] | None:
        """Two runs that were timed one after the other."""
        found = self._answer(question, lambda stored: (_trial(stored[0]), _trial(stored[1])))
        if found is None:
            return None
        first, second = found[0]
        return first, dataclasses.replace(second, earlier=found[1])

    def keep_pair(self, question: str, pair: tuple[Trial, Trial]) -> None:
        """Stores two runs that were timed one after the other."""
        self._entry.keep(question, [_plain_trial(one) for one in pair])

    def tried(self, rewrite: Rewrite, sources: dict[str, SourceFile], briefly: bool) -> Tried | None:
        """The verdict on a version of the program."""

        def read(stored: Any) -> Tried:
            numerics = stored["numerics"]
            return Tried(
                rewrite,
                _trial(stored["trial"]),
                sources,
                stored["problem"],
                None if numerics is None else from_plain(Numerics, numerics),
                stored["evidence"],
            )

        found = self._answer(_compared(sources, briefly), read)
        if found is None:
            return None
        found[0].trial.earlier = found[1]
        return found[0]

    def keep_tried(self, tried: Tried, briefly: bool) -> None:
        """Stores the verdict on a version. That of a run that died is not stored: the next one may succeed."""
        if tried.trial.died or tried.trial.late:
            return
        self._entry.keep(
            _compared(tried.sources, briefly),
            {
                "trial": _plain_trial(tried.trial),
                "problem": tried.problem,
                "numerics": to_plain(tried.numerics),
                "evidence": tried.evidence,
            },
        )

    def _answer(self, question: str, read: Callable[[Any], Any]) -> tuple[Any, str] | None:
        found = self._entry.answer(question)
        if found is None:
            return None
        try:
            return read(found[0]), found[1]
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return None


def stored_runs(run: Run) -> StoredRuns | None:
    """The stored runs of a program; None without a cache, and with --also, whose further runs are not stored."""
    if run.proofs is None or run.check is None or run.request.also:
        return None
    request = run.request
    project = request.project()
    files = dict(_digests(project))
    named = _named_variables(run.check.sources.values())
    limits = [request.run_for, request.calls, request.budget, request.memory_limit, run.fails]
    entry = run.proofs.entry(
        "program",
        [request.kind, request.target, request.arguments, request.python, os.getcwd(), str(project)],
        sorted(files.items()),
        {os.path.realpath(path): _digest(one.text) for path, one in run.check.sources.items()},
        {name: value for name, value in os.environ.items() if name in named or name.startswith(_FOR_ALL)},
        run.packages,
        run.document.device,
        run.proofs.machine(),
        limits,
    )
    return StoredRuns(entry)


def version_name(sources: Mapping[str, SourceFile]) -> str:
    """A name for these texts of the program's files."""
    return _digest(json.dumps(sorted((path, one.text) for path, one in sources.items())))


def _compared(sources: Mapping[str, SourceFile], briefly: bool) -> str:
    return f"compared{' briefly' if briefly else ''} {version_name(sources)}"


def _digests(project: Path) -> Iterable[tuple[str, str]]:
    """The identity of each file in a scratch copy."""
    for relative, size in copied_files(project):
        path = project / relative
        try:
            if size > _LARGE:
                found = f"{size} bytes, {path.stat().st_mtime_ns}"
            else:
                found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            found = "cannot be read"
        yield str(relative), found


def _named_variables(sources: Iterable[SourceFile]) -> set[str]:
    """Strings in these files that may name an environment variable."""
    return {
        word.decode()
        for source in sources
        for word in _WORDS.findall(source.text.encode("utf-8", "surrogatepass"))
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _plain_trial(trial: Trial) -> dict[str, Any]:
    missed = {path: sorted(places) for path, places in trial.missed.items()}
    return {name: to_plain(getattr(trial, name)) for name in _FIGURES} | {"missed": to_plain(missed)}


def _trial(stored: Mapping[str, Any]) -> Trial:
    if set(stored) != {*_FIGURES, "missed"}:
        raise ValueError("not a run of this version of jaxlint")
    cut = stored["cut"]
    missed = {
        path: frozenset((a, b, c, d) for a, b, c, d in places) for path, places in stored["missed"].items()
    }
    frames = [(path, line) for path, line in stored["frames"]]
    where = None if cut is None else (cut[0], cut[1], cut[2])
    return Trial(**{**stored, "frames": frames, "cut": where, "missed": missed})


def _plain_rewrite(rewrite: Rewrite) -> dict[str, Any]:
    plain = {entry.name: getattr(rewrite, entry.name) for entry in dataclasses.fields(rewrite)}
    plain["fixes"] = [encode_fix(fix) for fix in rewrite.fixes]
    plain["instead"] = None if rewrite.instead is None else _plain_rewrite(rewrite.instead)
    return plain


def _rewrite(stored: Mapping[str, Any]) -> Rewrite:
    fixes: Sequence[Any] = [decode_fix(one) for one in stored["fixes"]]
    if not all(isinstance(fix, FixRequest) for fix in fixes):
        raise ValueError("not an edit of this version of jaxlint")
    instead = stored["instead"]
    return Rewrite(
        **{**stored, "fixes": tuple(fixes), "instead": None if instead is None else _rewrite(instead)}
    )
